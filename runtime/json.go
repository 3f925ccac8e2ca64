package runtime

import (
	"strconv"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// jsonBytesMax bounds the texts that JSON makes and ParseJSON reads.
const jsonBytesMax = 64 << 20

// jsonTypes has the types that a program writes or reads as JSON, by their texts.
var jsonTypes struct {
	sync.RWMutex
	by map[string]*jsoncodec.Type
}

// jsonType returns the type of a text.
func jsonType(text string) *jsoncodec.Type {
	jsonTypes.RLock()
	t := jsonTypes.by[text]
	jsonTypes.RUnlock()
	if t != nil {
		return t
	}
	t, err := jsoncodec.ParseType(text)
	assert.That(err == nil, "the compiler has written a type that cannot be read: %v", err)
	jsonTypes.Lock()
	defer jsonTypes.Unlock()
	if jsonTypes.by == nil {
		jsonTypes.by = make(map[string]*jsoncodec.Type)
	}
	jsonTypes.by[text] = t
	return t
}

// JSON returns v as the JSON that doors write of it, or faults: if the text would be too long, or v nests too deeply to be
// read again. The type is that of v, in the form that the schema of a store has it. No value of it has references.
func JSON[T any](of string, v T, put func(*Encoder, T)) string {
	t, msg := jsonType(of), jsonMessage(v, put)
	text, err := t.Append(nil, msg, nil)
	assert.That(err == nil, "a value that was just encoded cannot be read: %v", err)
	if jsoncodec.Nesting(text) > jsoncodec.NestingMax {
		failNesting()
	}
	if len(text) > jsonBytesMax {
		Fail("json would make a string of more than " + strconv.Itoa(jsonBytesMax) + " bytes")
	}
	return string(text)
}

func failNesting() {
	Fail("json of a value that nests deeper than " + strconv.Itoa(jsoncodec.NestingMax))
}

// jsonMessage encodes v.
func jsonMessage[T any](v T, put func(*Encoder, T)) []byte {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case value.Fault: // values fault here for one reason
			failNesting()
		default:
			panic(r)
		}
	}()
	e := codec.NewEncoder(nil)
	put(e, v)
	return e.Data()
}

// ParseJSON reads a value from its JSON as doors do. It is not ok if the text is no JSON of the type, or too long.
func ParseJSON[T any](of, text string, get func(*Decoder) T) (v T, ok bool) {
	if len(text) > jsonBytesMax {
		return v, false
	}
	msg, err := jsonType(of).Read([]byte(text), nil)
	if err != nil {
		return v, false
	}
	d := codec.NewDecoder(msg)
	v = get(d)
	assert.That(d.Close() == nil, "a message that was just made cannot be read: %v", d.Err())
	return v, true
}
