package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// keptTurns is how many turns a working memory keeps.
const keptTurns = 10

// kept is what the database holds of deeds: of each, by what it was done to, how often.
type kept struct {
	history, last string         // of the conversation: what was said, a line each, and what was confirmed
	quarantines   map[string]int // in force
	erasures      map[string]int // ERASURE messages
	revoked       map[string]int
	audits        map[string]int // of the audit sessions, by kind and subject
	records       map[string]bool
}

// readKept reads it from the database itself.
func readKept(ctx context.Context, conn *pgx.Conn, conversation string) (k kept, err error) {
	k = kept{quarantines: map[string]int{}, erasures: map[string]int{}, revoked: map[string]int{}, audits: map[string]int{}, records: map[string]bool{}}
	if err := conn.QueryRow(ctx, `SELECT COALESCE((SELECT string_agg(t.turn->>'content', E'\n' ORDER BY t.place)
			FROM jsonb_array_elements(c.history) WITH ORDINALITY AS t (turn, place)), ''), COALESCE(c.state->>'last', '')
		FROM memory.conversations c WHERE c.id = $1`, conversation).Scan(&k.history, &k.last); err != nil {
		return k, fmt.Errorf("the working memory: %w", err)
	}
	for sql, counts := range map[string]map[string]int{
		`SELECT '', q.message::TEXT FROM memory.quarantines q WHERE q.released_at IS NULL`: k.quarantines,
		`SELECT m.hash::TEXT, r.ref_hash::TEXT FROM log.messages m JOIN log.message_refs r ON r.message_hash = m.hash
			WHERE m.event_type = 'erasure'`: k.erasures,
		`SELECT '', t.id::TEXT FROM auth.tokens t WHERE t.revoked_at IS NOT NULL`: k.revoked,
		`SELECT m.hash::TEXT, (m.attachments->>'kind') || ' ' || COALESCE(m.attachments->>'message', m.attachments->>'token', '')
			FROM log.messages m WHERE m.event_type = 'system' AND m.attachments->>'kind' IN ('quarantine', 'erasure', 'token.revoked')`: k.audits,
	} {
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			return k, err
		}
		var record, subject string
		if _, err := pgx.ForEachRow(rows, []any{&record, &subject}, func() error {
			counts[subject]++
			k.records[record] = true
			return nil
		}); err != nil {
			return k, err
		}
	}
	return k, nil
}

// judgeDeeds holds what is kept against what was acknowledged, and tells what is wrong: each deed has been done, once, and nothing
// else has.
func judgeDeeds(deeds []deed, k kept) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var said []string
	last := ""
	done := map[string]int{}
	for _, d := range deeds {
		done[d.Kind]++
		switch d.Kind {
		case deedExchange:
			said, last = append(said, strings.Split(d.Content, "\n")...), d.Hash
		case deedQuarantine:
			if k.quarantines[d.Hash] != 1 || k.audits["quarantine "+d.Hash] != 1 {
				problem("the quarantine of %s is there %d times, and on record %d times", d.Hash, k.quarantines[d.Hash], k.audits["quarantine "+d.Hash])
			}
		case deedErasure:
			if k.erasures[d.Hash] != 1 || k.audits["erasure "+d.Hash] != 1 {
				problem("the erasure of %s is there %d times, and on record %d times", d.Hash, k.erasures[d.Hash], k.audits["erasure "+d.Hash])
			}
		case deedRevocation:
			if k.revoked[d.Hash] != 1 || k.audits["token.revoked "+d.Hash] != 1 {
				problem("the token %s is revoked %d times, and on record %d times", d.Hash, k.revoked[d.Hash], k.audits["token.revoked "+d.Hash])
			}
		}
	}
	if want := strings.Join(said[max(0, len(said)-keptTurns):], "\n"); want != k.history || last != k.last {
		problem("the working memory is %q with %q, want %q with %q", k.history, k.last, want, last)
	}
	for kind, counts := range map[string]map[string]int{deedQuarantine: k.quarantines, deedErasure: k.erasures, deedRevocation: k.revoked} {
		if len(counts) != done[kind] {
			problem("%d of the kind %s are done, and %d were acknowledged", len(counts), kind, done[kind])
		}
	}
	if all := done[deedQuarantine] + done[deedErasure] + done[deedRevocation]; len(k.audits) != all {
		problem("%d deeds are on record, and %d were acknowledged", len(k.audits), all)
	}
	slices.Sort(problems)
	return problems
}
