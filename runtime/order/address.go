package order

// Address returns the text by which users name the actor: Class/name or Class:id.
func (h *Handle) Address() string {
	if h.Is(Detached) && h.Host.Attach(h) != nil {
		return h.ID.String() // the process is ending
	}
	switch {
	case h.Shape == nil: // it was deleted in an earlier run
		return h.ID.String()
	case h.Named == nil:
		return h.Shape.Name + ":" + h.ID.String()
	}
	return h.Shape.Name + "/" + h.Named.Name
}
