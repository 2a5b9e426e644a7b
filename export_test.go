package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/verifier"
)

// keyFile keeps the log's public key as a verifier has it.
func (s *site) keyFile() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "log.pub")
	if err := os.WriteFile(file, s.send("GET", "/log.pub", "", nil).body, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// verifyFile gives what `verify FILE --key` finds of a file, and says of it.
func (s *site) verifyFile(key string, data []byte) (string, error) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	v := verifier.Command{Pins: verifier.Pins{Quorum: -1}, KeyFile: key, Stdout: &out, Stderr: &out}
	err := v.File(s.t.Context(), file)
	return out.String(), err
}

// What a member downloads is what the offline verifier accepts, with nobody's preferences but their own.
func TestDownloadedExportVerifies(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{}))
	s.sealAll()
	key, session := s.keyFile(), s.message.SessionHash.String()
	for name, token := range map[string]string{"client in": s.callers["client in"].token, "admin": s.admin} {
		got := s.send("GET", "/export?session="+session, token, nil)
		if got.status != http.StatusOK {
			t.Fatalf("GET /export for %s: %d %s", name, got.status, got.body)
		}
		if want := `attachment; filename="session-` + session[:16] + `.jsonl"`; got.header.Get("Content-Disposition") != want {
			t.Errorf("Content-Disposition = %q, want %q", got.header.Get("Content-Disposition"), want)
		}
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("Cache-Control = %q, want no-store", got.header.Get("Cache-Control"))
		}
		if text, err := s.verifyFile(key, got.body); err != nil {
			t.Errorf("the export for %s does not verify: %v\n%s", name, err, text)
		}
		if !bytes.Contains(got.body, []byte("the harbour is closed")) {
			t.Errorf("the export for %s has no content: %.300s", name, got.body)
		}
		if n, want := bytes.Count(got.body, []byte(`"tea"`)), map[string]int{"client in": 1, "admin": 3}[name]; n != want {
			t.Errorf("the export for %s tells the preferences of %d players, want %d", name, n, want)
		}
	}
}

// An error before the first byte is the API's.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{}))
	s.sealAll()
	session := s.message.SessionHash.String()
	for _, c := range []struct {
		name, query, token string
		status             int
		code               string
	}{
		{"no session", "", s.admin, 400, "BAD_USER_INPUT"},
		{"two sessions", "?session=" + session + "&session=" + session, s.admin, 400, "BAD_USER_INPUT"},
		{"no hash", "?session=x", s.admin, 400, "BAD_USER_INPUT"},
		{"not there", "?session=" + sumOf("nothing").String(), s.admin, 404, "NOT_FOUND"},
		{"hidden", "?session=" + session, s.callers["client out"].token, 404, "NOT_FOUND"},
		{"without verify", "?session=" + session, s.token(auth.Agent, ben, auth.LogRead), 403, "FORBIDDEN"},
		{"without log:read", "?session=" + session, s.token(auth.Agent, ben, auth.Verify), 403, "FORBIDDEN"},
		{"nobody", "?session=" + session, "", 401, "UNAUTHENTICATED"},
	} {
		for _, path := range []string{"/export" + c.query, "/stretch?after=0&" + strings.TrimPrefix(c.query, "?")} {
			got := s.send("GET", path, c.token, nil)
			if got.status != c.status || !strings.Contains(string(got.body), `"code":"`+c.code+`"`) || got.header.Get("Content-Disposition") != "" {
				t.Errorf("%s, %s: %d %q %s, want %d %s and no file", c.name, path, got.status, got.header.Get("Content-Disposition"), got.body, c.status, c.code)
			}
		}
	}
	for _, path := range []string{"/export?session=", "/stretch?after=0&session="} {
		var told []string // of a hidden session, and of one that is not there
		for _, named := range []string{session, sumOf("nothing").String()} {
			got := s.send("GET", path+named, s.callers["client out"].token, nil)
			got.header.Del("Date")
			told = append(told, strings.ReplaceAll(fmt.Sprint(got.status, got.header, string(got.body)), named, "NAMED"))
		}
		if told[0] != told[1] {
			t.Errorf("%s of a hidden session: %s, and of one that is not there: %s, want no difference", path, told[0], told[1])
		}
	}
	for _, after := range []string{"&after=", "&after=-1", "&after=x", "&upto=1&upto=2", "&upto=9007199254740992"} {
		got := s.send("GET", "/stretch?session="+session+after, s.admin, nil)
		if got.status != 400 || !strings.Contains(string(got.body), `"BAD_USER_INPUT"`) {
			t.Errorf("after %q: %d %s, want 400 BAD_USER_INPUT", after, got.status, got.body)
		}
	}
}

