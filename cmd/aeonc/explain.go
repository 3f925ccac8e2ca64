package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/lang/diag"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:  "explain",
		Args:  "[CODE]",
		Short: "explain a diagnostic, with a wrong and a right program",
		Long: `
Explain tells what a diagnostic code means, why it is an error and what to do,
with a program that gets it and the same program corrected. Without a code it
lists all codes.

	aeonc explain AE0240
	aeonc explain | grep yield`,
		Setup: func(*flag.FlagSet) cli.Action {
			return func(env *cli.Env, args []string) error {
				switch len(args) {
				case 0:
					for _, info := range diag.All() {
						fmt.Fprintf(env.Stdout, "%s  %s\n", info.Code, info.Title)
					}
					return nil
				case 1:
					return explain(env.Stdout, args[0])
				}
				return cli.Usagef("one code at a time, not %d", len(args))
			}
		},
	}
}

func explain(w io.Writer, name string) error {
	code := strings.ToUpper(name)
	if len(code) > 0 && code[0] >= '0' && code[0] <= '9' {
		code = "AE" + code
	}
	info, ok := diag.Lookup(diag.Code(code))
	if !ok {
		var codes []string
		for _, i := range diag.All() {
			codes = append(codes, string(i.Code))
		}
		return cli.Usagef("there is no diagnostic %s%s", name, cmdline.DidYouMean(code, codes))
	}
	fmt.Fprintf(w, "%s: %s\n\n%s\n", info.Code, info.Title, strings.TrimSpace(info.Explanation))
	fmt.Fprintf(w, "\nWrong:\n\n%s\nRight:\n\n%s", indent(info.Bad), indent(info.Good))
	return nil
}

// indent sets a program off from the text around it.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteByte('\t')
		}
		b.WriteString(line)
	}
	return b.String()
}
