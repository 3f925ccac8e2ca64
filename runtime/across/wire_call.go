package across

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Fields of a Call that it may lack.
const (
	inCallStrict set = 1 << iota
	inCallLines
	inCallGrown
	inCallVotes
	inCallSpan
	inCallOrder
	inCallHolds
	inCallLast
)

func (c *Call) put(e *codec.Encoder) {
	f := in(inCallStrict, c.Strict) | in(inCallLines, len(c.Lines) > 0) | in(inCallGrown, len(c.Grown) > 0) | in(inCallVotes, c.Votes != 0) | in(inCallSpan, c.Span != nil) |
		in(inCallOrder, len(c.Order) > 0) | in(inCallHolds, c.Holds) | in(inCallLast, c.Last)
	e.Uint(uint64(f))
	putActor(e, c.Target)
	e.String(c.Method)
	e.Blob(c.Args)
	putRun(e, c.Run)
	if f&inCallLines != 0 {
		putLines(e, c.Lines)
	}
	if f&inCallGrown != 0 {
		putWanted(e, c.Grown)
	}
	if f&inCallSpan != 0 {
		e.Blob(c.Span.Trace[:])
		e.Blob(c.Span.Parent[:])
		e.Uint(c.Span.Child)
		e.String(c.Span.State)
		e.Bool(c.Span.Async)
	}
	if f&inCallOrder != 0 {
		e.Uint(uint64(len(c.Order)))
		for _, n := range c.Order {
			e.Uint(n)
		}
	}
	if f&inCallVotes != 0 {
		e.Uint(c.Votes)
	}
}

func getCall(d *codec.Decoder) *Call {
	f := set(d.Enum(uint64(inCallLast) << 1))
	c := &Call{Strict: f&inCallStrict != 0, Holds: f&inCallHolds != 0, Last: f&inCallLast != 0, Target: getActor(d), Method: d.String(), Args: d.Blob(), Run: getRun(d)}
	if f&inCallLines != 0 {
		c.Lines = list(d, getLine)
		given(d, c.Lines != nil, "line")
	}
	if f&inCallGrown != 0 {
		c.Grown = getWanted(d)
		given(d, c.Grown != nil, "actor that was taken")
	}
	if f&inCallSpan != 0 {
		c.Span = &span.Place{}
		getID(d, c.Span.Trace[:])
		getID(d, c.Span.Parent[:])
		c.Span.Child, c.Span.State, c.Span.Async = d.Uint(), d.String(), d.Bool()
	}
	if f&inCallOrder != 0 {
		c.Order = list(d, (*codec.Decoder).Uint)
		given(d, c.Order != nil, "place in program order")
	}
	if f&inCallVotes != 0 {
		c.Votes = d.Uint()
		given(d, c.Votes != 0, "number of calls")
	}
	return c
}

// getID reads an id of a span, or of a trace.
func getID(d *codec.Decoder, to []byte) {
	if b := d.Blob(); copy(to, b) < len(to) || len(b) > len(to) {
		d.Fail("an id of a span of %d bytes, not %d,", len(b), len(to))
	}
}

func putRun(e *codec.Encoder, r Run) {
	e.Int(int64(r.Depth))
	e.Int(r.Fuel)
	e.Uint(r.Random)
	e.Int(r.Now)
	e.Int(r.Reached)
}

func getRun(d *codec.Decoder) Run {
	return Run{Depth: getInt(d), Fuel: d.Int(), Random: d.Uint(), Now: d.Int(), Reached: d.Int()}
}

// Fields of a Reply, of which it may lack each. Those of most replies come first, so that their set takes one byte.
const (
	inReplyWrote set = 1 << iota
	inReplyRun
	inReplyResult
	inReplyGoes
	inReplyWithdrawn
	inReplyClaim
	inReplyFailed
	inReplyMade
	inReplyRefused
	inReplyKept
	inReplyLines
	inReplyGrown
	inReplyVotes
	inReplyGranted
	inReplyHolds
	inReplyOver
	inReplyInTurn
	inReplyLacks
)

func (r *Reply) has() set {
	return in(inReplyWrote, r.Wrote) | in(inReplyRun, r.Run != Run{}) | in(inReplyResult, len(r.Result) > 0) | in(inReplyGoes, r.Goes) |
		in(inReplyWithdrawn, r.Withdrawn) | in(inReplyClaim, claims(r.Claim) != nil) | in(inReplyFailed, r.Failed != nil) |
		in(inReplyMade, !r.Made.IsNull()) | in(inReplyRefused, r.Refused) | in(inReplyKept, !r.Kept.IsNull()) | in(inReplyLines, len(r.Lines) > 0) |
		in(inReplyGrown, len(r.Grown) > 0) | in(inReplyVotes, r.Votes != 0) | in(inReplyGranted, r.Granted) |
		in(inReplyHolds, r.Holds) | in(inReplyOver, r.Over) | in(inReplyInTurn, r.InTurn) | in(inReplyLacks, r.Lacks != "")
}

