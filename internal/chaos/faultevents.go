package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/ingest"
)

// How events are sent.
const (
	eventSenders = 16
	eventList    = 100
	eventThreads = 5 // that a sender alone writes to, beside the one of all senders
	eventSource  = "chaos"
	sharedThread = "of all"
)

// event is one that a sender has sent, and what became of it.
type event struct {
	Source    string            `json:"source"`
	Agent     string            `json:"agent"`
	User      string            `json:"user_id"`
	Channel   string            `json:"channel"`
	Thread    string            `json:"thread_id"`
	Type      string            `json:"event_type"`
	Role      string            `json:"role"`
	Tags      []string          `json:"tags"`
	Content   string            `json:"content"` // says whose it is, and which
	Payload   map[string]string `json:"payload"`
	hash      string
	delivered bool
}

func (e *event) session() string { return ingest.EventThread(e.Agent, e.User, e.Thread).String() }

// sender sends events in lists, one list after the other, each until it is acknowledged.
type sender struct {
	number int
	client *client
	sql    *inserter // nil: events are posted
	events []event
	again  int // lists that were posted once more, unanswered ones and others
}

// newSender makes so many events up. One in ten is of the thread that all senders write to. Half of the senders name each event,
// the others each list; who sends by SQL names each.
func newSender(number, events int, c *client, in *inserter) *sender {
	s := &sender{number: number, client: c, sql: in, events: make([]event, events)}
	for i := range s.events {
		e := &s.events[i]
		*e = event{
			Source: eventSource, Agent: "agent", User: fmt.Sprintf("user %d", number), Channel: "webchat", Thread: fmt.Sprintf("thread %d", i%eventThreads),
			Type: "message", Role: []string{"user", "assistant"}[i/eventThreads%2], Tags: []string{"chaos"},
			Content: fmt.Sprintf("sender %d, event %d", number, i), Payload: map[string]string{"session_id": fmt.Sprint(number)},
		}
		if i%10 == 9 {
			e.User, e.Thread = "everybody", sharedThread
		}
		if number%2 == 0 || in != nil {
			e.Payload["backend_message_id"] = fmt.Sprintf("%d-%d", number, i)
		}
	}
	return s
}

// send sends all, and counts the lists that are acknowledged. One in four is sent once more afterwards, as if the answer had
// been lost: it is the same messages. What came by SQL is posted then: it is the same whichever way it comes.
func (s *sender) send(ctx context.Context, acknowledged *atomic.Int64) error {
	for n, list := range slices.Collect(slices.Chunk(s.events, eventList)) {
		body, err := json.Marshal(list)
		if err != nil {
			return err
		}
		times := 1
		if rand.IntN(4) == 0 {
			times, s.again = 2, s.again+1
		}
		for try := range times {
			var hashes []string
			if s.sql != nil && try == 0 {
				hashes, err = s.sql.insert(ctx, list)
			} else {
				hashes, err = s.post(ctx, body, fmt.Sprintf("list %d of %d", n, s.number))
			}
			if err != nil {
				return fmt.Errorf("sender %d, list %d: %w", s.number, n, err)
			}
			if len(hashes) != len(list) {
				return fmt.Errorf("sender %d, list %d: %d hashes for %d events", s.number, n, len(hashes), len(list))
			}
			for i := range list {
				if list[i].delivered && list[i].hash != hashes[i] {
					return fmt.Errorf("%s was acknowledged as %s, then as %s", list[i].Content, list[i].hash, hashes[i])
				}
				list[i].hash, list[i].delivered = hashes[i], true
			}
		}
		acknowledged.Add(1)
	}
	return nil
}

// post repeats a list until it is acknowledged.
func (s *sender) post(ctx context.Context, body []byte, key string) ([]string, error) {
	first := time.Now()
	for {
		hashes, status, err := s.try(ctx, body, key)
		switch {
		case err == nil && status == http.StatusOK:
			return hashes, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
			return nil, fmt.Errorf("refused with %d", status)
		case time.Since(first) > longest:
			return nil, fmt.Errorf("not acknowledged in %s: %d %w", longest, status, err)
		}
		s.again++
		if err := pause(ctx, retryEvery); err != nil {
			return nil, err
		}
	}
}

