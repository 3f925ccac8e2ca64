package diag

var flowCodes = []Info{}