func (r *Reply) put(e *codec.Encoder) {
	f := r.has()
	e.Uint(uint64(f))
	if f&inReplyRun != 0 {
		putRun(e, r.Run)
	}
	if f&inReplyResult != 0 {
		e.Blob(r.Result)
	}
	if f&inReplyClaim != 0 {
		putWanted(e, claims(r.Claim))
	}
	if f&inReplyFailed != 0 {
		putFailure(e, r.Failed)
	}
	if f&inReplyMade != 0 {
		putActor(e, r.Made)
	}
	if f&inReplyKept != 0 {
		putActor(e, r.Kept)
	}
	if f&inReplyLines != 0 {
		putLines(e, r.Lines)
	}
	if f&inReplyGrown != 0 {
		putWanted(e, r.Grown)
	}
	if f&inReplyVotes != 0 {
		e.Uint(r.Votes)
	}
	if f&inReplyLacks != 0 {
		e.String(r.Lacks)
	}
}

func getReply(d *codec.Decoder) *Reply {
	f := set(d.Enum(uint64(inReplyLacks) << 1))
	r := &Reply{Wrote: f&inReplyWrote != 0, Goes: f&inReplyGoes != 0, Withdrawn: f&inReplyWithdrawn != 0, Refused: f&inReplyRefused != 0, Granted: f&inReplyGranted != 0, Holds: f&inReplyHolds != 0, Over: f&inReplyOver != 0, InTurn: f&inReplyInTurn != 0}
	if f&inReplyRun != 0 {
		r.Run = getRun(d)
	}
	if f&inReplyResult != 0 {
		r.Result = d.Blob()
	}
	if f&inReplyClaim != 0 {
		r.Claim = claim(d, getWanted(d))
	}
	if f&inReplyFailed != 0 {
		r.Failed = getFailure(d)
	}
	if f&inReplyMade != 0 {
		r.Made = getActor(d)
	}
	if f&inReplyKept != 0 {
		r.Kept = getActor(d)
	}
	if f&inReplyLines != 0 {
		r.Lines = list(d, getLine)
	}
	if f&inReplyGrown != 0 {
		r.Grown = getWanted(d)
	}
	if f&inReplyVotes != 0 {
		r.Votes = d.Uint()
	}
	if f&inReplyLacks != 0 {
		r.Lacks = d.String()
	}
	given(d, r.has() == f, "field of a reply")
	return r
}

// The forms of a Line.
const (
	printed = iota
	logged
	callback
	lineForms
)

// Fields of a Line, without Log.
const (
	inLineText set = 1 << iota
	inLineIssuer
	inLineObject
	inLineMethod
	inLineArgs
	inLineNumber
)

var lines = [lineForms]set{
	printed:  inLineText | inLineIssuer,
	logged:   inLineText | inLineIssuer,
	callback: inLineIssuer | inLineObject | inLineMethod | inLineArgs | inLineNumber,
}

func (l *Line) has() set {
	return in(inLineText, l.Text != "") | in(inLineIssuer, !l.Issuer.IsNull()) | in(inLineObject, l.Object != 0) | in(inLineMethod, l.Method != "") | in(inLineArgs, len(l.Args) > 0) | in(inLineNumber, l.Number != 0)
}

func putLines(e *codec.Encoder, l []Line) {
	e.Uint(uint64(len(l)))
	for i := range l {
		l[i].put(e)
	}
}

func (l *Line) put(e *codec.Encoder) {
	form := printed
	switch {
	case l.Log:
		form = logged
	case l.Object != 0:
		form = callback
	}
	// Invariant: a line has only fields of its form.
	if l.has()&^lines[form] != 0 {
		assert.Unreachable("across: line of form %d with the fields %b", form, l.has())
	}
	e.Uint(uint64(form))
	putActor(e, l.Issuer)
	if form != callback {
		e.String(l.Text)
		return
	}
	putNumber(e, l.Object)
	e.String(l.Method)
	e.Blob(l.Args)
	e.Int(int64(l.Number))
}

func getLine(d *codec.Decoder) (l Line) {
	form := d.Enum(lineForms)
	l.Log, l.Issuer = form == logged, getActor(d)
	if form != callback {
		l.Text = d.String()
		return l
	}
	l.Object, l.Method, l.Args, l.Number = getNumber(d), d.String(), d.Blob(), getInt(d)
	given(d, l.Object != 0, "client object")
	return l
}

// The forms of a Question.
const (
	askLines = iota
	askKept
	askName
	askActor
	askEnd
	askObject
	askForms
	answer
)

// Fields of a Question, without Held.
const (
	inQuestionLines set = 1 << iota
	inQuestionNumber
	inQuestionKept
	inQuestionClass
	inQuestionName
	inQuestionActor
	inQuestionLabel
	inQuestionFirst
	inQuestionEnd
	inQuestionObject
	inQuestionEvent
	inQuestionGone
	inQuestionLacks
)

