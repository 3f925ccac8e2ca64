package protocodec

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// The files and types of protobuf that are not the program's.
const (
	timestampFile = "google/protobuf/timestamp.proto"
	timestampType = "google.protobuf.Timestamp"
	durationFile  = "google/protobuf/duration.proto"
	durationType  = "google.protobuf.Duration"
)

// repeated reports whether the field may be there more than once.
func (f *Field) repeated() bool {
	return f.is.kind == typetext.Vector || f.is.kind == typetext.Set || f.is.kind == typetext.Map
}

// presence reports whether the field says of itself whether it is there. Messages do so, too.
func (f *Field) presence() bool { return f.is.mayBeNull() }

// value returns the type of the field's values, of which it may have none or several.
func (f *Field) value() *Type {
	switch f.is.kind {
	case typetext.Vector, typetext.Set, typetext.Optional:
		return f.is.elem
	}
	return f.is
}

// The types of fields, as descriptors number them.
const (
	typeDouble  = 1
	typeInt64   = 3
	typeUint64  = 4
	typeInt32   = 5
	typeBool    = 8
	typeString  = 9
	typeMessage = 11
	typeBytes   = 12
	typeUint32  = 13
	typeEnum    = 14
)

var typeNames = map[uint64]string{
	typeDouble: "double", typeInt64: "int64", typeUint64: "uint64", typeInt32: "int32", typeBool: "bool", typeString: "string",
	typeBytes: "bytes", typeUint32: "uint32",
}

// proto returns the type of protobuf, and its name if that is a message or an enum.
func (t *Type) proto() (number uint64, name string) {
	switch t.kind {
	case typetext.Signed:
		if t.of.Form == "int" {
			return typeInt64, ""
		}
		return typeInt32, ""
	case typetext.Unsigned:
		if t.of.Form == "uint64" {
			return typeUint64, ""
		}
		return typeUint32, ""
	case typetext.Float:
		return typeDouble, ""
	case typetext.Bool:
		return typeBool, ""
	case typetext.Bytes:
		return typeBytes, ""
	case typetext.Time:
		return typeMessage, timestampType
	case typetext.Duration:
		return typeMessage, durationType
	case typetext.Enum:
		return typeEnum, t.enum.full
	case typetext.Map:
		return typeMessage, t.entry.full
	case typetext.Class, holder:
		return typeMessage, t.message.full
	}
	return typeString, ""
}

// source is the text of the type.
func (t *Type) source() string {
	number, name := t.proto()
	if name != "" {
		return "." + name
	}
	return typeNames[number]
}

// source is the text of the type of a field, with what stands before it.
func (f *Field) source() string {
	t := f.value()
	switch {
	case t.kind == typetext.Map && t.entry.entry:
		return "map<" + t.key.source() + ", " + t.elem.source() + ">"
	case f.repeated():
		return "repeated " + t.source()
	case f.presence():
		return "optional " + t.source()
	}
	return t.source()
}

// Source returns the file as protoc reads it. Its first lines are the comment header, whose lines have no slashes.
func (f *File) Source(header ...string) string {
	var w source
	for _, line := range header {
		w.line("// %s", line)
	}
	w.line("syntax = \"proto3\";\n\npackage %s;", f.Package)
	for i, name := range f.imports {
		if i == 0 {
			w.line("")
		}
		w.line("import %q;", name)
	}
	for _, s := range f.services {
		w.line("")
		w.doc(s.doc)
		w.line("service %s {", s.Name[len(f.Package)+1:])
		for _, m := range s.Methods {
			w.doc(m.doc)
			stream := ""
			if m.stream {
				stream = "stream "
			}
			w.line("rpc %s(.%s) returns (%s.%s);", m.Name, m.request.full, stream, m.answer.full)
		}
		w.line("}")
	}
	for _, m := range f.messages {
		w.line("")
		w.doc(m.doc)
		w.message(m)
	}
	for _, e := range f.enums {
		w.line("")
		w.line("enum %s {", e.name)
		w.line("%s = 0;", e.none)
		for i, v := range e.values {
			w.line("%s = %d;", v, i+1)
		}
		w.line("}")
	}
	return w.String()
}

// source is text that is indented by its braces.
type source struct {
	strings.Builder
	depth int
}

func (w *source) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") {
		w.depth--
	}
	if text != "" {
		w.WriteString(strings.Repeat("  ", w.depth))
	}
	w.WriteString(text + "\n")
	if strings.HasSuffix(text, "{") {
		w.depth++
	}
}

