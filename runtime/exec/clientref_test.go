package exec

import "testing"

// A stored reference leads back to its object while the client is there and the process has not
// ended. Afterwards it leads to an object that has gone, always the same.
func TestStoredReferencesToClients(t *testing.T) {
	n := startNode(t, Config{})
	s, cl := n.sys, n.sys.Client()
	var here, other ClientObject
	ref, second := NewClientObject(cl, &here, nil), NewClientObject(cl, &other, nil)
	number := ref.Stored()
	if number == 0 || ref.Stored() != number || second.Stored() == number || (ClientRef{}).Stored() != 0 {
		t.Errorf("numbers %d, %d, %d", number, ref.Stored(), second.Stored())
	}
	if s.ResolveClient(number) != ref || !s.ResolveClient(0).IsNull() {
		t.Error("the number does not lead back to the object")
	}
	cl.Close()
	if gone := s.ResolveClient(number); gone.IsNull() || gone == s.ResolveClient(second.Stored()) {
		t.Error("objects of a client that has gone are null, or the same")
	}
	n.reopen()
	gone := n.sys.ResolveClient(number)
	if gone.IsNull() || gone.Self() != nil || gone != n.sys.ResolveClient(number) || gone.Stored() != number {
		t.Errorf("after a restart the number leads to %v", gone)
	}
	n.sys.Client().Callback(gone, &ClientMethod{}, nil) // is dropped
	if fresh := NewClientObject(n.sys.Client(), &ClientObject{}, nil).Stored(); fresh == number || fresh == second.Stored() {
		t.Error("a number was given twice")
	}
	n.close()
}
