package diag

import "strings"

// The codes of the lexer and the parser. Append only.
const (
	UnexpectedToken     Code = "AE0001"
	MissingSemicolon    Code = "AE0002"
	UnclosedBracket     Code = "AE0003"
	StrayCharacter      Code = "AE0004"
	UnterminatedString  Code = "AE0005"
	UnterminatedComment Code = "AE0006"
)

// syntaxCodes documents them.
var syntaxCodes = []Info{
	{
		Code:  UnexpectedToken,
		Title: "unexpected token",
		Explanation: strings.TrimSpace(`
The parser expected something else here. The message names what it expected and
what it found. When the word found is close to a keyword, the message suggests it.`),
		Bad:  "package p\n\nvoid f(int) {\n}\n",
		Good: "package p\n\nvoid f(int n) {\n}\n",
	},
}
