package batch_test

import (
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/batch"
)

// Programs of several packages share Go packages, whose names meet: each keeps what is its own, and what it prints is
// byte for byte what it has printed, UTF-8 or not.
func TestProgramsOfSeveralPackages(t *testing.T) {
	shelf := func(title string) batch.Source {
		return batch.Source{Package: "shelf", File: "shelf.aeon", Text: []byte(`package shelf

enum Size { SMALL, LARGE }

const string TITLE = "` + title + `";

class Book {
	string Name;
	Size Wide;
}

actorclass Shelf {
	vector<Book> books;

	int Add(Book b) {
		require(b.Name != "", "no name on \xff");
		books.push(b);
		return books.size();
	}
}
`)}
	}
	entry := batch.Source{Package: "entry", File: "entry.aeon", Text: []byte(`package entry

import other "./shelf"

class Book {
	other.Book inner;
}

void main() {
	other.Shelf s = new other.Shelf();
	Book b = new Book(new other.Book("\xfe", other.Size.LARGE));
	print(other.TITLE, await event s.Add(b.inner), b.inner);
	await event s.Add(new other.Book("", other.Size.SMALL));
}
`)}
	var programs []batch.Program
	for _, title := range []string{"one", "two"} {
		p, diags := batch.ParseAll(title, []batch.Source{shelf(title), entry})
		if diag.HasErrors(diags) {
			t.Fatal(diags)
		}
		programs = append(programs, p)
	}
	programs = append(programs, parse(t, "prints", sources[0].text))
	for _, c := range []batch.Compiler{{}, {Apart: true}, {Stored: true}} {
		x, err := c.Compile(t.Context(), programs)
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := x.Run(t.Context(), x.Jobs(0))
		if err != nil {
			t.Fatal(err)
		}
		for i, title := range []string{"one", "two"} {
			want := title + " 1 Book{Name: \xfe, Wide: LARGE}\nfailed: no name on \xff at shelf.aeon:16 < entry.aeon:13\n"
			if got := batch.Text(&outcomes[i]); got != want {
				t.Errorf("%+v: got %q, want %q", c, got, want)
			}
		}
	}
}
