package chaos

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A message that is refused for good is given up and told; one that is refused for the moment is repeated.
func TestDeliver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer func(try int64) (status int, text string)
		want   string // what is told; none: it is acknowledged
	}{
		{name: "at once", answer: func(int64) (int, string) { return 200, appended }},
		{name: "after a while", answer: func(try int64) (int, string) {
			switch {
			case try < 3:
				return 503, refusedWith(unavailable)
			case try < 5:
				return 503, "stopping"
			case try < 7:
				return 200, refusedWith(internal)
			}
			return 200, appended
		}},
		{name: "a lasting conflict", answer: func(int64) (int, string) { return 200, refusedWith("CONFLICT") }, want: "CONFLICT no"},
		{name: "a lasting defect", answer: func(int64) (int, string) { return 200, refusedWith(internal) }, want: "INTERNAL no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				status, text := test.answer(tries.Add(1))
				w.WriteHeader(status)
				fmt.Fprint(w, text)
			}))
			defer listener.Close()
			j, err := openJournal(filepath.Join(t.TempDir(), "journal"))
			if err != nil {
				t.Fatal(err)
			}
			defer j.close()
			c := &crew{journal: j, lasting: time.Second, heads: map[string]int{}}
			v := &server{addr: strings.TrimPrefix(listener.URL, "http://")}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := c.deliver(ctx, 0, v.client(1), message{Session: "s", Content: "one"}); err != nil {
				t.Fatalf("deliver() = %v", err)
			}
			told := strings.Join(c.given, "; ")
			if !strings.Contains(told, test.want) || (told == "") != (test.want == "") {
				t.Errorf("told = %q, want %q", told, test.want)
			}
			if acknowledged := j.count() == 1 && c.head("s") == 7; acknowledged != (test.want == "") {
				t.Errorf("%d are in the journal, and %d acknowledged", j.count(), c.head("s"))
			}
		})
	}
}

const appended = `{"data":{"appendMessages":[{"hash":"h","sequence":7}]}}`

func refusedWith(code string) string {
	return fmt.Sprintf(`{"errors":[{"message":"no","extensions":{"code":%q}}]}`, code)
}

// Things are well again once each client was answered, to a request that it began afterwards.
func TestAllOK(t *testing.T) {
	t.Parallel()
	gone := time.Now()
	at := func(who int, began, came time.Duration, code string) answer {
		return answer{who, gone.Add(came), came - began, code}
	}
	for _, test := range []struct {
		name string
		list []answer
		want time.Duration
		ok   bool
	}{
		{name: "none"},
		{name: "the first of two", list: []answer{at(0, 1, 2, answered), at(0, 3, 4, answered)}},
		{name: "both", list: []answer{at(0, 1, 2, answered), at(1, 1, 5, answered), at(1, 6, 7, answered)}, want: 5, ok: true},
		{name: "begun before", list: []answer{at(0, 1, 2, answered), at(1, -1, 5, answered)}},
		{name: "refused at first", list: []answer{at(0, 1, 2, answered), at(1, 1, 3, unavailable), at(1, 4, 9, answered)}, want: 9, ok: true},
		{name: "refused", list: []answer{at(0, 1, 2, answered), at(1, 1, 3, unavailable)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := (&answers{all: test.list}).allOK(gone, 2)
			if ok != test.ok || ok && got != test.want {
				t.Errorf("allOK() = %s, %t, want %s, %t", got, ok, test.want, test.ok)
			}
		})
	}
}
