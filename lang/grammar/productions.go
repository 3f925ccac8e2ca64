package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
)

// The types below are the places in productions that hand-written functions
// read. Participle chooses the function by the Go type of the field, so each
// has its own interface type.
type (
	nameNode       interface{ ast.Node } // a declared name: *ast.Name
	typeParamsNode interface{ ast.Node } // `<T, U>`: *typeParams
	paramsNode     interface{ ast.Node } // `(params)`: *params
	bodyNode       interface{ ast.Node } // `{ … }` or `= go;`: *body
	blockNode      interface{ ast.Stmt } // `{ … }` of a function: *ast.Block
	branchNode     interface{ ast.Stmt } // `{ … }` of a control statement: *ast.Block
	openNode       interface{ ast.Node } // `{`
	closeNode      interface{ ast.Node } // `}`
	semiNode       interface{ ast.Node } // `;`
	condNode       interface{ ast.Expr } // an expression that is no assignment
	headNode       interface{ ast.Expr } // `(cond)` of while, switch and match
	ifHeadNode     interface{ ast.Node } // `(cond)` or `(T v = e)`: *ifHead
	forHeadNode    interface{ ast.Stmt } // `(…)` of for: a loop without body
	elseNode       interface{ ast.Stmt } // `else …`: *ast.If or *ast.Block
	caseNode       interface{ ast.Node } // one case of a switch
	matchCaseNode  interface{ ast.Node } // one case of a match
	enumValueNode  interface{ ast.Node } // one value of an enum
	externNode     interface{ ast.Node } // one type, function or method of an extern block
	membersNode    interface{ ast.Node } // the members of a class: *members
	plainString    interface{ ast.Expr } // a string without interpolation: *ast.StringLit
	fieldInit      interface{ ast.Expr } // `= e`
	clauseNode     interface{ ast.Node } // `key(a)` or `index(a, b)`: *ast.TableClause
	marker         struct{ ast.Loc }     // a token that only has a place
	members        struct {
		ast.Loc
		list []ast.Member
	}
	typeParams struct {
		ast.Loc
		list []*ast.TypeParam
	}
	params struct {
		ast.Loc
		list []*ast.Param
	}
	body struct {
		ast.Loc
		block  *ast.Block
		goBody bool
	}
	ifHead struct {
		ast.Loc
		decl *ast.VarDecl
		cond ast.Expr
	}
)