// doc writes a comment of the program.
func (w *source) doc(text string) {
	for line := range strings.Lines(text) {
		w.WriteString(strings.TrimRight(strings.Repeat("  ", w.depth)+"// "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
}

func (w *source) message(m *Message) {
	if len(m.fields) == 0 {
		w.line("message %s {}", m.name)
		return
	}
	w.line("message %s {", m.name)
	for _, n := range m.nested {
		if !n.entry {
			w.message(n)
		}
	}
	for _, f := range m.fields[:len(m.fields)-len(m.choices)] {
		w.line("%s %s = %d;", f.source(), f.name, f.number)
	}
	if len(m.choices) > 0 {
		w.line("oneof %s {", m.choice)
		for _, f := range m.choices {
			w.line("%s %s = %d;", f.source(), f.name, f.number)
		}
		w.line("}")
	}
	w.line("}")
}

// The numbers of fields in descriptors, as google/protobuf/descriptor.proto has them.
const (
	fileName, filePackage, fileImport, fileMessage, fileEnum, fileService, fileSyntax = 1, 2, 3, 4, 5, 6, 12
	messageName, messageField, messageNested, messageOptions, messageOneof            = 1, 2, 3, 7, 8
	optionMapEntry                                                                    = 7
	fieldName, fieldNumber, fieldLabel, fieldType, fieldTypeName                      = 1, 3, 4, 5, 6
	fieldOneof, fieldJSONName, fieldOptional                                          = 9, 10, 17
	labelOptional, labelRepeated                                                      = 1, 3
	namedName, namedPart, valueNumber                                                 = 1, 2, 2 // of enums and services
	methodInput, methodOutput, methodStreams                                          = 2, 3, 6
)

// Descriptor returns the google.protobuf.FileDescriptorProto of the file.
func (f *File) Descriptor() []byte {
	b := appendText(nil, fileName, f.Name())
	b = appendText(b, filePackage, f.Package)
	for _, name := range f.imports {
		b = appendText(b, fileImport, name)
	}
	for _, m := range f.messages {
		b = appendSized(b, fileMessage, m.describe)
	}
	for _, e := range f.enums {
		b = appendSized(b, fileEnum, e.describe)
	}
	for _, s := range f.services {
		b = appendSized(b, fileService, func(b []byte) []byte {
			b = appendText(b, namedName, s.Name[len(f.Package)+1:])
			for _, m := range s.Methods {
				b = appendSized(b, namedPart, m.describe)
			}
			return b
		})
	}
	return appendText(b, fileSyntax, "proto3")
}

func (m *RPC) describe(b []byte) []byte {
	b = appendText(b, namedName, m.Name)
	b = appendText(b, methodInput, "."+m.request.full)
	b = appendText(b, methodOutput, "."+m.answer.full)
	if m.stream {
		b = appendNumber(b, methodStreams, 1)
	}
	return b
}

func (e *Enum) describe(b []byte) []byte {
	b = appendText(b, namedName, e.name)
	for i, v := range append([]string{e.none}, e.values...) {
		b = appendSized(b, namedPart, func(b []byte) []byte {
			return appendNumber(appendText(b, namedName, v), valueNumber, uint64(i))
		})
	}
	return b
}

func (m *Message) describe(b []byte) []byte {
	b = appendText(b, messageName, m.name)
	var oneofs []string // that of the message, and one for each field that says whether it is there, as proto3 has it
	if len(m.choices) > 0 {
		oneofs = append(oneofs, m.choice)
	}
	for i, f := range m.fields {
		b = appendSized(b, messageField, func(b []byte) []byte {
			b = f.describe(b)
			switch {
			case i >= len(m.fields)-len(m.choices):
				b = appendNumber(b, fieldOneof, 0)
			case f.presence():
				b = appendNumber(appendNumber(b, fieldOneof, uint64(len(oneofs))), fieldOptional, 1)
				oneofs = append(oneofs, "_"+f.name)
			}
			return b
		})
	}
	for _, n := range m.nested {
		b = appendSized(b, messageNested, n.describe)
	}
	if m.entry {
		b = appendSized(b, messageOptions, func(b []byte) []byte { return appendNumber(b, optionMapEntry, 1) })
	}
	for _, name := range oneofs {
		b = appendSized(b, messageOneof, func(b []byte) []byte { return appendText(b, namedName, name) })
	}
	return b
}

// describe appends the description of the field, but for its place among those that say whether they are there.
func (f *Field) describe(b []byte) []byte {
	b = appendText(b, fieldName, f.name)
	b = appendNumber(b, fieldNumber, f.number)
	label := uint64(labelOptional)
	if f.repeated() {
		label = labelRepeated
	}
	b = appendNumber(b, fieldLabel, label)
	number, name := f.value().proto()
	b = appendNumber(b, fieldType, number)
	if name != "" {
		b = appendText(b, fieldTypeName, "."+name)
	}
	return appendText(b, fieldJSONName, camel(f.name, false))
}