// A session of which what is on the way cannot be read to its end: the client sees that the file is not whole, and so does
// the verifier.
func TestCutExportIsNoExport(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{}))
	var last chain.Hash
	for range 3 { // pages of 1,000
		var drafts []chain.Draft
		for range chain.MaxDrafts {
			drafts = append(drafts, says(ana, "long", strings.Repeat("word ", 20)))
		}
		written := s.append(drafts...)
		last = written[len(written)-1].SessionHash
	}
	s.sealAll()
	key := s.keyFile()
	whole := s.send("GET", "/export?session="+last.String(), s.admin, nil)
	if text, err := s.verifyFile(key, whole.body); whole.status != http.StatusOK || err != nil {
		t.Fatalf("the whole export: %d, %v %s", whole.status, err, text)
	}
	// What proves the last messages is not what the tree was made of any more.
	runSQL(t, s.database, "ALTER TABLE seal.tiles DISABLE TRIGGER ALL")
	runSQL(t, s.database, "UPDATE seal.tiles SET hashes = sha256('other') || substring(hashes FROM 33) WHERE level = 0 AND n = 10")
	status, cut, err := s.download("/export?session=" + last.String())
	if status != http.StatusOK || err == nil || len(cut) == 0 || len(cut) >= len(whole.body) {
		t.Fatalf("the download gives %d, %d bytes of %d and %v, want it to begin and to be cut", status, len(cut), len(whole.body), err)
	}
	if text, err := s.verifyFile(key, cut); err == nil {
		t.Errorf("the verifier accepts %d of %d bytes: %s", len(cut), len(whole.body), text)
	}
}

// A download ends with its token, and so does one whose client takes its time: what was not sent by then does not come.
func TestDownloadEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{}))
	for range 3 { // more than is on its way to a client who reads nothing
		var drafts []chain.Draft
		for range 10 {
			drafts = append(drafts, says(ana, "large", strings.Repeat("word ", 200_000)))
		}
		s.append(drafts...)
	}
	s.sealAll()
	path := "/export?session=" + says(ana, "large", "").SessionHash.String()
	id, token := s.newToken(auth.Draft{Role: auth.Agent, Player: ana, Scopes: auth.AllScopes})
	cookie := s.signIn(token)
	listener := s.events(token, object{"query": "subscription { messageAppended { hash } }"})
	var begun []*http.Response
	for _, who := range []string{token, cookie} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		identify(r.Header, who)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("the download does not begin: %v, %+v", err, response)
		}
		defer response.Body.Close()
		begun = append(begun, response)
	}
	if _, err := s.RevokeToken(t.Context(), id, auth.Administrator()); err != nil {
		t.Fatal(err)
	}
	if e := <-listener; e.code() != "UNAUTHENTICATED" {
		t.Fatalf("the subscription gives %+v, want UNAUTHENTICATED", e)
	}
	for i, response := range begun {
		if body, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("download %d goes on to its end, %d bytes, after its token was revoked", i, len(body))
		}
	}
}

// download reads as much as comes.
func (s *site) download(path string) (int, []byte, error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
