module github.com/aeon-lang/aeon

go 1.26