// The productions. Each struct is one rule of the grammar: the tags read in
// order are its right-hand side. Where a field is an interface, a dispatcher
// with that result reads it. The comment names what it reads of
// spec/grammar.md.
type (
	importProd struct { // ImportDecl
		Alias nameNode    `parser:"'import' @@?"`
		Path  plainString `parser:"@@"`
	}
	packageProd struct { // PackageClause
		Name nameNode `parser:"'package' @@"`
	}

	classProd struct { // ClassDecl
		Name    nameNode       `parser:"( 'actorclass' | 'client' 'class' | 'class' ) @@"`
		Params  typeParamsNode `parser:"@@?"`
		Open    openNode       `parser:"@@"`
		Members membersNode    `parser:"@@"`
		Close   closeNode      `parser:"@@"`
	}
	enumProd struct { // EnumDecl
		Name   nameNode        `parser:"'enum' @@"`
		Open   openNode        `parser:"@@"`
		Values []enumValueNode `parser:"@@*"`
		Close  closeNode       `parser:"@@"`
	}
	enumValueProd struct { // EnumValue
		Name    nameNode   `parser:"@@"`
		Payload paramsNode `parser:"@@?"`
	}
	constProd struct { // ConstDecl; with a type
		Type  ast.Type `parser:"'const' @@"`
		Name  nameNode `parser:"@@"`
		Value ast.Expr `parser:"'=' @@"`
		Semi  semiNode `parser:"@@"`
	}
	untypedConstProd struct { // ConstDecl; without a type
		Name  nameNode `parser:"'const' @@"`
		Value ast.Expr `parser:"'=' @@"`
		Semi  semiNode `parser:"@@"`
	}
	testProd struct { // TestDecl
		Name plainString `parser:"'test' @@"`
		Body blockNode   `parser:"@@"`
	}
	externProd struct { // ExternGoDecl
		Path  plainString  `parser:"'extern' 'go' @@"`
		Open  openNode     `parser:"@@"`
		Items []externNode `parser:"@@*"`
		Close closeNode    `parser:"@@"`
	}
	externTypeProd struct { // ExternType
		Name nameNode `parser:"'type' @@"`
		Semi semiNode `parser:"@@"`
	}
	externFuncProd struct { // ExternFunc; the modifiers have been read
		Result ast.Type     `parser:"@@"`
		Name   nameNode     `parser:"@@"`
		Sub    nameNode     `parser:"( '.' @@ )?"`
		Params paramsNode   `parser:"@@"`
		Error  *lexer.Token `parser:"@'error'?"`
		Semi   semiNode     `parser:"@@"`
	}
	funcProd struct { // FuncDecl, MethodDecl; the modifiers have been read
		Result     ast.Type       `parser:"@@"`
		Name       nameNode       `parser:"@@"`
		TypeParams typeParamsNode `parser:"@@?"`
		Params     paramsNode     `parser:"@@"`
		Body       bodyNode       `parser:"@@"`
	}
	fieldProd struct { // FieldDecl; the modifiers have been read
		Type    ast.Type     `parser:"@@"`
		Name    nameNode     `parser:"@@"`
		Clauses []clauseNode `parser:"@@*"`
		Init    fieldInit    `parser:"@@?"`
		Semi    semiNode     `parser:"@@"`
	}
	clauseProd struct { // TableClause
		First nameNode   `parser:"( 'key' | 'index' ) '(' @@"`
		Rest  []nameNode `parser:"( ',' @@ )* ')'"`
	}
	ctorProd struct { // CtorDecl
		Name   nameNode   `parser:"@@"`
		Params paramsNode `parser:"@@"`
		Body   blockNode  `parser:"@@"`
	}
	snapshotProd struct { // SnapshotDecl
		Body blockNode `parser:"'snapshot' @@"`
	}
	typeParamsProd struct { // TypeParams
		First nameNode   `parser:"'<' @@"`
		Rest  []nameNode `parser:"( ',' @@ )* '>'"`
	}

	vectorProd struct { // VectorType; with type arguments
		Elem ast.Type `parser:"'vector' '<' @@ '>'"`
	}
	setProd struct { // SetType
		Elem ast.Type `parser:"'set' '<' @@ '>'"`
	}
	tableProd struct { // TableType
		Row ast.Type `parser:"'table' '<' @@ '>'"`
	}
	pendingProd struct { // PendingType
		Elem ast.Type `parser:"'pending' '<' @@ '>'"`
	}
	mapProd struct { // MapType
		Key   ast.Type `parser:"'map' '<' @@"`
		Value ast.Type `parser:"',' @@ '>'"`
	}
	namedProd struct { // NamedType
		Name nameNode   `parser:"@@"`
		Sub  nameNode   `parser:"( '.' @@ )?"`
		Args []ast.Type `parser:"( '<' @@ ( ',' @@ )* '>' )?"`
	}
)

