// Goservice serves the bank of examples/bank by HTTP; the README says how to call it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"strconv"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/examples/bank"
)

//go:generate go run ../../cmd/aeonc gen ../bank

func main() {
	addr, dir := flag.String("listen", "localhost:8081", "the `address`"), flag.String("data", "bankdata", "the `directory` of the bank")
	flag.Parse()
	db, err := bank.Open(context.Background(), aeon.Dir(*dir))
	fatal(err)
	defer db.Close()

	main := db.Bank("main")
	handle("GET /accounts/{owner}", func(r *http.Request) (any, error) {
		return main.Balance(r.Context(), r.PathValue("owner"))
	})
	handle("PUT /accounts/{owner}", func(r *http.Request) (any, error) {
		return "open", main.Open(r.Context(), r.PathValue("owner"), 100, aeon.Once("open "+r.PathValue("owner")))
	})
	handle("PUT /transfers/{id}", func(r *http.Request) (any, error) {
		amount, _ := strconv.ParseInt(r.FormValue("amount"), 10, 64) // the bank refuses 0
		return "done", main.Transfer(r.Context(), r.FormValue("from"), r.FormValue("to"), amount, aeon.Once(r.PathValue("id")))
	})
	l, err := net.Listen("tcp", *addr)
	fatal(err)
	log.Printf("serving http://%v", l.Addr())
	log.Print(http.Serve(l, nil)) // to kill it loses nothing
}

func handle(pattern string, call func(*http.Request) (any, error)) {
	http.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := call(r)
		if failed := new(aeon.Error); errors.As(err, &failed) { // its code, message and place, and whether it has happened
			w.WriteHeader(map[bool]int{true: http.StatusServiceUnavailable, false: http.StatusUnprocessableEntity}[failed.Later])
			v = failed.Failure
		}
		_ = json.NewEncoder(w).Encode(v)
	})
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
