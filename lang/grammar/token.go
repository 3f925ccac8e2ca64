// Package grammar turns .aeon text into the tree of lang/ast.
//
// One hand-written scanner makes the token table, comments included. The
// declarations, members, types and statements are participle productions that
// never look ahead; the choice between them is made by dispatchers that switch
// on the token. Expressions are read by a Pratt parser. It is the only package
// that imports participle. What is accepted is written down in spec/grammar.md.
package grammar

import "github.com/aeon-lang/aeon/lang/ast"

// Kind is the kind of a token: one per keyword, operator and class of literal.
type Kind uint8

// The kinds of token.
const (
	EOF     Kind = iota
	Comment      // one // or /* */ comment
	Ident
	Int
	Char
	Float
	Duration
	String    // "…" without interpolation
	RawString // `…`
	StrHead   // "…{
	StrMid    // }…{
	StrTail   // }…"

	punctFirst
	LParen
	RParen
	LBrack
	RBrack
	LBrace
	RBrace
	Comma
	Semi
	Colon
	Dot
	QuestDot
	Quest
	QuestQuest
	Not
	Assign
	PlusPlus
	MinusMinus
	Plus
	Minus
	Star
	Slash
	Percent
	Amp
	Pipe
	Caret
	AndNot
	Shl
	EqEq
	NotEq
	Less
	LessEq
	Greater // >> is two of these that touch, so that type arguments nest
	GreaterEq
	AndAnd
	OrOr
	PlusEq
	MinusEq
	StarEq
	SlashEq
	PercentEq
	AmpEq
	PipeEq
	CaretEq
	AndNotEq
	ShlEq
	punctLast

	keywordFirst
	Abort
	Actor
	Actorclass
	Advance
	Assert
	Async
	Await
	Break
	Cancel
	Case
	Catch
	Class
	Const
	Continue
	Default
	Delete
	Else
	Enum
	Event
	Extern
	False
	For
	If
	Import
	Match
	New
	Null
	Package
	Pending
	Require
	Return
	Ro
	Settle
	Sleep
	Switch
	This
	True
	Try
	Upto
	Var
	Void
	While
	Yield
	keywordLast

	contextualFirst
	After
	As
	Client
	Every
	Go
	Internal
	Log
	Map
	Pure
	Retry
	Set
	Table
	Tail
	Test
	Then
	Time
	Vector
	contextualLast
)

var kindText = [...]string{
	EOF: "EOF", Comment: "Comment", Ident: "Ident", Int: "Int", Char: "Char", Float: "Float", Duration: "Duration",
	String: "String", RawString: "RawString", StrHead: "StrHead", StrMid: "StrMid", StrTail: "StrTail",

	LParen: "(", RParen: ")", LBrack: "[", RBrack: "]", LBrace: "{", RBrace: "}", Comma: ",", Semi: ";", Colon: ":",
	Dot: ".", QuestDot: "?.", Quest: "?", QuestQuest: "??", Not: "!", Assign: "=", PlusPlus: "++", MinusMinus: "--",
	Plus: "+", Minus: "-", Star: "*", Slash: "/", Percent: "%", Amp: "&", Pipe: "|", Caret: "^", AndNot: "&^",
	Shl: "<<", EqEq: "==", NotEq: "!=", Less: "<", LessEq: "<=", Greater: ">", GreaterEq: ">=", AndAnd: "&&", OrOr: "||",
	PlusEq: "+=", MinusEq: "-=", StarEq: "*=", SlashEq: "/=", PercentEq: "%=", AmpEq: "&=", PipeEq: "|=", CaretEq: "^=",
	AndNotEq: "&^=", ShlEq: "<<=",

	Abort: "abort", Actor: "actor", Actorclass: "actorclass", Advance: "advance", Assert: "assert", Async: "async",
	Await: "await", Break: "break", Cancel: "cancel", Case: "case", Catch: "catch", Class: "class", Const: "const",
	Continue: "continue", Default: "default", Delete: "delete", Else: "else", Enum: "enum", Event: "event",
	Extern: "extern", False: "false", For: "for", If: "if", Import: "import", Match: "match", New: "new", Null: "null",
	Package: "package", Pending: "pending", Require: "require", Return: "return", Ro: "ro", Settle: "settle",
	Sleep: "sleep", Switch: "switch", This: "this", True: "true", Try: "try", Upto: "upto", Var: "var", Void: "void",
	While: "while", Yield: "yield",

	After: "after", As: "as", Client: "client", Every: "every", Go: "go", Internal: "internal", Log: "log", Map: "map", Pure: "pure",
	Retry: "retry", Set: "set", Table: "table", Tail: "tail", Test: "test", Then: "then", Time: "time", Vector: "vector",
}

var keywords = func() map[string]Kind {
	m := make(map[string]Kind)
	for k := keywordFirst + 1; k < contextualLast; k++ {
		if k != keywordLast && k != contextualFirst {
			m[kindText[k]] = k
		}
	}
	return m
}()

// String returns the token's text if it is always the same, else the name of its kind.
func (k Kind) String() string { return kindText[k] }

// IsKeyword reports whether k is a reserved word.
func (k Kind) IsKeyword() bool { return k > keywordFirst && k < keywordLast }

// IsName reports whether k can name something: an identifier or a contextual keyword.
func (k Kind) IsName() bool { return k == Ident || k > contextualFirst && k < contextualLast }

// IsLiteral reports whether k is a literal, or begins one.
func (k Kind) IsLiteral() bool { return k >= Int && k <= StrHead }

// Token is one entry of the token table. The text between two tokens is white
// space, or lies between the parts of a string.
type Token struct {
	Kind       Kind
	Bad        bool // the scanner has reported an error about it
	Start, End int32
}

// Text returns the text of the token in src.
func (t Token) Text(src *ast.Source) string { return src.Text[t.Start:t.End] }

// Keywords returns the reserved words and the contextual ones, each sorted.
func Keywords() (reserved, contextual []string) {
	for k := keywordFirst + 1; k < keywordLast; k++ {
		reserved = append(reserved, kindText[k])
	}
	for k := contextualFirst + 1; k < contextualLast; k++ {
		contextual = append(contextual, kindText[k])
	}
	return reserved, contextual
}