func (s *sender) try(ctx context.Context, body []byte, key string) (hashes []string, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.client.addr+"/hooks/events", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.client.token)
	if s.number%2 == 1 {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := s.client.http.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, err
	}
	var answer struct {
		Hashes []string `json:"hashes"`
	}
	err = json.Unmarshal(text, &answer)
	return answer.Hashes, response.StatusCode, err
}

// killUnderEvents kills the server, and its Postgres with it, while senders deliver events in lists that they repeat until they
// are answered.
func killUnderEvents(ctx context.Context, s *stage) error {
	all, kills := size(s, 3200, 10_000), size(s, 3, 10)
	v, err := s.serve(ctx, "")
	if err != nil {
		return err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return err
	}
	c := &crew{s: s, client: v.client(eventSenders)}
	s.later(c.client.http.CloseIdleConnections)
	senders := make([]*sender, eventSenders+eventInserters)
	lists, posted := 0, all/eventList
	at, err := v.databaseURL()
	if err != nil {
		return err
	}
	if err := grantInserts(ctx, at); err != nil {
		return err
	}
	for i := range senders {
		var data struct {
			CreateToken struct {
				Secret string `json:"secret"`
			} `json:"createToken"`
		}
		if err := c.client.ask(ctx, "mutation($i: TokenInput!) { createToken(input: $i) { secret } }",
			map[string]any{"i": map[string]any{"kind": "HOOK", "player": ownerOf(i)}}, &data); err != nil {
			return fmt.Errorf("createToken: %w", err)
		}
		mine := posted / eventSenders
		if i < posted%eventSenders {
			mine++
		}
		var in *inserter
		if i >= eventSenders {
			in = &inserter{database: v.databaseURL, as: insertRole}
			s.later(in.close)
		}
		senders[i], lists = newSender(i, mine*eventList, c.client.with(data.CreateToken.Secret), in), lists+mine
	}

	sending, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var acknowledged atomic.Int64
	var wait sync.WaitGroup
	for _, one := range senders {
		wait.Go(func() {
			if err := one.send(sending, &acknowledged); err != nil {
				cancel(err)
			}
		})
	}
	ready, err := s.killBetween(sending, v, &acknowledged, lists, kills)
	if err != nil {
		cancel(err)
	}
	wait.Wait()
	if err := context.Cause(sending); err != nil {
		return err
	}
	if err := s.eventsArrived(ctx, at, senders, c, o, kills); err != nil {
		return err
	}
	s.timed("ready again, with lists waiting", "ready after the start", ready, readyLimit)
	return nil
}

// killBetween kills and starts the server so many times, spread over so many lists.
func (s *stage) killBetween(ctx context.Context, v *server, acknowledged *atomic.Int64, lists, times int) (ready []time.Duration, err error) {
	for k := range times {
		if _, err := until(ctx, s.limit(time.Minute), "lists are acknowledged", func() bool {
			return acknowledged.Load() >= int64((k+1)*lists/(times+2))
		}); err != nil {
			return nil, err
		}
		if err := pause(ctx, time.Duration(rand.Int64N(int64(30*time.Millisecond)))); err != nil {
			return nil, err
		}
		v.process.kill()
		took, err := v.start(ctx)
		if err != nil {
			return nil, err
		}
		ready = append(ready, took)
	}
	return ready, nil
}

// arrived is what the log holds of events.
type arrived struct {
	lost, doubled, disordered int
	problems                  []string
}

func (a *arrived) problem(format string, args ...any) {
	if len(a.problems) < maxProblems {
		a.problems = append(a.problems, fmt.Sprintf(format, args...))
	}
}

// found is an event as the log has it.
type found struct {
	Hash, Session, Content string
}