var questions = [...]set{
	askLines:  inQuestionLines | inQuestionNumber | inQuestionEvent,
	askKept:   inQuestionKept,
	askName:   inQuestionClass | inQuestionName,
	askActor:  inQuestionActor,
	askEnd:    inQuestionEnd,
	askObject: inQuestionObject | inQuestionClass | inQuestionName,
	answer:    inQuestionClass | inQuestionActor | inQuestionLabel | inQuestionFirst | inQuestionGone | inQuestionLacks,
}

func (q *Question) has() set {
	return in(inQuestionLines, len(q.Lines) > 0) | in(inQuestionNumber, q.Number != 0) | in(inQuestionKept, !q.Kept.IsNull()) | in(inQuestionClass, q.Class != "") |
		in(inQuestionName, q.Name != "") | in(inQuestionActor, !q.Actor.IsNull()) | in(inQuestionLabel, q.Label != "") | in(inQuestionFirst, !q.First.IsNull()) |
		in(inQuestionEnd, q.End != nil) | in(inQuestionObject, q.Object != 0) | in(inQuestionEvent, q.Event != event.EventID{}) |
		in(inQuestionGone, q.Gone) | in(inQuestionLacks, q.Lacks)
}

func (q *Question) put(e *codec.Encoder, kind Kind) {
	form := answer
	if kind == Ask {
		form = q.form()
		e.Uint(uint64(form))
	}
	f := questions[form]
	// Invariant: a question has only fields of its form. The addressee sets Held.
	if q.has()&^f != 0 || q.Held != nil {
		assert.Unreachable("across: question of form %d with the fields %b", form, q.has())
	}
	if f&inQuestionLines != 0 {
		putLines(e, q.Lines)
	}
	if f&inQuestionNumber != 0 {
		putNumber(e, q.Number)
	}
	if f&inQuestionKept != 0 {
		putActor(e, q.Kept)
	}
	if f&inQuestionClass != 0 {
		e.String(q.Class)
	}
	if f&inQuestionName != 0 {
		e.String(q.Name)
	}
	if f&inQuestionActor != 0 {
		putActor(e, q.Actor)
	}
	if f&inQuestionLabel != 0 {
		e.String(q.Label)
	}
	if f&inQuestionFirst != 0 {
		putActor(e, q.First)
	}
	if f&inQuestionEnd != 0 {
		q.End.put(e)
	}
	if f&inQuestionObject != 0 {
		putNumber(e, q.Object)
	}
	if f&inQuestionEvent != 0 {
		putEvent(e, q.Event)
	}
	if f&inQuestionGone != 0 {
		e.Bool(q.Gone)
	}
	if f&inQuestionLacks != 0 {
		e.Bool(q.Lacks)
	}
}

// form returns what is asked.
func (q *Question) form() int {
	switch {
	case len(q.Lines) > 0:
		return askLines
	case !q.Kept.IsNull():
		return askKept
	case !q.Actor.IsNull():
		return askActor
	case q.End != nil:
		return askEnd
	case q.Object != 0:
		return askObject
	}
	return askName
}

func getQuestion(d *codec.Decoder, kind Kind) *Question {
	form := answer
	if kind == Ask {
		form = int(d.Enum(askForms))
	}
	f, q := questions[form], &Question{}
	if f&inQuestionLines != 0 {
		q.Lines = list(d, getLine)
	}
	if f&inQuestionNumber != 0 {
		q.Number = getNumber(d)
	}
	if f&inQuestionKept != 0 {
		q.Kept = getActor(d)
	}
	if f&inQuestionClass != 0 {
		q.Class = d.String()
	}
	if f&inQuestionName != 0 {
		q.Name = d.String()
	}
	if f&inQuestionActor != 0 {
		q.Actor = getActor(d)
	}
	if f&inQuestionLabel != 0 {
		q.Label = d.String()
	}
	if f&inQuestionFirst != 0 {
		q.First = getActor(d)
	}
	if f&inQuestionEnd != 0 {
		q.End = getEnd(d)
	}
	if f&inQuestionObject != 0 {
		q.Object = getNumber(d)
	}
	if f&inQuestionEvent != 0 {
		q.Event = getEvent(d)
	}
	if f&inQuestionGone != 0 {
		q.Gone = d.Bool()
	}
	if f&inQuestionLacks != 0 {
		q.Lacks = d.Bool()
	}
	given(d, kind != Ask || q.form() == form, "field of a question")
	return q
}

func (x *End) put(e *codec.Encoder) {
	putEvent(e, x.First)
	e.Bool(x.Client)
	if e.Bool(x.Failed != nil); x.Failed != nil {
		putFailure(e, x.Failed)
	}
	e.Blob(x.Result)
	e.String(x.Class)
	e.String(x.Method)
	e.String(x.Text)
}

func getEnd(d *codec.Decoder) *End {
	x := &End{First: getEvent(d), Client: d.Bool()}
	if d.Bool() {
		x.Failed = getFailure(d)
	}
	x.Result, x.Class, x.Method, x.Text = d.Blob(), d.String(), d.String(), d.String()
	return x
}
