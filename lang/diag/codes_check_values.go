package diag

var valueCodes = []Info{}
