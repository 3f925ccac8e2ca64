module github.com/aeon-lang/aeon

go 1.26

require pgregory.net/rapid v1.3.0

require github.com/google/go-cmp v0.7.0

require github.com/alecthomas/participle/v2 v2.1.4

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/rogpeppe/go-internal v1.14.1
	go.uber.org/goleak v1.3.0
	golang.org/x/tools v0.26.0
)

require golang.org/x/sys v0.26.0 // indirect
