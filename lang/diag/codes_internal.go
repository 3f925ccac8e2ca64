package diag

// Internal is the code of bugs of the compiler itself. No program should get it.
const Internal Code = "AE0000"

// internalCodes documents Internal, the only code without an example.
var internalCodes = []Info{{
	Code:  Internal,
	Title: "bug of the compiler",
	Explanation: `The compiler has failed, and not the program. Please report it with the file
that it happened on. Changing the declaration that the message points to may help
in the meantime.`,
}}