type (
	varProd struct { // LocalDecl; with var
		Name nameNode `parser:"'var' @@"`
		Init ast.Expr `parser:"'=' @@"`
		Semi semiNode `parser:"@@"`
	}
	typedVarProd struct { // LocalDecl; with a type
		Type ast.Type  `parser:"@@"`
		Name nameNode  `parser:"@@"`
		Init fieldInit `parser:"@@?"`
		Semi semiNode  `parser:"@@"`
	}
	ifProd struct { // If
		Head ifHeadNode `parser:"'if' @@"`
		Then branchNode `parser:"@@"`
		Else elseNode   `parser:"@@?"`
	}
	whileProd struct { // While
		Cond headNode   `parser:"'while' @@"`
		Body branchNode `parser:"@@"`
	}
	forProd struct { // For, ForUpto, ForEach
		Head forHeadNode `parser:"'for' @@"`
		Body branchNode  `parser:"@@"`
	}
	switchProd struct { // Switch
		X     headNode   `parser:"'switch' @@"`
		Open  openNode   `parser:"@@"`
		Cases []caseNode `parser:"@@*"`
		Close closeNode  `parser:"@@"`
	}
	matchProd struct { // Match
		X     headNode        `parser:"'match' @@"`
		Open  openNode        `parser:"@@"`
		Cases []matchCaseNode `parser:"@@*"`
		Close closeNode       `parser:"@@"`
	}
	patternProd struct { // Pattern
		Name nameNode   `parser:"@@"`
		Sub  nameNode   `parser:"( '.' @@ )?"`
		Open bool       `parser:"( @'('"`
		Bind []nameNode `parser:"( @@ ( ',' @@ )* )? ')' )?"`
	}
	returnProd struct { // Return
		X    ast.Expr `parser:"'return' @@?"`
		Semi semiNode `parser:"@@"`
	}
	jumpProd struct { // Break, Continue
		Semi semiNode `parser:"( 'break' | 'continue' ) @@"`
	}
	requireProd struct { // Require
		Cond condNode `parser:"'require' '(' @@"`
		Msg  ast.Expr `parser:"',' @@ ')'"`
		Semi semiNode `parser:"@@"`
	}
	assertProd struct { // Assert
		Cond condNode `parser:"'assert' '(' @@"`
		Msg  ast.Expr `parser:"( ',' @@ )? ')'"`
		Semi semiNode `parser:"@@"`
	}
	operandProd struct { // Abort, Delete, Cancel
		X    ast.Expr `parser:"( 'abort' | 'delete' | 'cancel' ) @@"`
		Semi semiNode `parser:"@@"`
	}
	durationProd struct { // Sleep, Advance
		D    ast.Expr `parser:"( 'sleep' | 'advance' ) '(' @@ ')'"`
		Semi semiNode `parser:"@@"`
	}
	settleProd struct { // Settle
		Semi semiNode `parser:"'settle' '(' ')' @@"`
	}
	tryProd struct { // TryCatch
		Body  branchNode `parser:"'try' @@"`
		Type  ast.Type   `parser:"'catch' '(' @@"`
		Name  nameNode   `parser:"@@ ')'"`
		Catch branchNode `parser:"@@"`
	}
)

// productions holds one participle parser per production that a dispatcher starts.
type productions struct {
	importDecl   *participle.Parser[importProd]
	packageDecl  *participle.Parser[packageProd]
	class        *participle.Parser[classProd]
	enum         *participle.Parser[enumProd]
	enumValue    *participle.Parser[enumValueProd]
	constant     *participle.Parser[constProd]
	untypedConst *participle.Parser[untypedConstProd]
	test         *participle.Parser[testProd]
	extern       *participle.Parser[externProd]
	externType   *participle.Parser[externTypeProd]
	externFunc   *participle.Parser[externFuncProd]
	function     *participle.Parser[funcProd]
	field        *participle.Parser[fieldProd]
	clause       *participle.Parser[clauseProd]
	ctor         *participle.Parser[ctorProd]
	snapshot     *participle.Parser[snapshotProd]
	typeParams   *participle.Parser[typeParamsProd]
	vector       *participle.Parser[vectorProd]
	set          *participle.Parser[setProd]
	table        *participle.Parser[tableProd]
	pending      *participle.Parser[pendingProd]
	mapType      *participle.Parser[mapProd]
	named        *participle.Parser[namedProd]
	varDecl      *participle.Parser[varProd]
	typedVar     *participle.Parser[typedVarProd]
	ifStmt       *participle.Parser[ifProd]
	while        *participle.Parser[whileProd]
	forStmt      *participle.Parser[forProd]
	switchStmt   *participle.Parser[switchProd]
	match        *participle.Parser[matchProd]
	pattern      *participle.Parser[patternProd]
	returnStmt   *participle.Parser[returnProd]
	jump         *participle.Parser[jumpProd]
	require      *participle.Parser[requireProd]
	assert       *participle.Parser[assertProd]
	operand      *participle.Parser[operandProd]
	duration     *participle.Parser[durationProd]
	settle       *participle.Parser[settleProd]
	try          *participle.Parser[tryProd]
}

