package spec

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// parseInt takes an optional sign and decimal digits; anything else is null.
func parseInt(s string) value {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return integer{typecheck.IntKind, n}
}

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// parseFloat takes decimal notation; anything else, and what is too large, is null: [LIBRARY].
func parseFloat(s string) value {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !decimal.MatchString(s) {
		return nil
	}
	return n
}

// digits is an argument that says how many of them are wanted.
func (f *frame) digits(x *ast.Call, n integer) int {
	if n.bits < 0 || n.bits > 100 {
		f.fail(x, "format with "+text(n)+" digits: it takes 0 to 100")
	}
	return int(n.bits)
}

func (f *frame) formatInt(x *ast.Call, n, base, digits integer) value {
	if base.bits < 2 || base.bits > 36 {
		f.fail(x, "format in base "+text(base)+": it takes 2 to 36")
	}
	sign, s := "", n.big().Text(int(base.bits))
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for len(s) < f.digits(x, digits) {
		s = "0" + s
	}
	return sign + s
}

func (f *frame) formatFloat(x *ast.Call, n float64, digits integer) value {
	d := f.digits(x, digits)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return floatText(n)
	}
	return big.NewFloat(n).Text('f', d)
}
