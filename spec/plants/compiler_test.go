package plants

// ofCompiler are bugs of the checker and of what generates code.
var ofCompiler = []plant{
	bug("swapped operands", "codegen/operator.go",
		`return fresh(t, checked[op]+"("+a.code+", "+b.code+")")`,
		`return fresh(t, checked[op]+"("+b.code+", "+a.code+")")`),
	bug("ro hole", "typecheck/readonly.go",
		"if site.from.offence == nil {",
		"if false {"),
	bug("yield leak", "typecheck/yield.go",
		"(info.Library == PushMethod || info.Library == InsertMethod || info.Library == PutMethod)",
		"info.Library == InsertMethod"),
	bug("footprint too small", "typecheck/effects_describe.go",
		"for k, mode := range all {\n",
		"for k, mode := range all {\n\t\tif k.path.elem == ElemAt {\n\t\t\tmode = Read\n\t\t}\n"),
	bug("a limit is read before the table", "codegen/rowquery.go", // and may have written it
		"if q.limit != nil && f.writes(q.limit)&fields != 0 {",
		"if false {"),
	bug("timer of a helper", "typecheck/effects_call.go",
		"\tif s.issuer {\n",
		"\tif false {\n"),
}
