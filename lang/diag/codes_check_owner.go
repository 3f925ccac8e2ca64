package diag

var ownerCodes = []Info{}
