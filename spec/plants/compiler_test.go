package plants

// ofCompiler are bugs of the checker and of what generates code.
var ofCompiler = []plant{
	bug("swapped operands", "codegen/operator.go",
		`return fresh(t, checked[op]+"("+a.code+", "+b.code+")")`,
		`return fresh(t, checked[op]+"("+b.code+", "+a.code+")")`),
	bug("what is converted is read late", "codegen/expr.go", // after calls to its right
		"\tfor _, o := range of {\n\t\tv.loads |= o.loads\n\t}\n",
		"\t_ = of\n",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a time is added from the right", "codegen/operator.go", // to a duration
		`f.typed(a)+".After("+b.code+")"`,
		`b.code+".Add("+f.typed(a)+")"`,
		"./spec/golden -run TestGoldenPrograms"),
	bug("a box changes with the map that it is from", "runtime/value/opt.go",
		"\tMarkShared(&v) // where v comes from, it may be written\n",
		"",
		"./spec/golden -run TestGoldenPrograms"),
	bug("the stack ends before a value", "codegen/valueclass.go", // that nests deeper
		`w.add("if walk.Deep() {\nreturn`,
		`w.add("if false {\nreturn`,
		"./codegen -run TestDeepValues"),
	bug("what lies deep counts as equal", "runtime/value/nesting.go",
		"return l.visits == nil || rest(l.visits)",
		"return true",
		"./spec/golden -run TestGoldenPrograms -only value-nests"),
	bug("a text nests without end", "runtime/value/nesting.go",
		"n.tooDeep = n.tooDeep || n.depth == textNestingMax",
		"",
		"./spec/golden -run TestGoldenPrograms -only value-nests"),
	bug("a value contains itself", "codegen/assign.go", // as it is read when the way to it has a new box
		" && (v.loads == 0 || !f.holdsBoxes(v.typ))",
		"",
		"./spec/differ -run TestGeneratedPrograms$ -programs 5 -shrink=false", "./spec/golden -run TestGoldenPrograms -only value-written-into-itself"),
	bug("Go computes of constants", "codegen/expr.go", // exactly, and refuses what overflows or stands in a switch twice
		"if !slices.ContainsFunc(of",
		"if false && !slices.ContainsFunc(of",
		"./spec/golden -run TestGoldenPrograms -only rounded-after-each-step"),
	bug("the smallest bytes are read late", "codegen/builtin.go", // after a call to its right that writes them
		"\t\tout.loads |= v.loads",
		"\t\tout.loads = 0",
		"./spec/golden -run TestGoldenPrograms -only seq-smallest-keeps-its-value"),
	bug("a loop goes over what get takes out", "typecheck/mutating.go", // and its body writes
		"return c.follow(x, true)",
		"return c.follow(x, false)",
		"./spec/golden -run TestGoldenPrograms"),
	bug("an element is written beneath its reader", "codegen/expr.go", // by an operand to the right
		"\tif f.shares(t) {\n\t\tout.loads",
		"\tif false {\n\t\tout.loads",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a fix binds to a part", "typecheck/suggest.go", // of what it is for
		"\tif isLoose(x) {\n\t\treturn []diag.Edit",
		"\tif false {\n\t\treturn []diag.Edit",
		"./typecheck -run TestFixesOfGoldens"),
	bug("callbacks run beside a constructor", "typecheck/flow_expr.go", // on the same fields
		"if w.fn.Class.Kind == ast.ClientClass {",
		"if false {",
		"./typecheck -run TestGoldens$", "./spec/golden -run TestGoldenPrograms -only bad-init-this-client"),
	bug("ro hole", "typecheck/readonly.go",
		"if site.from.offence == nil {",
		"if false {"),
	bug("yield leak", "typecheck/yield.go",
		"(info.Library == PushMethod || info.Library == InsertMethod || info.Library == PutMethod)",
		"info.Library == InsertMethod"),
	bug("a value deletes what it only yields", "typecheck/context.go", // and its event does not hold that
		"if len(bf.deletes) > 0 {",
		"if false {",
		"./typecheck -run TestGoldens$"),
	bug("footprint too small", "typecheck/effects_describe.go",
		"for k, mode := range all {\n",
		"for k, mode := range all {\n\t\tif k.path.elem == ElemAt {\n\t\t\tmode = Read\n\t\t}\n"),
	bug("a value forgets what it was given", "typecheck/effects_expr.go", // and calls it by way of `this`
		"return loosen(here, t).union(w.inThis)",
		"return loosen(here, t)",
		"./typecheck -run TestGoldens$", "./spec/golden -run TestGoldenPrograms"),
	bug("what comes from far does not arrive", "typecheck/effects_expr.go", // in a local, after more rounds than are made
		"\t\tif w.anything {\n",
		"\t\tif false {\n",
		"./typecheck -run TestReferencesHandedOnFar"),
	bug("each level of a type takes twice the time", "codegen/gotype.go", // as Go writes an alias with what it stands for
		`return "aeonval.Vector[" + `,
		`return "aeonrt.Vector[" + `,
		"./codegen -run TestDeepContainers"),
	bug("a loop forgets by the name", "typecheck/narrow.go", // also what a local of its body hides
		"hide := func(name ast.Name) { b.scope.declare(&Var{name: name.Text}) }",
		"hide := func(ast.Name) {}",
		"./typecheck -run TestGoldens$"),
	bug("a loop keeps what its else branch makes null", "typecheck/narrow.go", // where the head declares the name
		"\t\t\t\tb.scope.close()\n\t\t\t\tb.forgetAssigned(n.Else)\n",
		"\t\t\t\tb.forgetAssigned(n.Else)\n\t\t\t\tb.scope.close()\n",
		"./typecheck -run TestGoldens$"),
	bug("what writes a field is told to read it", "typecheck/name.go", // of another actor
		"} else if b.writesThrough(x) {",
		"} else if false {",
		"./typecheck -run TestGoldens$"),
	bug("a bare value is of this package alone", "typecheck/name.go", // whatever the context wants
		"if e, ok := nonNull(want).(*Enum); ok {",
		"if e, ok := nonNull(want).(*Enum); ok && e.Pkg == b.pkg {",
		"./typecheck -run TestGoldens$"),
	bug("a bare value on the left has no context", "typecheck/operator.go", // of a comparison
		"if first.Op.IsComparison() && b.isBareValue(left) && !b.isBareValue(first.Y) {",
		"if false {",
		"./typecheck -run TestGoldens$"),
	bug("a limit is read before the table", "codegen/rowquery.go", // and may have written it
		"if q.limit != nil && f.writes(q.limit)&fields != 0 {",
		"if false {"),
	bug("an index is evaluated twice", "codegen/store.go", // of a path before `?.`
		"recv := f.read(place{root: p.root, steps: p.steps[:last], index: p.index[:last]})",
		"_ = last\n\trecv := f.expr(c.Recv)",
		"./codegen -run TestPrograms$"),
	bug("NaN equals itself", "codegen/gotype.go", // in containers that share memory
		"return t == typecheck.Float, t == typecheck.Float",
		"return false, false",
		"./codegen -run TestPrograms$"),
	bug("timer of a helper", "typecheck/effects_call.go",
		"\tif s.issuer {\n",
		"\tif false {\n"),
	bug("the name of a timer is evaluated first", "codegen/call.go", // before the arguments of its call
		`"cx.EmitAfter("+target+", "+goDuration(timer[0])+", "+name+")"`,
		`"cx.EmitAfter("+target+", "+goDuration(timer[0])+", "+f.spill(val{code: name, typ: typecheck.String}).code+")"`,
		"./spec/golden -run TestGoldenPrograms"),
	bug("a timer is named by an empty string", "runtime/activation/op.go", // and so is one that none names
		"\tif name == \"\" {\n",
		"\tif false {\n",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a loop counts beyond its type", "codegen/loop.go", // from what its body has assigned
		"if v.Assigned {",
		"if false {",
		"./spec/golden -run TestGoldenPrograms"),
	bug("Go writes into an actor", "runtime/value/gocall.go", // it gets the bytes themselves
		"return append([]byte{}, b.Data()...)",
		"return b.Data()",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a helper of a helper for clients sets timers", "typecheck/context.go", // and they are lost
		"meet := far(f) < math.MaxInt",
		"meet := far(f) == 0",
		"./typecheck -run TestGoldens$"),
	bug("a panic in Go is not its own", "runtime/gocall.go",
		"if p := recover(); p != nil {",
		"if p := any(nil); p != nil {",
		"./spec/golden -run TestGoldenPrograms"),
	bug("an error of Go is lost", "codegen/externgo.go",
		"\t\tw.add(\"aeonrt.GoError(%s)\", err)\n",
		"\t\tw.add(\"_ = %s\", err)\n",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a field of a Go struct is lost", "typecheck/gotype.go", // no class can have it
		"if !f.Exported() || f.Embedded() {",
		"if f.Embedded() {",
		"./typecheck -run TestGoldens$"),
	bug("Go makes up a constant", "codegen/govalue.go",
		`w.add("return aeonrt.NoConstant[%s](%s, %s(v))", name, quote(e.Name()), as)`,
		`w.add("return %s(len(%q))", name, as)`,
		"./spec/golden -run TestGoldenPrograms"),
	bug("a text that is none passes", "runtime/value/gocall.go", // as the zero value of the Go type
		"UnmarshalText([]byte(text)); err != nil {",
		"UnmarshalText([]byte(text)); err != nil && v == nil {",
		"./spec/golden -run TestGoldenPrograms"),
	bug("an entry is lost on the way to Go", "runtime/value/gocall.go", // as its key is the Go value of another one
		"if int64(len(out)) != m.Size() {",
		"if false {",
		"./runtime/value -run TestKeysAreOneInGo"),
	bug("an entry is lost on the way to Go, interpreted", "internal/gocall/serve/serve.go",
		"if to.Len() != len(parts) {",
		"if false {",
		"./spec -run TestKeysAreOneInGo"),
	bug("nil of Go is a value", "runtime/value/gocall.go",
		"\tif v == *new(T) {\n\t\tFail(",
		"\tif false {\n\t\tFail(",
		"./spec/golden -run TestGoldenPrograms"),
	bug("a vector holds what Go alone knows", "typecheck/typexpr.go",
		"return c.noOpaque(c.elem(fs, t, depth), t, \"a container cannot hold this\")",
		"return c.elem(fs, t, depth)",
		"./typecheck -run TestGoldens$"),
	bug("what Go keeps has one name", "internal/gocall/serve/serve.go", // for each function, whatever it was given
		"sha256.Sum256(must(json.Marshal(req)))",
		"sha256.Sum256([]byte(req.Func))",
		"./spec -run TestGoKeepsItsValues"),
	bug("a vector of an enum is bytes", "internal/gocall/serve/serve.go", // where a constant is a byte in Go
		"t.Elem() == reflect.TypeFor[uint8]()",
		"t.Elem().Kind() == reflect.Uint8",
		"./spec -run TestValuesPassToGoAndBack"),
	bug("an effect gets what Go alone knows", "typecheck/externgo.go", // and the store cannot keep the call
		"if f.Go.Effect && IsOpaque(t) {",
		"if false {",
		"./typecheck -run TestGoldens$"),
	bug("a body gets another object", "typecheck/externgo.go", // whose type is not compared
		"sig.Params().Len() != len(params)+1 || !GoTypeOf(f.Class, sig.Params().At(0).Type())) {",
		"sig.Params().Len() != len(params)+1) {",
		"./typecheck -run TestGoldens$"),
	bug("a snapshot reads the world by a method", "typecheck/snapshot.go", // whose body is written in Go
		"case SelfCall, ValueCall, FuncCall:",
		"case SelfCall, FuncCall:",
		"./typecheck -run TestGoldens$"),
	bug("a snapshot reads the world", "typecheck/snapshot.go",
		"g != nil && !g.Pure",
		"g != nil && false",
		"./typecheck -run TestGoldens$"),
	bug("a search sees two moments", "internal/gocall/gocall.go",
		"c.mu.replies[string(req)] = reply",
		"_ = reply",
		"./internal/gocall -run TestEqualCalls"),
}
