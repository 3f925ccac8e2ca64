package ast

// NamedType is a name with optional type arguments: `int`, `void`, `Cook`,
// `Box<int>`, `pkg.Cook`. Primitive types are names too, as in Go: they live in
// the outermost scope.
type NamedType struct {
	Loc
	Pkg  *Name // nil unless written pkg.Name
	Name Name
	Args []Type
}

// VectorType is `vector<T>`, or `T[]` if Suffix is set. Both mean the same.
type VectorType struct {
	Loc
	Elem   Type
	Suffix bool
}

// MapType is `map<K, V>`.
type MapType struct {
	Loc
	Key, Value Type
}

// SetType is `set<T>`.
type SetType struct {
	Loc
	Elem Type
}

// TableType is `table<T>`: rows of the class T by key. The clauses that say which
// columns make the key and the indexes stand behind the field's name.
type TableType struct {
	Loc
	Row Type
}

// OptionalType is `T?`.
type OptionalType struct {
	Loc
	Elem Type
}

// PendingType is `pending<T>`: the result of an event that a client may await.
type PendingType struct {
	Loc
	Elem Type // NamedType "void" for pending<void>
}

// BadType stands for source that is not a type.
type BadType struct{ Loc }

func (*NamedType) typ()    {}
func (*VectorType) typ()   {}
func (*MapType) typ()      {}
func (*SetType) typ()      {}
func (*TableType) typ()    {}
func (*OptionalType) typ() {}
func (*PendingType) typ()  {}
func (*BadType) typ()      {}
