package exec

// Stored returns the number by which ResolveClient finds the object, 0 for null.
func (r ClientRef) Stored() uint64 {
	switch {
	case r.o == nil:
		return 0
	case clientOf(r.o.client).sys == nil: // it has gone
		return r.o.number
	}
	cl := clientOf(r.o.client)
	return cl.sys.objects.Number(r.o, &r.o.number, cl.gone)
}

// goneClient is the client of all objects whose own client has gone.
var goneClient = func() *Client {
	cl := &client{}
	cl.box.Close()
	return &cl.Client
}()

// ResolveClient returns the reference of which Stored has returned number.
func (s *System) ResolveClient(number uint64) ClientRef {
	if number == 0 {
		return ClientRef{}
	}
	return ClientRef{o: s.objects.Resolve(number, func() *ClientObject { return &ClientObject{client: goneClient, number: number} })}
}
