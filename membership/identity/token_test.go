package identity

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A token that was read is the one that was written; the errors of others say what is wrong, and do not tell the secret.
func TestTokens(t *testing.T) {
	i, _ := formed(t)
	token := i.NewToken(time.Now().Add(time.Hour))
	text := token.Text()
	again, err := ParseToken(" " + text + "\n")
	if err != nil || again.Hash() != token.Hash() || again.Cluster != i.Cluster || again.Authority != FingerprintOf(i.ca) || !again.Expires.Equal(token.Expires) {
		t.Fatal(again, err)
	}
	if i.NewToken(token.Expires).Hash() == token.Hash() {
		t.Error("two tokens are the same")
	}
	if strings.Contains(fmt.Sprintf("%v %s", token, token), text[len(text)-20:]) {
		t.Error("a token that is printed tells its secret")
	}
	body := text[len(tokenPrefix)+len(i.Cluster)+1:]
	for _, c := range []struct{ text, want string }{
		{"", "begins with aeon-join-"},
		{"aeon-" + body, "begins with aeon-join-"},
		{tokenPrefix + body, "ends behind it"},
		{tokenPrefix + "-" + body, "has no cluster"},
		{text[:len(text)-1], fmt.Sprintf("has %d characters", len(body)-1)},
		{text + "a", fmt.Sprintf("has %d characters", len(body)+1)},
		{text[:len(text)-1] + "!", "in no token"},
		{text[:len(text)-9] + "\n" + text[len(text)-9:], "line end"},
		{text[:len(text)-9] + "\r\n" + text[len(text)-7:], "line end"}, // as long as a token
		{tokenPrefix + "a" + i.Cluster[1:] + "b-" + body, "wrong character"},
	} {
		_, err := ParseToken(c.text)
		fails(t, c.text, err, c.want)
		if err != nil && strings.Contains(err.Error(), body[:20]) {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
	for n := range body {
		b := []byte(text)
		at := len(text) - len(body) + n
		if b[at] = 'a'; text[at] == 'a' {
			b[at] = 'b'
		}
		if got, err := ParseToken(string(b)); err == nil && got.Hash() != token.Hash() { // the last one has bits that are not used
			t.Errorf("character %d is mistyped, and not missed", n)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add("aeon-join-x-" + strings.Repeat("a", tokenText.EncodedLen(tokenSize)))
	f.Add("aeon-join-")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			return
		}
		if again, err := ParseToken(token.Text()); err != nil || again.Hash() != token.Hash() {
			t.Error(err)
		}
	})
}
