package diag

var callCodes = []Info{}
