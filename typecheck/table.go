package typecheck

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Table is table<T>: the type of a field of an actor class, and of nothing else ([T-TABLE]). Each
// such field has a type of its own, as it has its own key and indexes.
type Table struct {
	Row     *Class // a value class
	Key     *Var   // the field of Row that tells rows apart
	Indexes []*TableIndex

	// broken: an index was reported, so that it is not known which queries have one.
	broken bool
}

// TableIndex is a declared index: rows ascend by its columns, those with equal columns by the key.
type TableIndex struct {
	Columns []*Var // fields of Row
	Decl    *ast.TableClause
}

func (*Table) aType() {}

// String returns the type as it stands before the name of the field.
func (t *Table) String() string { return "table<" + t.Row.name + ">" }

// misplacedTable reports a table that is not the type of a field of an actor class. Its row is a type all the
// same, and uses what it names.
func (c *checker) misplacedTable(fs *fileScope, t *ast.TableType, depth int) Type {
	c.typAt(fs, t.Row, depth+1)
	c.report(diag.New(diag.TableField, t.Span(), "a table is the type of a field of an actorclass, and of nothing else").
		WithHelp("hold what find, range, sorted and values return in a vector of rows"))
	return Invalid
}

// tableField finds the row of a table field, when the members of classes are collected. Its
// columns are found by tables, when all classes have theirs.
func (c *checker) tableField(class *Class, d *ast.FieldDecl, t *ast.TableType, fs *fileScope) Type {
	if class.Kind != ast.ActorClass {
		return c.misplacedTable(fs, t, 1)
	}
	row := c.typAt(fs, t.Row, 2)
	r, ok := row.(*Class)
	switch {
	case row == Invalid:
		return Invalid
	case !ok || r.Kind != ast.ValueClass:
		c.report(diag.New(diag.TableRow, t.Row.Span(), "the rows of a table are objects of a class, not %s", row).
			WithHelp("declare a class with a field for each column"))
		return Invalid
	}
	if d.Init != nil {
		c.report(diag.New(diag.TableField, d.Init.Span(), "a table starts empty, and has no initial value").
			WithHelp("insert the first rows in the constructor"))
	}
	table := &Table{Row: r}
	c.info.TypeExprs[t] = table
	return table
}

// tables finds the columns of the keys and indexes of all tables.
func (c *checker) tables() {
	for _, class := range c.pkg.Classes {
		for _, v := range class.Fields {
			d := v.Field()
			if t, ok := v.typ.(*Table); ok {
				if !c.tableClauses(t, d) {
					v.typ = Invalid
				}
				continue
			}
			if _, misplaced := d.Type.(*ast.TableType); len(d.Clauses) > 0 && v.typ != Invalid && !misplaced {
				c.report(diag.New(diag.TableField, d.Clauses[0].Span(), "%s has no key and no index: it is no table, but %s", v.name, aType(v.typ)))
			}
		}
	}
}

// tableClauses reads the clauses of a table field; false if it has no key.
func (c *checker) tableClauses(t *Table, d *ast.FieldDecl) bool {
	var key *ast.TableClause
	bad := false
	for _, clause := range d.Clauses {
		if clause.Index {
			continue
		}
		if key != nil {
			c.report(diag.New(diag.TableKey, clause.Span(), "%s has a key already", d.Name.Text).With(key.Span(), "the first one"))
			continue
		}
		key = clause
		columns, ok := c.columns(t, clause)
		switch {
		case !ok:
			bad = true
		case len(columns) > 1:
			c.report(diag.New(diag.TableKey, clause.Span(), "the key of a table is one field").
				WithHelp("give %s a field that tells its rows apart; an index may have several columns", t.Row.name))
			bad = true
		default:
			t.Key = columns[0]
		}
	}
	if key == nil {
		c.report(c.noKey(t, d))
	}
	for _, clause := range d.Clauses {
		if !clause.Index {
			continue
		}
		if columns, ok := c.columns(t, clause); ok {
			c.addIndex(t, &TableIndex{Columns: columns, Decl: clause})
		} else {
			t.broken = true
		}
	}
	return key != nil && !bad
}

// noKey is the error for a table without a key.
func (c *checker) noKey(t *Table, d *ast.FieldDecl) diag.Diagnostic {
	e := diag.New(diag.TableKey, d.Name.Span(), "%s needs a key: the field of %s that tells its rows apart", d.Name.Text, t.Row.name)
	for _, f := range t.Row.Fields {
		if IsKey(f.typ) && f.typ != Invalid {
			return e.WithFix("make "+f.name+" the key", diag.InsertAfter(d.Name.Span(), " key("+f.name+")"))
		}
	}
	return e.WithHelp("a key is an integer, bool, string, bytes, enum, time, duration or actor")
}

