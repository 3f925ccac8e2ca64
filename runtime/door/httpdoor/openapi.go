package httpdoor

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// object is an object of an OpenAPI document.
type object = map[string]any

// Describe returns the OpenAPI 3.1 document of what is served to a caller: a path for each method of each actor class that it
// may call.
func Describe(title string, d *door.Door, by *access.Caller) ([]byte, error) {
	schemas := &jsoncodec.Schemas{Prefix: "#/components/schemas/"}
	paths := object{}
	tags := []object{}
	for _, c := range d.Classes() {
		name, before := d.NameOf(c), len(paths)
		for _, m := range c.Methods {
			if by.May(c, m) {
				paths["/v1/"+name+"/{key}/"+m.Name] = methodOf(schemas, name, m)
			}
		}
		if len(paths) == before {
			continue
		}
		tag := object{"name": name}
		if c.Doc != "" {
			tag["description"] = c.Doc
		}
		tags = append(tags, tag)
	}
	callbacks := callbacksOf(schemas, d, by)
	if callbacks != nil {
		describeClients(schemas, paths)
	}
	doc := object{
		"openapi": "3.1.0",
		"info":    object{"title": title, "version": "1"},
		"tags":    tags,
		"paths":   paths,
		"components": object{
			"schemas": definitions(schemas, callbacks),
			"parameters": object{
				"key": object{"name": "key", "in": "path", "required": true, "schema": object{"type": "string"},
					"description": "the name of the actor, or a colon and the id of one without a name"},
				"once": object{"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": door.KeyMax},
					"description": "the request is performed once, however often it is sent with this key"},
			},
			"responses": object{"problem": object{"description": "a failure (RFC 9457)",
				"content": object{"application/problem+json": object{"schema": object{"$ref": schemas.Prefix + problemName}}}}},
		},
	}
	if by != access.Anyone {
		doc["components"].(object)["securitySchemes"] = object{"token": object{"type": "http", "scheme": "bearer"}}
		doc["security"] = []object{{"token": []string{}}}
	}
	return json.MarshalIndent(doc, "", "  ")
}

// The names of the schemas of failures and of callbacks. No class of a program begins with a small letter and is called so.
const (
	problemName  = "problem"
	callbackName = "callback"
)

// callbacksOf describes the callbacks that a caller can receive, one by one.
func callbacksOf(s *jsoncodec.Schemas, d *door.Door, by *access.Caller) (list []object) {
	d.ClientClasses(func(c *door.ClientClass) {
		if !by.MayBe(c) {
			return
		}
		for _, m := range c.Methods {
			of := object{"type": "object", "required": []string{"class", "method", "arguments"}, "properties": object{
				"class": object{"const": d.ClientNameOf(c)}, "method": object{"const": m.Name}, "arguments": s.Params(m.Params)}}
			if m.Doc != "" {
				of["description"] = m.Doc
			}
			list = append(list, of)
		}
	})
	return list
}

// describeClients describes how a client begins, gets its callbacks and ends.
func describeClients(s *jsoncodec.Schemas, paths object) {
	id := object{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}, "description": "what the beginning of the client has answered"}
	operation := func(id, summary string, answers object) object {
		answers["default"] = object{"$ref": "#/components/responses/problem"}
		return object{"operationId": id, "summary": summary, "responses": answers}
	}
	begin := operation("begin_client", "begins a client that receives callbacks", object{"201": object{"description": "begun", "content": object{
		"application/json": object{"schema": object{"type": "object", "required": []string{"id", "events", "references"}, "properties": object{
			"id":     object{"type": "string", "description": "names the client to the server; a secret"},
			"events": object{"type": "string", "description": "the path of its stream"},
			"references": object{"type": "object", "additionalProperties": object{"type": "string"},
				"description": "its objects, by the names of their classes: the arguments of methods that take them"},
		}}}}}})
	begin["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.Params(clientParams)}}}
	paths[ClientsPath] = object{"post": begin}
	end := operation("end_client", "ends a client", object{"204": object{"description": "ended"}})
	end["parameters"] = []object{id}
	paths[ClientsPath+"/{id}"] = object{"delete": end}
	events := operation("client_events", "the callbacks of a client", object{"200": object{
		"description": "the data of each event is a " + callbackName + ", its id the number of the callback; an event of type end says why there will be no more",
		"content":     object{"text/event-stream": object{"schema": object{"type": "string"}}}}})
	events["parameters"] = []object{id, {"name": "Last-Event-ID", "in": "header", "schema": object{"type": "string"},
		"description": "the id of the last callback that has arrived: the stream goes on behind it"}}
	paths[ClientsPath+"/{id}/events"] = object{"get": events}
}

