package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [T-CALL]: the call table (language.md, Calls; AEON table 3.1): which code may call
// what, how, and through which reference. calltable_check.go applies it.

// caller is a row of the table.
type caller uint8

const (
	byClient   caller = iota // code of clients
	byActor                  // a method or constructor that is not ro
	byReadOnly               // an ro method
)

// callee is what is called.
type callee uint8

const (
	roMethod callee = iota
	anyMethod
)

// cell is one entry of the product.
type cell struct {
	caller  caller
	mode    ast.CallMode
	through Through
	callee  callee
}

// verdict is what the table says of a cell: allowed if the code is empty.
type verdict diag.Code

const allowed verdict = ""

// callTable has a verdict for every cell. Lines are (caller, mode), columns
// are plain, yield, this, client reference, each for ro and for any methods.
// A `this` of an actor is plain; that of a client object is a call in its own
// code, which is no call between actors unless it is decorated.
var callTable = func() map[cell]verdict {
	const (
		ok = allowed
		cl = verdict(diag.ClientCallsPlain) // a client calls without event
		yi = verdict(diag.YieldCalled)      // sync or async through yield
		cr = verdict(diag.ClientRefCalled)  // sync or async on a client object
		ro = verdict(diag.ReadOnlyCalls)    // ro calls what is not ro
		tl = verdict(diag.TailPlace)        // a tail call of what is no step
	)
	rows := []struct {
		caller caller
		mode   ast.CallMode
		cells  [8]verdict
	}{
		//                         plain    yield    this     client reference
		//                         ro  any  ro  any  ro  any  ro  any
		{byClient, ast.Sync, [8]verdict{cl, cl, cl, cl, ok, ok, cr, cr}},
		{byClient, ast.Async, [8]verdict{cl, cl, cl, cl, cr, cr, cr, cr}},
		{byClient, ast.Event, [8]verdict{ok, ok, ok, ok, ok, ok, ok, ok}},
		{byClient, ast.Tail, [8]verdict{tl, tl, tl, tl, tl, tl, tl, tl}},
		{byActor, ast.Sync, [8]verdict{ok, ok, yi, yi, ok, ok, cr, cr}},
		{byActor, ast.Async, [8]verdict{ok, ok, yi, yi, ok, ok, cr, cr}},
		{byActor, ast.Event, [8]verdict{ok, ok, ok, ok, ok, ok, ok, ok}},
		{byActor, ast.Tail, [8]verdict{ok, ok, ok, ok, ok, ok, cr, cr}},
		{byReadOnly, ast.Sync, [8]verdict{ok, ro, yi, yi, ok, ro, cr, cr}},
		{byReadOnly, ast.Async, [8]verdict{ok, ro, yi, yi, ok, ro, cr, cr}},
		{byReadOnly, ast.Event, [8]verdict{ok, ro, ok, ro, ok, ro, ok, ok}},
		{byReadOnly, ast.Tail, [8]verdict{tl, tl, tl, tl, tl, tl, tl, tl}},
	}
	table := make(map[cell]verdict)
	for _, r := range rows {
		for i, v := range r.cells {
			table[cell{r.caller, r.mode, Through(i / 2), callee(i % 2)}] = v
		}
	}
	return table
}()
