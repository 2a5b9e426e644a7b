package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sealLimit is how long sealing may take to catch up before a check.
const sealLimit = time.Minute

// verdict is what checks have found, added up.
type verdict struct {
	checks       int
	acknowledged int
	lost         int // acknowledged, and not in the log with their content
	doubled      int // twice in the log, or in it and not acknowledged
	rows         int // of the log
	deeds        int // that were acknowledged
	problems     []string
}

// maxProblems is how many are told.
const maxProblems = 3

func (v *verdict) problem(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

// check lets the crew rest, holds the log against the journal, and verifies it whole. database is where the log is
// read, past the server.
func (c *crew) check(ctx context.Context, o *observer, database string, sum *verdict) error {
	resume := c.rest()
	defer resume()
	c.mu.Lock()
	failed, given := c.failed, c.given
	c.given = nil
	c.mu.Unlock()
	if failed != nil {
		return failed
	}
	for _, problem := range given {
		sum.problem("%s", problem)
	}
	sum.checks++
	if err := c.compare(ctx, database, sum); err != nil {
		return err
	}
	if err := c.verify(ctx, sum); err != nil {
		return err
	}
	for _, problem := range o.consistent(ctx) {
		sum.problem("%s", problem)
	}
	return ctx.Err()
}

// compare reads the log from the database itself.
func (c *crew) compare(ctx context.Context, database string, sum *verdict) error {
	missing, deeds, err := c.journal.read()
	if err != nil {
		return err
	}
	sum.acknowledged, sum.deeds = len(missing), len(deeds)
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var records map[string]bool
	if c.deeds != nil {
		k, err := readKept(ctx, conn, c.deeds.conversation)
		if err != nil {
			return err
		}
		for _, problem := range judgeDeeds(deeds, k) {
			sum.lost++
			sum.problem("%s", problem)
		}
		records = k.records
		for _, d := range deeds {
			if e, ok := missing[d.Hash]; ok && d.Kind == deedErasure {
				e.Content = ""
				missing[d.Hash] = e
			}
		}
	}
	rows, err := conn.Query(ctx, "SELECT hash::text, session_hash::text, COALESCE(content, '') FROM log.messages")
	if err != nil {
		return err
	}
	defer rows.Close()
	sum.rows = 0
	contents := map[string]bool{}
	for rows.Next() {
		var e entry
		if err := rows.Scan(&e.Hash, &e.Session, &e.Content); err != nil {
			return err
		}
		sum.rows++
		if records[e.Hash] {
			continue
		}
		want, ok := missing[e.Hash]
		twice := e.Content != "" && contents[e.Content]
		contents[e.Content] = true
		switch {
		case twice, !ok && !c.open:
			sum.doubled++
			sum.problem("twice in the log, or not acknowledged: %s", e.Content[:min(len(e.Content), 60)])
		case ok && want != e:
			sum.lost++
			sum.problem("acknowledged as %v, in the log as %v", want, e)
		}
		delete(missing, e.Hash)
	}
	sum.lost += len(missing)
	for _, e := range missing {
		sum.problem("not in the log: %s", e.Content[:min(len(e.Content), 60)])
	}
	return rows.Err()
}

// verify asks the server, once all is sealed.
func (c *crew) verify(ctx context.Context, sum *verdict) error {
	var data struct {
		Seal struct {
			Condition  string  `json:"condition"`
			Problem    *string `json:"problem"`
			Checkpoint *struct {
				Size int `json:"size"`
			} `json:"checkpoint"`
		} `json:"seal"`
		VerifyLog struct {
			Valid    bool `json:"valid"`
			Messages int  `json:"messages"`
			Sealed   int  `json:"sealed"`
			Breaks   []struct {
				Reason string `json:"reason"`
				Detail string `json:"detail"`
			} `json:"breaks"`
		} `json:"verifyLog"`
	}
	var last error
	if _, err := until(ctx, sealLimit, "all is sealed", func() bool {
		last = c.client.ask(ctx, "{ seal { condition problem checkpoint { size } } }", nil, &data)
		newest := data.Seal.Checkpoint
		return last == nil && data.Seal.Condition == "SEALING" && data.Seal.Problem == nil && newest != nil && newest.Size == sum.rows
	}); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sum.problem("%v: %+v %v", err, data.Seal, last)
		return nil
	}
	if err := c.client.ask(ctx, "{ verifyLog { valid messages sealed breaks { reason detail } } }", nil, &data); err != nil {
		return fmt.Errorf("verifyLog: %w", err)
	}
	v := data.VerifyLog
	if !v.Valid || v.Messages != sum.rows || v.Sealed != v.Messages {
		sum.problem("verifyLog: %+v, of %d", v, sum.rows)
	}
	return nil
}

// nothingLost adds the row that every fault has.
func (s *stage) nothingLost(done string, times int, sum *verdict, o *observer) {
	measured := fmt.Sprintf("%d acknowledged, %d lost, %d doubled; valid %d of %d times; %d checkpoints", sum.acknowledged, sum.lost,
		sum.doubled, sum.checks, sum.checks, o.seen())
	if sum.deeds > 0 {
		measured += fmt.Sprintf("; %d exchanges, quarantines, erasures and revocations done, once each", sum.deeds)
	}
	ok := sum.lost == 0 && sum.doubled == 0 && len(sum.problems) == 0 && sum.acknowledged > 0 && sum.checks > 0
	if len(sum.problems) > 0 {
		measured = fmt.Sprintf("%d acknowledged, %d lost, %d doubled: %q", sum.acknowledged, sum.lost, sum.doubled, sum.problems)
	}
	s.found(done, times, "the log is what was acknowledged, once; verifyLog valid; checkpoints extend the earlier ones", measured, ok,
		map[string]float64{"acknowledged": float64(sum.acknowledged), "lost": float64(sum.lost), "doubled": float64(sum.doubled),
			"checks": float64(sum.checks), "checkpoints": float64(o.seen()), "deeds": float64(sum.deeds)})
}
