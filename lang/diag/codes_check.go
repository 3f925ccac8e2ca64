package diag

// checkCodes documents the codes of the checker, AE0101 to AE0999. Append only.
var checkCodes = []Info{}