// build makes the productions and binds them to p: dispatchers need the file's
// state, and participle passes them nothing but the tokens.
func (p *parser) build() productions {
	o := []participle.Option{
		participle.Lexer(definition{}), participle.UseLookahead(0),
		participle.ParseTypeWith(p.parseMembers),
		participle.ParseTypeWith(p.parseType), participle.ParseTypeWith(p.parseExpr),
		participle.ParseTypeWith(p.parseName), participle.ParseTypeWith(p.parseTypeParams),
		participle.ParseTypeWith(p.parseParams),
		participle.ParseTypeWith(p.parseBody), participle.ParseTypeWith(p.parseBlock),
		participle.ParseTypeWith(p.parseBranch), participle.ParseTypeWith(p.parseOpen),
		participle.ParseTypeWith(p.parseClose), participle.ParseTypeWith(p.parseSemi),
		participle.ParseTypeWith(p.parseCond), participle.ParseTypeWith(p.parseHead),
		participle.ParseTypeWith(p.parseIfHead), participle.ParseTypeWith(p.parseForHead),
		participle.ParseTypeWith(p.parseElse), participle.ParseTypeWith(p.parseCase),
		participle.ParseTypeWith(p.parseMatchCase), participle.ParseTypeWith(p.parseEnumValue),
		participle.ParseTypeWith(p.parseExternItem), participle.ParseTypeWith(p.parsePlainString),
		participle.ParseTypeWith(p.parseFieldInit), participle.ParseTypeWith(p.parseTableClause),
	}
	return productions{
		importDecl: participle.MustBuild[importProd](o...), packageDecl: participle.MustBuild[packageProd](o...),
		class: participle.MustBuild[classProd](o...), enum: participle.MustBuild[enumProd](o...),
		enumValue: participle.MustBuild[enumValueProd](o...), constant: participle.MustBuild[constProd](o...),
		untypedConst: participle.MustBuild[untypedConstProd](o...), test: participle.MustBuild[testProd](o...),
		extern: participle.MustBuild[externProd](o...), externType: participle.MustBuild[externTypeProd](o...), externFunc: participle.MustBuild[externFuncProd](o...),
		function: participle.MustBuild[funcProd](o...), field: participle.MustBuild[fieldProd](o...), clause: participle.MustBuild[clauseProd](o...),
		ctor: participle.MustBuild[ctorProd](o...), snapshot: participle.MustBuild[snapshotProd](o...), typeParams: participle.MustBuild[typeParamsProd](o...),

		vector: participle.MustBuild[vectorProd](o...), set: participle.MustBuild[setProd](o...), table: participle.MustBuild[tableProd](o...),
		pending: participle.MustBuild[pendingProd](o...), mapType: participle.MustBuild[mapProd](o...),
		named:   participle.MustBuild[namedProd](o...),
		varDecl: participle.MustBuild[varProd](o...), typedVar: participle.MustBuild[typedVarProd](o...),
		ifStmt: participle.MustBuild[ifProd](o...), while: participle.MustBuild[whileProd](o...),
		forStmt: participle.MustBuild[forProd](o...), switchStmt: participle.MustBuild[switchProd](o...),
		match: participle.MustBuild[matchProd](o...), pattern: participle.MustBuild[patternProd](o...),
		returnStmt: participle.MustBuild[returnProd](o...), jump: participle.MustBuild[jumpProd](o...),
		require: participle.MustBuild[requireProd](o...), assert: participle.MustBuild[assertProd](o...),
		operand: participle.MustBuild[operandProd](o...), duration: participle.MustBuild[durationProd](o...),
		settle: participle.MustBuild[settleProd](o...), try: participle.MustBuild[tryProd](o...),
	}
}

var allowTrailing = participle.AllowTrailing(true)

// run reads one production and leaves p.cur behind it, or where it failed.
func run[G any](p *parser, prod *participle.Parser[G], lex *lexer.PeekingLexer) (*G, error) {
	g, err := prod.ParseFromLexer(lex, allowTrailing)
	p.enter(lex)
	if p.gaveUp != nil {
		p.leave(lex)
		return nil, p.gaveUp
	}
	if err != nil {
		return nil, p.convert(err)
	}
	return g, nil
}
