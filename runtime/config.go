package runtime

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ConfigField is a field of the parameter of a program's main. It is filled from a flag, or else from the environment.
type ConfigField struct {
	Name     string   // in the program: maxOrders
	Flag     string   // without dashes: max-orders
	Type     string   // in the program: int?
	Doc      string   // its doc comment
	Default  string   // the text of its initial value
	Required bool     // main cannot begin without it
	Enum     []string // the names of an enum's constants
	Value    any      // a pointer to what was given, of the type that the field has in generated code

	given bool
}

// Given reports whether Value was set.
func (f *ConfigField) Given() bool { return f.given }

// configEnv returns the variable of the environment that fills a field: SHOP_MAX_ORDERS.
func (p *Package) configEnv(f *ConfigField) string {
	return strings.ToUpper(p.Name + "_" + strings.ReplaceAll(f.Flag, "-", "_"))
}

// configFlags adds the flags that fill the parameter of main.
func (p *Package) configFlags(fs *flag.FlagSet) {
	for i := range p.Config {
		fs.Var((*configValue)(&p.Config[i]), p.Config[i].Flag, p.configUsage(&p.Config[i]))
	}
}

// clash returns an error if a flag that fills the parameter of main is one of fs, too. Those that every program has are refused by the
// compiler; others come with what a program is linked with on request.
func (p *Package) clash(fs *flag.FlagSet) error {
	for _, f := range p.Config {
		if fs.Lookup(f.Flag) != nil {
			return fmt.Errorf("--%s is a flag of every program that is compiled as this one is, so it cannot fill %s, too: rename the field of main's parameter", f.Flag, f.Name)
		}
	}
	return nil
}

// configUsage describes a field for the help of the program.
func (p *Package) configUsage(f *ConfigField) string {
	usage := ""
	if doc := strings.Fields(strings.ReplaceAll(f.Doc, "`", "'")); len(doc) > 0 {
		usage = strings.TrimSuffix(strings.Join(doc, " "), ".") + ". "
	}
	switch {
	case f.isVector():
		elem := strings.TrimSuffix(strings.TrimPrefix(f.Type, vectorOf), ">")
		usage += fmt.Sprintf("`%s`, any number of times; or, with commas,", strings.ToUpper(elem))
	case f.isBool():
		usage += "Or"
	default:
		usage += fmt.Sprintf("`%s`, or", strings.ToUpper(strings.TrimSuffix(f.Type, "?")))
	}
	usage += " " + p.configEnv(f) + " in the environment"
	if len(f.Enum) > 0 {
		usage += "; one of " + strings.Join(f.Enum, ", ")
	}
	switch {
	case f.Required:
		return usage + "; must be given"
	case f.Default != "":
		return usage + "; " + f.Default + " if not given"
	}
	return usage
}

// vectorOf begins the type of a field that has any number of values.
const vectorOf = "vector<"

func (f *ConfigField) isVector() bool { return strings.HasPrefix(f.Type, vectorOf) }

func (f *ConfigField) isBool() bool { _, ok := f.Value.(*bool); return ok }

// configure fills what no flag has filled from the environment, and returns an error if something that main needs is
// missing then.
func (p *Package) configure() error {
	var missing []string
	for i := range p.Config {
		f := &p.Config[i]
		if f.given {
			continue
		}
		name := p.configEnv(f)
		text, ok := os.LookupEnv(name)
		switch {
		case ok:
			if err := f.fromEnv(text); err != nil {
				return fmt.Errorf("%s in the environment: %w", name, err)
			}
		case f.Required:
			missing = append(missing, fmt.Sprintf("--%s (or %s in the environment)", f.Flag, name))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("main needs %s", strings.Join(missing, " and "))
	}
	return nil
}

// fromEnv fills a field from a variable: that of a vector has its elements with commas between them, or nothing.
func (f *ConfigField) fromEnv(text string) error {
	if !f.isVector() {
		return f.set(text)
	}
	f.given = true
	if text == "" {
		return nil
	}
	for elem := range strings.SplitSeq(text, ",") {
		if err := f.set(elem); err != nil {
			return err
		}
	}
	return nil
}

// set fills the field; a vector gets one element more.
func (f *ConfigField) set(text string) error {
	if f.Enum != nil {
		i := slices.Index(f.Enum, text)
		if i < 0 {
			return fmt.Errorf("%q is none of its values%s", text, cmdline.Choices(text, f.Enum, "they are"))
		}
		reflect.ValueOf(f.Value).Elem().SetUint(uint64(i)) // an enum is one of Go's unsigned integers
		f.given = true
		return nil
	}
	for _, into := range configTypes {
		if ok, err := into(f.Value, text); ok {
			f.given = f.given || err == nil
			return err
		}
	}
	panic(fmt.Sprintf("runtime: no flag can fill %s, of type %s", f.Name, f.Type))
}

// configTypes fill a target whose type is that of one of them, optional, or a vector.
var configTypes = []func(target any, text string) (ok bool, err error){
	into(func(text string) (string, error) { return text, nil }),
	into(readBool), into(readFloat), into(readDuration), into(readTime),
	into(readInt[int64]), into(readInt[int32]), into(readInt[int16]), into(readInt[int8]),
	into(readUint[uint64]), into(readUint[uint32]), into(readUint[uint16]), into(readUint[uint8]),
}

// into returns a function that fills a T, a T? or a vector<T>, and reports whether the target is one.
func into[T any](read func(text string) (T, error)) func(target any, text string) (bool, error) {
	return func(target any, text string) (bool, error) {
		var put func(T)
		switch target := target.(type) {
		case *T:
			put = func(v T) { *target = v }
		case *value.Opt[T]:
			put = func(v T) { *target = value.Some(v) }
		case *value.Vector[T]:
			put = func(v T) { *target = value.VectorOf(append(target.Items(), v)...) }
		default:
			return false, nil
		}
		v, err := read(text)
		if err == nil {
			put(v)
		}
		return true, err
	}
}

func readBool(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return v, nil
}

func readFloat(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	return v, numberError(err, text, "a number")
}

func readInt[T int8 | int16 | int32 | int64](text string) (T, error) {
	v, err := strconv.ParseInt(text, 10, reflect.TypeFor[T]().Bits())
	return T(v), numberError(err, text, "an integer")
}

func readUint[T uint8 | uint16 | uint32 | uint64](text string) (T, error) {
	v, err := strconv.ParseUint(text, 10, reflect.TypeFor[T]().Bits())
	return T(v), numberError(err, text, "an integer of 0 or more")
}

func numberError(err error, text, what string) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range", text)
	case err != nil:
		return fmt.Errorf("%q is not %s", text, what)
	}
	return nil
}

func readDuration(text string) (value.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		err = fmt.Errorf("%q is no duration, as 90s or 1h30m", text)
	}
	return value.Duration(d), err
}

func readTime(text string) (value.Time, error) {
	t, ok := value.ParseTime(text).Get()
	if !ok {
		return 0, fmt.Errorf("%q is no time of the years 1678 to 2261 as RFC 3339 has it, as 2026-01-31T12:00:00Z", text)
	}
	return t, nil
}

// configValue makes a field a flag.
type configValue ConfigField

// Set implements flag.Value.
func (v *configValue) Set(text string) error { return (*ConfigField)(v).set(text) }

// String implements flag.Value.
func (v *configValue) String() string { return v.Default }

// IsBoolFlag tells package flag that --verbose means --verbose=true.
func (v *configValue) IsBoolFlag() bool { return (*ConfigField)(v).isBool() }
