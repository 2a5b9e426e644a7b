package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// Command is what a user asks for.
type Command struct {
	Pins     Pins
	KeyFile  string // holds the log's key, which goes into Pins
	State    string // file of the checkpoint that was kept; empty: none is
	Complete bool   // of an export: see Options
	JSON     bool   // write the report as JSON

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// prepare reads what to believe.
func (c *Command) prepare() (seal.Policy, *seal.Checkpoint, error) {
	key, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return seal.Policy{}, nil, fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	c.Pins.Key = string(key)
	policy, err := c.Pins.Policy()
	if err != nil || c.State == "" {
		return policy, nil, err
	}
	text, err := os.ReadFile(c.State)
	if errors.Is(err, fs.ErrNotExist) {
		return policy, nil, nil
	}
	if err != nil {
		return policy, nil, fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	own := policy
	own.Quorum = 0 // it was enough when it was kept
	older, err := seal.Open(string(text), own)
	if err != nil {
		return policy, nil, fault.Input("--state", "%s holds no checkpoint of this log and key: %s", c.State, err)
	}
	return policy, &older, nil
}

// keep writes the checkpoint that was found to hold, if it is not older than the one that is kept.
func (c *Command) keep(older, newer *seal.Checkpoint) error {
	if c.State == "" || newer == nil || older != nil && newer.Size < older.Size {
		return nil
	}
	if err := sealfile.Replace(c.State, newer.Note); err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot write %s: %v", c.State, err)
	}
	return nil
}

// File checks the export at path ("-": standard input), and shows how far it is on Stderr. An error says what is wrong
// with it in a word; the report has said it in full.
func (c *Command) File(ctx context.Context, path string) error {
	policy, older, err := c.prepare()
	if err != nil {
		return err
	}
	name, in, size := "standard input", c.Stdin, int64(-1)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return fault.Wrap(err, fault.BadUserInput, "%s", err)
		}
		defer file.Close()
		name, in = path, file
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	meter := ingest.NewMeter(c.Stderr, "verify "+name, size, "")
	report, err := CheckExport(ctx, meter.Reader(in), policy, Options{Complete: c.Complete, Older: older})
	meter.Done()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := c.show(report, report.text()); err != nil {
		return err
	}
	if !report.Valid {
		return fault.New(fault.Conflict, "%s does not hold", name)
	}
	if older != nil && report.Leaves < report.Checkpoint.Size && older.Size < report.Checkpoint.Size {
		return nil // whether it extends the one that was kept did not show
	}
	return c.keep(older, report.kept)
}

// Server checks the server at an address, and shows how far it is on Stderr. For the rest it is as File.
func (c *Command) Server(ctx context.Context, url, token string) error {
	policy, older, err := c.prepare()
	if err != nil {
		return err
	}
	var meter *ingest.Meter
	part, shown := "", int64(0)
	report, err := CheckServer(ctx, Server{URL: url, Token: token, Policy: policy, Older: older, Progress: func(what string, done, total int64) {
		if what != part {
			if meter != nil {
				meter.Done()
			}
			meter, part, shown = ingest.NewMeter(c.Stderr, what, total, "messages"), what, 0
		}
		meter.Add(done - shown)
		shown = done
	}})
	if meter != nil {
		meter.Done()
	}
	if err != nil {
		return err
	}
	if err := c.show(report, report.text()); err != nil {
		return err
	}
	if !report.Valid {
		return fault.New(fault.Conflict, "the log at %s does not hold", url)
	}
	return c.keep(older, report.kept)
}

func (c *Command) show(report any, text string) error {
	if !c.JSON {
		_, err := io.WriteString(c.Stdout, text)
		return err
	}
	encoder := json.NewEncoder(c.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

// text says it in words.
func (r *Report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", count(r.Messages, "message"), count(r.Sessions, "session"))
	if r.Erased > 0 {
		fmt.Fprintf(&b, ", %d of them erased on record", r.Erased)
	}
	if r.Records > 0 {
		fmt.Fprintf(&b, "; %s", count(r.Records, "record"))
	}
	if r.Components > 0 {
		fmt.Fprintf(&b, "; %s, which no hash covers", count(r.Components, "component"))
	}
	b.WriteByte('\n')
	r.Checkpoint.describe(&b)
	if c := r.Checkpoint; c != nil {
		if r.Leaves == c.Size {
			b.WriteString("all of them are in the file\n")
		} else {
			fmt.Fprintf(&b, "partial: %d of them are in the file; of the tree's leaves it lacks %s\n", r.Leaves, ranges(r.Missing))
		}
	}
	describe(&b, "", r.Breaks, r.Found)
	return b.String()
}

// text says it in words.
func (r *ServerReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server checked %s\n", count(r.Checked, "message"))
	r.Checkpoint.describe(&b)
	if r.Checkpoint != nil {
		fmt.Fprintf(&b, "read from the tree: %s of %s\n", count(r.Leaves, "message"), count(r.Sessions, "session"))
	}
	if r.Unsealed > 0 {
		fmt.Fprintf(&b, "%s not sealed yet, so only chained\n", count(r.Unsealed, "message"))
	}
	describe(&b, "the server says: ", r.OwnBreaks, int64(len(r.OwnBreaks)))
	describe(&b, "", r.Breaks, r.Found)
	if r.Valid {
		b.WriteString("no break was found\n")
	}
	return b.String()
}

func (s *Signed) describe(b *strings.Builder) {
	if s == nil {
		b.WriteString("no checkpoint that holds\n")
		return
	}
	fmt.Fprintf(b, "checkpoint of %s: %s, root %s", s.Origin, count(s.Size, "message"), s.Root)
	if len(s.Witnesses) > 0 {
		fmt.Fprintf(b, ", witnessed by %s", strings.Join(s.Witnesses, ", "))
	}
	b.WriteByte('\n')
}

func describe(b *strings.Builder, who string, list []Break, found int64) {
	for _, broken := range list {
		fmt.Fprintf(b, "BROKEN: %s%s\n", who, broken)
	}
	if more := found - int64(len(list)); more > 0 {
		fmt.Fprintf(b, "BROKEN: %sand %d more\n", who, more)
	}
}

func ranges(list []Range) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	if len(list) == MaxRanges {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
