package diag

var nameCodes = []Info{}
