package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/bench/wire"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/token"
)

// PromptConfig is what a run about prompts needs.
type PromptConfig struct {
	Database      string // a scratch database, brought up to date
	Endpoint      string // host:port of a server of it
	Administrator string // a token
	Agent         string // the assistant's token
	Assistant     chain.Hash
	Prompt        func(ctx context.Context, id memory.ID, p memory.Prompt) ([]memory.PromptMessage, error) // as the assistant, in this process
	Conversations int
	Turn          time.Duration
	Turns         int
	Progress      io.Writer
}

// manyAtOnce is how many ask at once where it is not one.
const manyAtOnce = 8

// What a prompt is asked for with, besides the conversation.
const (
	promptQuery = "mutation Prompt($c: String!, $i: String!, $r: String!) { promptMessages(conversation: $c, input: $i, rolePrompt: $r, tokenBudget: 4000) { role content tokens } }"
	emptyQuery  = "{ __typename }"
	promptRole  = "You answer the guests of a hotel, briefly and politely."
	promptInput = "And when does the last train leave?"
)

// RunPrompts fills the working memory with live conversations of MaxTurns turns and measures prompts of them. A figure is the
// 95th percentile beside that of the bare SQL that reads one: its history and its state, by the primary key, by a plan that is
// made once, over a connection of its own, as the owner of the table, and none of it decoded. What is over HTTP has everything
// that the server does for a request, and an empty answer is what HTTP and GraphQL take for nothing: that alone is about what
// the SQL takes. In the process it is the store, with row-level security, and the assembly, and nothing of HTTP. One asks
// after the other, but where it says how many at once, in turns with the SQL.
func RunPrompts(ctx context.Context, cfg PromptConfig) (Report, error) {
	r := &prompts{PromptConfig: cfg}
	report := Report{Processors: runtime.NumCPU(), Go: runtime.Version()}
	conn, err := pgx.Connect(ctx, cfg.Database)
	if err != nil {
		return report, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&report.Postgres); err != nil {
		return report, err
	}
	if err := r.fill(ctx, conn); err != nil {
		return report, err
	}
	for _, f := range []struct {
		name   string
		atOnce int
		target float64
		ask    asker
	}{
		{"promptMessages over HTTP, an agent, p95", 1, 3, r.overHTTP(cfg.Agent, promptQuery)},
		{"promptMessages over HTTP, an administrator, p95", 1, 3, r.known(r.overHTTP(cfg.Administrator, promptQuery))},
		{"promptMessages in the process, an agent, p95", 1, 3, r.inProcess},
		{"an empty answer over HTTP, p95", 1, 0, r.overHTTP(cfg.Agent, emptyQuery)},
		{fmt.Sprintf("promptMessages over HTTP, %d agents at once, p95", manyAtOnce), manyAtOnce, 3, r.overHTTP(cfg.Agent, promptQuery)},
		{fmt.Sprintf("promptMessages in the process, %d agents at once, p95", manyAtOnce), manyAtOnce, 3, r.inProcess},
		{fmt.Sprintf("an empty answer over HTTP, %d at once, p95", manyAtOnce), manyAtOnce, 0, r.overHTTP(cfg.Agent, emptyQuery)},
		// Last, since what it writes is sealed while others would be measured.
		{"promptMessages over HTTP, an administrator on record, p95", 1, 3, r.overHTTP(cfg.Administrator, promptQuery)},
	} {
		var ours, limit turn
		for range cfg.Turns {
			done, err := r.turn(ctx, f.atOnce, f.ask)
			if err != nil {
				return report, fmt.Errorf("%s: %w", f.name, err)
			}
			ours.add(done)
			if done, err = r.turn(ctx, f.atOnce, r.bareSQL); err != nil {
				return report, err
			}
			limit.add(done)
		}
		found := Figure{Name: f.name, Size: cfg.Conversations, Messages: cfg.Conversations, Unit: "ms", Target: f.target, Limit: "the SQL that reads a conversation"}
		found.Value, found.LimitValue = ours.percentile(0.95), limit.percentile(0.95)
		found.Ratio = found.Value / found.LimitValue
		found.P50, found.P99, found.LimitP50, found.LimitP99 = ours.percentile(0.5), ours.percentile(0.99), limit.percentile(0.5), limit.percentile(0.99)
		report.Figures = append(report.Figures, found)
	}
	return report, nil
}

type prompts struct {
	PromptConfig
	ids []memory.ID
}

