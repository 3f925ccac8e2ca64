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

// Known returns Address without reading anything: that of an actor that is not in the ownership graph in memory is its id, behind
// the class that it must have, if that is given.
func (h *Handle) Known(class *Shape) string {
	switch {
	case !h.Is(Detached) && h.Shape != nil:
		return h.Address()
	case class != nil:
		return class.Name + ":" + h.ID.String()
	}
	return h.ID.String()
}

// KnownPath is Known with the package of the class before it.
func (h *Handle) KnownPath() string {
	if h.Is(Detached) || h.Shape == nil {
		return h.ID.String()
	}
	return h.Shape.Package + "." + h.Address()
}

// KnownClass returns the name of the class of an actor as far as it is known, "" if it is not. The class is the one that it must
// have, if that is given; h may be nil.
func (h *Handle) KnownClass(class *Shape) string {
	switch {
	case class != nil:
		return class.Name
	case h != nil && !h.Is(Detached) && h.Shape != nil:
		return h.Shape.Name
	}
	return ""
}

// Deleted returns what is told of an actor that was deleted, perhaps before the store was opened, when only its id is left of it. The class is
// the one that it must have had, nil if that is not known.
func (h *Handle) Deleted(class *Shape) string {
	switch {
	case h.Shape != nil:
		return "actor " + h.Label() + " was deleted"
	case class != nil:
		return "actor " + class.Name + " was deleted"
	}
	return "the actor was deleted"
}