// addIndex adds an index that there is not yet.
func (c *checker) addIndex(t *Table, index *TableIndex) {
	if t.Key != nil && len(index.Columns) == 1 && index.Columns[0] == t.Key {
		c.report(diag.New(diag.TableColumn, index.Decl.Span(), "%s is the key: rows are found by it without an index", t.Key.name))
		return
	}
	for _, other := range t.Indexes {
		if slices.Equal(other.Columns, index.Columns) {
			c.report(diag.New(diag.TableColumn, index.Decl.Span(), "there is an index on %s already", columnNames(index.Columns)).
				With(other.Decl.Span(), "the first one"))
			return
		}
	}
	t.Indexes = append(t.Indexes, index)
}

// columns returns the fields that a clause names; false if something is wrong with them.
func (c *checker) columns(t *Table, clause *ast.TableClause) ([]*Var, bool) {
	var list []*Var
	ok := true
	for _, name := range clause.Columns {
		v := c.column(diag.TableColumn, t.Row, name)
		switch {
		case v == nil:
			ok = false
		case slices.Contains(list, v):
			c.errorAt(diag.TableColumn, name.Span(), "%s is a column of this index already", name.Text)
			ok = false
		case !IsKey(v.typ):
			c.report(diag.New(diag.TableColumn, name.Span(), "%s cannot be a column of a key or an index: it is %s", name.Text, aType(v.typ)).
				With(v.span, "declared here").
				WithHelp("columns are integers, bool, string, bytes, enums, time, duration or actors"))
			ok = false
		case v.typ == Invalid:
			ok = false
		default:
			list = append(list, v)
		}
	}
	return list, ok
}

// column finds a field of rows, or reports that it is missing and returns nil.
func (c *checker) column(missing diag.Code, row *Class, name ast.Name) *Var {
	v, ok := row.members[name.Text].(*Var)
	switch {
	case !ok:
		d := c.errorAt(missing, name.Span(), "%s has no field %s", row.name, name.Text)
		c.didYouMean(d, name.Span(), c.similar(name.Text, func(yield func(string)) {
			for _, f := range row.Fields {
				yield(f.name)
			}
		}))
		return nil
	case row.Pkg != c.pkg && !exported(name.Text):
		c.errorAt(diag.NotExported, name.Span(), "%s.%s is not exported by package %s: only names that start with a capital letter are", row.name, name.Text, row.Pkg.Name)
		return nil
	}
	return v
}

func columnNames(columns []*Var) string {
	names := make([]string, len(columns))
	for i, v := range columns {
		names[i] = v.name
	}
	return strings.Join(names, ", ")
}

// receiver is value for an expression that may be a table: the receiver of a method, what is
// indexed, what a loop goes over.
func (b *body) receiver(x ast.Expr) operand {
	b.tableAt = ast.Unparen(x)
	return b.value(x, nil)
}

// tableUse reports a table that stands where a value is wanted, and reports whether it does.
func (b *body) tableUse(x ast.Expr, v *Var) bool {
	if _, ok := v.typ.(*Table); !ok || b.tableAt == x {
		return false
	}
	b.report(diag.New(diag.TableValue, x.Span(), "the table %s is no value: it cannot be copied, compared, passed or returned", v.name).
		With(v.span, "declared here").
		WithHelp("`%s.values()` is a vector of its rows; `for (%s row : %s) { … }` reads them one by one", v.name, v.typ.(*Table).Row.name, v.name))
	return true
}

// tableStore reports a write that would change the key of a row.
func (b *body) tableStore(at ast.Node, s *Store) {
	if s.Root == nil {
		return
	}
	t, ok := s.Root.typ.(*Table)
	if !ok || len(s.Steps) == 0 {
		return
	}
	if a, whole := at.(*ast.Assign); whole && len(s.Steps) == 1 {
		b.report(diag.New(diag.TableKeyWritten, a.LHS.Span(), "a row is not assigned: its key is in it").
			WithHelp("`%s.put(row);` replaces the row with its key, or adds it", s.Root.name))
		return
	}
	if len(s.Steps) > 1 && s.Steps[1].Kind == FieldStep && s.Steps[1].Field == t.Key {
		b.report(diag.New(diag.TableKeyWritten, s.Steps[1].Expr.Span(), "%s is the key of the row, which never changes", t.Key.name).
			With(s.Root.span, "declared here").
			WithHelp("remove the row, and insert one with the other key"))
	}
}
