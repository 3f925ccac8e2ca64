package main

// Installing aeonc fetches the modules that programs with the store are compiled with.
import _ "github.com/aeon-lang/aeon/runtime/node"
