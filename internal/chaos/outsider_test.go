package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// An outsider writes as themself, with their own token, and the journal has it: twice the same is two messages.
func TestOutsider(t *testing.T) {
	t.Parallel()
	var tokens, owners, keys []string
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Query     string
			Variables struct {
				I struct{ Player string }
				M []message
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
			return
		}
		switch {
		case strings.Contains(body.Query, "createToken"):
			owners = append(owners, body.Variables.I.Player)
			fmt.Fprint(w, `{"data":{"createToken":{"secret":"theirs"}}}`)
		case strings.Contains(body.Query, "session("):
			fmt.Fprintf(w, `{"data":{"session":{"messages":{"edges":[{"node":{"hash":"h","content":"for %s"}}]}}}}`, owners[0])
		default:
			m := body.Variables.M[0]
			tokens, owners, keys = append(tokens, r.Header.Get("Authorization")), append(owners, m.Owner), append(keys, m.Key)
			fmt.Fprint(w, appended)
		}
	}))
	defer listener.Close()
	j, err := openJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	v := &server{addr: strings.TrimPrefix(listener.URL, "http://"), token: "the administrator's"}
	c := &crew{client: v.client(1), journal: j}
	o, err := c.outsider(t.Context(), "somebody")
	for range 2 {
		if err == nil {
			err = o.write(t.Context(), "the same")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, token := range tokens {
		if token != "Bearer theirs" || owners[i+1] != owners[0] {
			t.Errorf("message %d is written with %q by %s, want with their own token by %s", i, token, owners[i+1], owners[0])
		}
	}
	if len(keys) != 3 || keys[1] == keys[2] || j.count() != 4 { // with the token's own entry
		t.Errorf("%d messages with the keys %v, %d in the journal, want 3 of different keys, 4", len(tokens), keys, j.count())
	}
}
