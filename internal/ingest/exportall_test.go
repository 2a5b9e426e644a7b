package ingest_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/verifier"
)

// openAt gives a log that is there, and seals it if there is a directory for what that needs.
func openAt(t *testing.T, url, dir string) (d *db.DB, policy seal.Policy) {
	t.Helper()
	d, err := db.Open(t.Context(), url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(d.Close)
	if dir == "" {
		return d, policy
	}
	sealer, err := d.StartSealer(t.Context(), db.SealerConfig{Key: filepath.Join(dir, "log.key"), Checkpoint: filepath.Join(dir, "checkpoint")})
	if err != nil {
		t.Fatalf("StartSealer: %v", err)
	}
	key, err := note.NewVerifier(sealer.State().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return d, seal.Policy{Origin: key.Name(), Log: key}
}

// sealed exports with proofs, once everything is sealed.
func sealed(t *testing.T, d *db.DB, what ingest.What) (string, ingest.Exported) {
	t.Helper()
	var err error
	what.Proofs = true
	if what.Leaves, err = d.AwaitSeal(t.Context(), time.Minute); err != nil {
		t.Fatalf("AwaitSeal: %v", err)
	}
	text, done, err := tryExport(t, d, what)
	if err != nil {
		t.Fatalf("Export: %v", err)
	}
	return text, done
}

func verify(t *testing.T, text string, policy seal.Policy) verifier.Report {
	t.Helper()
	report, err := verifier.CheckExport(t.Context(), strings.NewReader(text), policy, verifier.Options{})
	if err != nil || !report.Valid {
		t.Fatalf("CheckExport = %+v, %v, want it valid", report, err)
	}
	return report
}

// The whole log comes out in pages, is complete, and goes into another log to the same hashes, but for what was erased
// and what follows that.
func TestExportAll(t *testing.T) {
	t.Parallel()
	from, policy := openAt(t, dbtest.New(t), t.TempDir())
	to := open(t)
	if _, err := ingest.Sample(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 2345 { // three pages, and ten tiles
		fmt.Fprintf(&b, `{"sessionHash":"s%d","ownerId":"p","content":"message %d","attachments":{"b":1.50,"a":"\u0001é"}}`+"\n", i%3, i)
	}
	load(t, from, b.String())
	messages := all(t, from)
	erased := messages[len(messages)-30]
	if _, err := from.Erase(t.Context(), erased.Hash, chain.Sum([]byte("admin")), "asked for it"); err != nil {
		t.Fatal(err)
	}

	text, done := sealed(t, from, ingest.What{})
	total := int64(len(messages) + 1)
	if done.Messages != total || done.Erased != 1 || done.Later != 0 || done.Checkpoint.Size != total {
		t.Errorf("Export = %+v, want %d messages, one of them erased, and none later", done, total)
	}
	report := verify(t, text, policy)
	if !report.Complete || report.Messages != total || report.Erased != 1 {
		t.Errorf("CheckExport = %+v, want it complete", report)
	}

	summary := load(t, to, text)
	skipped := 11 // of the 10 that follow in its session, one records the erasure
	if summary.Skipped != skipped || summary.Messages != int(total)-skipped || summary.Present != 0 || summary.Records == 0 {
		t.Errorf("imported: %s, want all but %d", summary, skipped)
	}
	sessions := map[chain.Hash]bool{erased.SessionHash: true}
	for _, m := range messages {
		if !sessions[m.SessionHash] {
			sessions[m.SessionHash] = true
			if export(t, from, m.SessionHash) != export(t, to, m.SessionHash) {
				t.Errorf("session %s exports to other bytes from its copy", m.SessionHash)
			}
		}
	}
	if again := load(t, to, text); again.Messages != 0 || again.Skipped != skipped {
		t.Errorf("imported again: %s, want nothing new and %d skipped", again, skipped)
	}
	// Where they are, they are found, though one is erased.
	if again := load(t, from, text); again.Messages != 0 || again.Skipped != 0 || again.Present != int(total) {
		t.Errorf("imported into the same log: %s, want all there", again)
	}
}

// A checkpoint is of one moment: what it does not cover is left out, and said to be.
func TestExportLater(t *testing.T) {
	t.Parallel()
	url := dbtest.New(t)
	first, policy := openAt(t, url, t.TempDir())
	load(t, first, line("a", 1)+line("b", 1)+line("a", 2))
	leaves, err := first.AwaitSeal(t.Context(), time.Minute)
	if err != nil || leaves != 3 {
		t.Fatalf("AwaitSeal = %d, %v, want 3", leaves, err)
	}
	first.Close() // and with it its sealer

	d, _ := openAt(t, url, "")
	load(t, d, line("a", 3)+line("a", 4)+line("c", 1))
	if _, err := d.AwaitSeal(t.Context(), time.Minute); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "3 messages are not sealed yet") {
		t.Errorf("AwaitSeal without a sealer = %v, want at once that 3 messages are not sealed", err)
	}
	text, done, err := tryExport(t, d, ingest.What{Proofs: true, Leaves: leaves})
	if err != nil || done.Messages != 3 || done.Later != 3 {
		t.Fatalf("Export = %+v, %v, want three messages and three later", done, err)
	}
	if r := verify(t, text, policy); !r.Complete || r.Messages != 3 || r.Sessions != 2 {
		t.Errorf("CheckExport = %+v, want the three messages of the checkpoint", r)
	}
	session := ingest.SessionHash("a")
	text, _, err = tryExport(t, d, ingest.What{Proofs: true, Leaves: leaves, Session: &session})
	if err != nil {
		t.Fatal(err)
	}
	if r := verify(t, text, policy); r.Complete || r.Messages != 2 || fmt.Sprint(r.Missing) != "[1]" {
		t.Errorf("CheckExport = %+v, want a part of two messages", r)
	}
}

func line(session string, n int) string {
	return fmt.Sprintf(`{"sessionHash":%q,"ownerId":"p","content":"message %d"}`+"\n", session, n)
}

// Before there is a checkpoint, there are no proofs.
func TestExportUnsealed(t *testing.T) {
	t.Parallel()
	d := open(t)
	load(t, d, line("a", 1))
	if _, _, err := tryExport(t, d, ingest.What{Proofs: true}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Export = %v, want that there is no checkpoint", err)
	}
}

// Exports of before had JSON where there are texts now; and only exports have texts.
func TestImportOfJSON(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	load(t, from, `{"sessionHash":"s","ownerId":"p","content":"c","attachments":{"n":1.50,"a":[1,2]},"ambient":{"b":null}}`)
	text := export(t, from, ingest.SessionHash("s"))
	old := strings.NewReplacer(`"attachmentsText":"{\"a\": [1, 2], \"n\": 1.50}"`, `"attachments":{"n":1.50,"a":[1,2]}`,
		`"ambientText":"{\"b\": null}"`, `"ambient":{"b":null}`).Replace(text)
	if strings.Contains(old, "Text") || old == text {
		t.Fatalf("the export is %s", text)
	}
	load(t, to, old)
	if back := export(t, to, ingest.SessionHash("s")); back != text {
		t.Errorf("exported again, the session is\n%s\nand was\n%s", back, text)
	}
	for name, c := range map[string]struct{ line, want string }{
		"text without a hash": {`{"sessionHash":"s","ownerId":"p","content":"c","attachmentsText":"{}"}`, "attachmentsText: is for exports"},
		"text and JSON":       {strings.Replace(text[strings.Index(text, `{"hash"`):], `"attachmentsText"`, `"attachments":{},"attachmentsText"`, 1), "attachmentsText: is there, and so is attachments"},
		"another digest":      {strings.Replace(text[strings.Index(text, `{"hash"`):], `"contentDigest":"`, `"contentDigest":"0`, 1), "contentDigest: is not that of"},
		"other refs":          {strings.Replace(text[strings.Index(text, `{"hash"`):], `"refsDigest":"`, `"refsDigest":"0`, 1), "refsDigest: is not that of the refs"},
		"proof alone":         {`{"sessionHash":"s","ownerId":"p","content":"c","proof":"p"}`, "hash: is missing"},
	} {
		_, err := ingest.Import(t.Context(), open(t), "f", strings.NewReader(c.line), ingest.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Import = %v, want %q", name, err, c.want)
		}
	}
}