// fill makes the conversations: texts of everyday length, what was confirmed, and the hashes of messages.
func (r *prompts) fill(ctx context.Context, conn *pgx.Conn) error {
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("filling the memory with %d conversations", r.Conversations), int64(r.Conversations), "conversations")
	defer meter.Done()
	count, err := token.Default()
	if err != nil {
		return err
	}
	words, now := newWriter(0), time.Now().UTC().Truncate(time.Microsecond)
	said := make([]memory.Turn, 1000)
	for i := range said {
		said[i] = memory.Turn{Content: words.content(), At: now}
		if said[i].Tokens, err = count(said[i].Content); err != nil {
			return err
		}
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"memory", "conversations"},
		[]string{"id", "role", "user_id", "person", "assistant", "session_hash", "history", "state", "created_at", "last_activity", "expires_at"},
		pgx.CopyFromSlice(r.Conversations, func(i int) ([]any, error) {
			id, err := memory.NewID(memory.Client, fmt.Sprint(i))
			if err != nil {
				return nil, err
			}
			r.ids = append(r.ids, id)
			c := memory.Conversation{}
			for t := range memory.MaxTurns {
				turn := said[words.random.IntN(len(said))]
				turn.Role, turn.Message = []memory.Speaker{memory.User, memory.Assistant}[t%2], named("turn", i*memory.MaxTurns+t)
				c.Say(turn)
			}
			history, err := json.Marshal(c.History)
			if err != nil {
				return nil, err
			}
			state := fmt.Sprintf(`{"room": %d, "nights": %d, "breakfast": true, "arrival": "late"}`, i, words.random.IntN(14)+1)
			meter.Add(1)
			return []any{id.String(), string(id.Role), id.UserID, memory.Person(id.Role, id.UserID).String(), r.Assistant.String(), id.Session().String(),
				string(history), state, now, now, now.Add(memory.MaxTTL)}, nil
		}))
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE memory.conversations"); err != nil {
		return err
	}
	_, _ = conn.Exec(ctx, "CHECKPOINT") // if we may: what was filled is not to be written while it is measured
	_, err = r.turn(ctx, manyAtOnce, r.overHTTP(r.Agent, promptQuery))
	return err
}

// asker makes what asks for one conversation, again and again, until it is told to end.
type asker func(ctx context.Context) (ask func(id memory.ID) error, end func(), err error)

// turn lets so many ask at once, for as long as a turn.
func (r *prompts) turn(ctx context.Context, atOnce int, begin asker) (turn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const warm = 50 // asked before, not measured
	each := make([][]time.Duration, atOnce)
	var wait sync.WaitGroup
	for n := range atOnce {
		wait.Go(func() {
			ask, end, err := begin(ctx)
			if err != nil {
				cancel(err)
				return
			}
			defer end()
			until := time.Now().Add(r.Turn)
			for i := 0; ctx.Err() == nil && (i < warm+20 || time.Now().Before(until)); i++ {
				began := time.Now()
				if err := ask(r.ids[rand.IntN(len(r.ids))]); err != nil {
					cancel(err)
					return
				}
				if i >= warm {
					each[n] = append(each[n], time.Since(began))
				}
			}
		})
	}
	wait.Wait()
	var done turn
	for _, list := range each {
		done.each = append(done.each, list...)
	}
	return done, context.Cause(ctx)
}

// known has an administrator ask for few conversations, and for each of them before it is measured: to read others' is put on
// record, once a day for each.
func (r *prompts) known(who asker) asker {
	few := r.ids[:min(len(r.ids), 200)]
	return func(ctx context.Context) (func(memory.ID) error, func(), error) {
		ask, end, err := who(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range few {
			if err := ask(id); err != nil {
				end()
				return nil, nil, err
			}
		}
		return func(memory.ID) error { return ask(few[rand.IntN(len(few))]) }, end, nil
	}
}

func (r *prompts) bareSQL(ctx context.Context) (func(memory.ID) error, func(), error) {
	conn, err := pgx.Connect(ctx, r.Database)
	if err != nil {
		return nil, nil, err
	}
	end := func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	return func(id memory.ID) error {
		var history, state []byte
		return conn.QueryRow(ctx, "SELECT history, state FROM memory.conversations WHERE id = $1 AND expires_at > now()", id.String()).Scan(&history, &state)
	}, end, nil
}

func (r *prompts) inProcess(ctx context.Context) (func(memory.ID) error, func(), error) {
	return func(id memory.ID) error {
		messages, err := r.Prompt(ctx, id, memory.Prompt{Role: promptRole, Input: promptInput, Budget: 4000})
		if err == nil && len(messages) != memory.MaxTurns+3 {
			err = fmt.Errorf("the prompt has %d messages", len(messages))
		}
		return err
	}, func() {}, nil
}

// overHTTP asks over a connection that is kept open.
func (r *prompts) overHTTP(secret, query string) asker {
	want := memory.MaxTurns + 3
	if query == emptyQuery {
		want = 0
	}
	// All but the conversation is the same each time.
	text, err := json.Marshal(query)
	if err != nil {
		panic(err)
	}
	before := fmt.Sprintf(`{"query":%s,"variables":{"i":%q,"r":%q,"c":"`, text, promptInput, promptRole)
	return func(ctx context.Context) (func(memory.ID) error, func(), error) {
		c := wire.New(r.Endpoint, secret)
		if err := c.Ready(ctx); err != nil {
			return nil, nil, err
		}
		var body []byte
		return func(id memory.ID) error {
			body = append(append(append(body[:0], before...), id.String()...), `"}}`...)
			answer, err := c.Ask(body, `{"data":`)
			if err == nil && bytes.Count(answer, []byte(`"role"`)) != want {
				err = fmt.Errorf("the server answered %.300s", answer)
			}
			return err
		}, c.Close, nil
	}
}