// definitions returns the schemas of the program's types, of failures, and of callbacks if there are any.
func definitions(s *jsoncodec.Schemas, callbacks []object) object {
	all := object{problemName: object{
		"type": "object", "required": []string{"title", "status", "detail", "code", "happened"},
		"properties": object{
			"title": object{"type": "string"}, "status": object{"type": "integer"}, "detail": object{"type": "string"},
			"code":     object{"type": "string", "description": "a word that programs can rely on"},
			"happened": object{"enum": []door.Happened{door.No, door.Yes, door.Begun, door.Partly, door.Unknown}, "type": "string"},
			"at":       object{"type": "string", "description": "where in the program it has failed, file:line"},
			"path":     object{"type": "array", "items": object{"type": "string"}},
		},
	}}
	if callbacks != nil {
		all[callbackName] = object{"oneOf": callbacks}
	}
	for name, of := range s.Named {
		all[name] = of
	}
	return all
}

// methodOf describes one method.
func methodOf(s *jsoncodec.Schemas, class string, m *door.Method) object {
	call := func(verb string) object {
		op := object{"operationId": class + "_" + m.Name, "tags": []string{class}, "responses": answers(s, m)}
		if verb != "" {
			op["operationId"] = class + "_" + m.Name + "_" + verb
		}
		if m.Doc != "" {
			op["summary"], op["description"] = firstSentence(m.Doc), m.Doc
		}
		return op
	}
	post := call("")
	post["parameters"] = []object{{"$ref": "#/components/parameters/key"}, {"$ref": "#/components/parameters/once"}}
	params := m.Params.List()
	if len(params) > 0 {
		required := false
		for _, p := range params {
			required = required || p.Required
		}
		post["requestBody"] = object{"required": required, "content": object{"application/json": object{"schema": s.Params(m.Params)}}}
	}
	item := object{"post": post}
	if m.ReadOnly {
		get := call("get")
		list := []object{{"$ref": "#/components/parameters/key"}}
		for _, p := range params {
			list = append(list, queryOf(s, p))
		}
		get["parameters"] = list
		item["get"] = get
	}
	return item
}

// queryOf describes a parameter in a query.
func queryOf(s *jsoncodec.Schemas, p jsoncodec.Param) object {
	q := object{"name": p.Name, "in": "query", "required": p.Required}
	if p.Plain {
		q["schema"] = s.Of(p.Type)
	} else {
		q["content"] = object{"application/json": object{"schema": s.Of(p.Type)}}
	}
	return q
}

// answers describes the answers of a method.
func answers(s *jsoncodec.Schemas, m *door.Method) object {
	all := object{"default": object{"$ref": "#/components/responses/problem"}}
	if m.Result == nil {
		all["204"] = object{"description": "done"}
	} else {
		all["200"] = object{"description": "the result", "content": object{"application/json": object{"schema": s.Of(m.Result)}}}
	}
	return all
}

// firstSentence returns the first sentence of a comment.
func firstSentence(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}

// openapi serves the description.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request, by *access.Caller) {
	doc, err := Describe(s.cfg.Program, s.Door, by)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(doc) // the client has gone if this fails
}