// judgeEvents holds the log, each session in its order, against what was sent: each event once, and in each thread in the order
// in which its sender sent it.
func judgeEvents(senders []*sender, log []found) (a arrived) {
	type place struct{ sender, event int }
	sent := map[string]place{}
	for n, one := range senders {
		for i := range one.events {
			sent[one.events[i].Content] = place{n, i}
		}
	}
	seen, last := map[string]bool{}, map[string]int{}
	for _, m := range log {
		at, ok := sent[m.Content]
		if !ok || seen[m.Content] {
			a.doubled++
			a.problem("twice in the log, or never sent: %s", m.Content)
			continue
		}
		seen[m.Content] = true
		e := senders[at.sender].events[at.event]
		if m.Hash != e.hash || m.Session != e.session() {
			a.lost++
			a.problem("%s was acknowledged as %s", m.Content, e.hash)
		}
		one := fmt.Sprint(m.Session, at.sender)
		if before, any := last[one]; any && at.event < before {
			a.disordered++
			a.problem("event %d of sender %d stands behind %d", at.event, at.sender, before)
		}
		last[one] = at.event
	}
	for content := range sent {
		if !seen[content] {
			a.lost++
			a.problem("not in the log: %s", content)
		}
	}
	return a
}

// eventsArrived reads the log from the database itself, has all of it and each thread verified, and adds the row.
func (s *stage) eventsArrived(ctx context.Context, database string, senders []*sender, c *crew, o *observer, kills int) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT hash::text, session_hash::text, content FROM log.messages WHERE source = $1 ORDER BY session_hash, sequence", eventSource)
	if err != nil {
		return err
	}
	log, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		return err
	}
	a := judgeEvents(senders, log)
	sum := verdict{checks: 1, acknowledged: len(log)}
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM log.messages").Scan(&sum.rows); err != nil {
		return err
	}
	if err := c.verify(ctx, &sum); err != nil {
		return err
	}
	sessions, again, all, inserted, insertedAgain := map[string]bool{}, 0, 0, 0, 0
	for _, one := range senders {
		if one.sql != nil {
			inserted, insertedAgain = inserted+len(one.events), insertedAgain+one.sql.again
		}
		again, all = again+one.again, all+len(one.events)
		for i := range one.events {
			sessions[one.events[i].session()] = true
		}
	}
	for session := range sessions {
		var data struct {
			VerifySession *struct {
				Valid bool `json:"valid"`
			} `json:"verifySession"`
		}
		if err := c.client.ask(ctx, "query($h: Hash!) { verifySession(hash: $h) { valid } }", map[string]any{"h": session}, &data); err != nil {
			return fmt.Errorf("verifySession: %w", err)
		}
		if data.VerifySession == nil || !data.VerifySession.Valid {
			a.problem("the chain of %s is not valid", session)
		}
	}
	a.problems = append(append(a.problems, sum.problems...), o.consistent(ctx)...)
	measured := fmt.Sprintf("%d events in %d threads, %d of them by SQL, %d lost, %d doubled, %d out of order; %d lists and %d events by SQL sent again; log and sessions valid",
		len(log), len(sessions), inserted, a.lost, a.doubled, a.disordered, again, insertedAgain)
	if len(a.problems) > 0 {
		measured = fmt.Sprintf("%d events, %d lost, %d doubled, %d out of order: %q", len(log), a.lost, a.doubled, a.disordered, a.problems)
	}
	s.found(fmt.Sprintf("SIGKILL, with its private Postgres; %d senders of lists of %d, and %d that insert by SQL", eventSenders, eventList, eventInserters), kills,
		"each event is in the log once, in its sender's order within its thread; sessions and the log verify", measured,
		len(a.problems) == 0 && len(log) == all && again > 0,
		map[string]float64{"acknowledged": float64(len(log)), "lost": float64(a.lost), "doubled": float64(a.doubled), "disordered": float64(a.disordered),
			"checks": 1, "again": float64(again), "inserted": float64(inserted), "insertedAgain": float64(insertedAgain), "checkpoints": float64(o.seen())})
	return ctx.Err()
}
