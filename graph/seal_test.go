package graph_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
	"github.com/tzzr/context-manager/internal/witness"
)

// startSealer makes a store seal, with files in a directory.
func startSealer(t *testing.T, store *db.DB, dir string, witnesses ...db.Witness) *db.Sealer {
	t.Helper()
	sealer, err := store.StartSealer(t.Context(), db.SealerConfig{
		Key: filepath.Join(dir, "log.key"), Checkpoint: filepath.Join(dir, "checkpoint"), Origin: "example.org/log", Witnesses: witnesses,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sealer.Stop) // before its directory goes
	return sealer
}

func startWitness(t *testing.T, dir string) db.Witness {
	t.Helper()
	key, err := sealfile.LoadKey(filepath.Join(dir, "log.key"), "example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.Open(witness.Config{
		StateFile: filepath.Join(dir, "witness"), KeyFile: filepath.Join(dir, "witness.key"), Name: "witness.example.org", Logs: []string{key.Public},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	client, err := witness.NewClient(server.URL, w.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	return db.Witness{Name: client.Key.Name(), Key: client.Key, URL: client.URL, Cosigner: client}
}

// until asks the database again and again, a hundred times a second, until something is so.
func (a *api) until(what, sql string) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.url)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for range 6000 {
		var so bool
		if err := conn.QueryRow(a.t.Context(), sql).Scan(&so); err != nil {
			a.t.Fatal(err)
		}
		if so {
			return
		}
		if _, err := conn.Exec(a.t.Context(), "SELECT pg_sleep(0.01)"); err != nil {
			a.t.Fatal(err)
		}
	}
	a.t.Fatalf("not within a minute: %s", what)
}

const (
	allSealed    = "SELECT (SELECT count(*) FROM log.messages) = COALESCE(max(size), 0) FROM seal.checkpoints"
	allWitnessed = "SELECT (SELECT count(*) FROM log.messages) = COALESCE(max(size), 0) FROM seal.cosignatures"
)

type integrity struct {
	State     string
	LeafIndex *int64
	Proof     *string
	Erasure   *struct{ Hash string }
}

func (a *api) integrity(hash string) integrity {
	a.t.Helper()
	var out struct{ Message struct{ Integrity integrity } }
	a.ask(`query($h: Hash!) { message(hash: $h) { integrity { state leafIndex proof erasure { hash } } } }`, object{"h": hash}, &out)
	return out.Message.Integrity
}

// A message goes from chained to sealed to witnessed to erased, and is proved from sealed on.
func TestIntegrityStates(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	first := a.append(message("s", "one"), message("s", "two"))
	if got := a.integrity(first[1]); got.State != "CHAINED" || got.LeafIndex != nil || got.Proof != nil || got.Erasure != nil {
		t.Errorf("before it is sealed: %+v", got)
	}
	dir := t.TempDir()
	w := startWitness(t, dir)
	sealing, err := db.Open(t.Context(), a.url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	sealer := startSealer(t, sealing, dir)
	a.until("it is sealed", allSealed)
	policy := sealer.Policy()
	check := func(state string, message chain.Hash, sequence int64, got integrity) {
		t.Helper()
		if got.State != state || got.LeafIndex == nil || *got.LeafIndex != sequence-1 || got.Proof == nil {
			t.Fatalf("it is %+v, want %s", got, state)
		}
		leaf := seal.Leaf{Session: chain.Sum([]byte("s")), Sequence: sequence, Message: message}
		if in, err := seal.CheckInclusion(*got.Proof, leaf, policy); err != nil || in.Index != sequence-1 {
			t.Errorf("its proof: %v", err)
		}
	}
	parse := func(text string) chain.Hash {
		h, err := chain.ParseHash(text)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	check("SEALED", parse(first[1]), 2, a.integrity(first[1]))
	sealing.Close()
	startSealer(t, a.store, dir, w)
	a.until("it is witnessed", allWitnessed)
	policy.Witnesses, policy.Quorum = append(policy.Witnesses, w.Key), 1
	check("WITNESSED", parse(first[1]), 2, a.integrity(first[1]))

	var erased struct{ EraseMessage struct{ Hash string } }
	a.ask(`mutation($h: Hash!) { eraseMessage(hash: $h, reason: "asked to") { hash } }`, object{"h": first[0]}, &erased)
	a.until("the erasure is witnessed", allWitnessed)
	got := a.integrity(first[0])
	check("ERASED", parse(first[0]), 1, got)
	if got.Erasure == nil || got.Erasure.Hash != erased.EraseMessage.Hash {
		t.Errorf("its erasure = %+v, want %s", got.Erasure, erased.EraseMessage.Hash)
	}
}

// What is altered, or gone off the record, is not what was sealed.
func TestIntegrityOfWhatWasAltered(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hashes := a.append(message("s", "one"), message("s", "two"), message("s", "three"), message("s", "four"))
	startSealer(t, a.store, t.TempDir())
	a.until("all is sealed", allSealed)
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "ALTER TABLE log.messages DISABLE TRIGGER ALL"); err != nil {
		t.Fatal(err)
	}
	for i, set := range []string{"content = 'never said'", "source = 'elsewhere'", "content = NULL, attachments = NULL, ambient = NULL, salt = NULL"} {
		if got := a.integrity(hashes[i]); got.State != "SEALED" {
			t.Errorf("before: %+v, want SEALED", got)
		}
		if _, err := conn.Exec(t.Context(), "UPDATE log.messages SET "+set+" WHERE hash = $1", hashes[i]); err != nil {
			t.Fatal(err)
		}
		if got := a.integrity(hashes[i]); got.State != "CHAINED" || got.Erasure != nil {
			t.Errorf("with %s: %+v, want CHAINED", set, got)
		}
	}
	if got := a.integrity(hashes[3]); got.State != "SEALED" {
		t.Errorf("another: %+v, want SEALED", got)
	}
}

// Refs have rows of their own, which the hash covers as well.
func TestIntegrityOfWhatHasOtherRefs(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	cited := a.append(message("s", "one"), message("s", "two"))
	refs := func(hashes ...string) object {
		list := make([]object, len(hashes))
		for i, h := range hashes {
			list[i] = object{"hash": h, "type": "CONTEXT"}
		}
		return object{"refs": list}
	}
	hashes := a.append(message("s", "three", refs(cited...)), message("s", "four", refs(cited[0])), message("s", "five", refs(cited...)),
		message("s", "six"), message("s", "seven", refs(cited[1])))
	startSealer(t, a.store, t.TempDir())
	a.until("all is sealed", allSealed)
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "ALTER TABLE log.message_refs DISABLE TRIGGER ALL"); err != nil {
		t.Fatal(err)
	}
	for i, sql := range []string{
		"DELETE FROM log.message_refs WHERE message_hash = $1 AND position = 2",
		"UPDATE log.message_refs SET ref_hash = repeat('ab', 32) WHERE message_hash = $1",
		"UPDATE log.message_refs SET position = position + 2 WHERE message_hash = $1 AND position = 1",
		"INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type) VALUES ($1, 1, repeat('ab', 32), 'context')",
	} {
		if got := a.integrity(hashes[i]); got.State != "SEALED" {
			t.Errorf("before: %+v, want SEALED", got)
		}
		if _, err := conn.Exec(t.Context(), sql, hashes[i]); err != nil {
			t.Fatal(err)
		}
		if got := a.integrity(hashes[i]); got.State != "CHAINED" {
			t.Errorf("after %s: %+v, want CHAINED", sql, got)
		}
	}
	if got := a.integrity(hashes[4]); got.State != "SEALED" {
		t.Errorf("another: %+v, want SEALED", got)
	}
}

// What is asked of a page's integrity takes the same few statements whatever its length, and proofs only if asked for.
func TestIntegrityStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	sealing, err := db.Open(t.Context(), a.url, 4, slog.New(slog.DiscardHandler)) // not counted
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sealing.Close)
	startSealer(t, sealing, t.TempDir())
	for i := range 4 {
		messages := make([]object, 200)
		for j := range messages {
			messages[j] = message(fmt.Sprint("s", j%3), fmt.Sprint(i, j))
		}
		a.append(messages...)
	}
	a.until("all is sealed", allSealed)
	a.until("search vectors are made", "SELECT NOT EXISTS (SELECT FROM embedding.backlog)")
	count := func(fields string, first int) int64 {
		fewest := int64(1 << 30)
		for range 3 { // what is done in the background counts, too, but not always
			before := a.counter.n.Load()
			var out struct{ Messages struct{ Edges []any } }
			a.ask(`query($first: Int!) { messages(first: $first) { edges { node { hash integrity { `+fields+` } } } } }`, object{"first": first}, &out)
			if len(out.Messages.Edges) != first {
				t.Fatalf("a page of %d has %d", first, len(out.Messages.Edges))
			}
			fewest = min(fewest, a.counter.n.Load()-before)
		}
		return fewest
	}
	for _, tt := range []struct {
		fields string
		most   int64
	}{{"preimage", 1}, {"state", 4}, {"state leafIndex erasure { hash }", 4}, {"state } refs { hash", 4}, {"proof", 6}, {"state leafIndex proof preimage", 9}} {
		one, many := count(tt.fields, 1), count(tt.fields, 200)
		if many > tt.most || one > tt.most {
			t.Errorf("{%s} took %d statements for one message and %d for 200, want at most %d", tt.fields, one, many, tt.most)
		}
	}
}

func TestCheckpointsQueries(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	type checkpoint struct {
		Size         int64
		Root, Note   string
		SignedAt     string
		Cosignatures int
	}
	var none struct{ Checkpoint, Old *checkpoint }
	a.ask(`{ checkpoint { size } old: checkpoint(size: 1) { size } }`, nil, &none)
	if none.Checkpoint != nil || none.Old != nil {
		t.Errorf("before the first: %+v", none)
	}
	if got := a.try(`{ seal { origin } }`, nil); len(got.Errors) == 0 || got.Errors[0].Extensions.Code != string(fault.Unavailable) {
		t.Errorf("seal of a server that does not seal: %+v", got)
	}
	dir := t.TempDir()
	w := startWitness(t, dir)
	sealer := startSealer(t, a.store, dir, w)
	for i := range 3 {
		a.append(message("s", fmt.Sprint(i)))
		a.until("it is sealed", allSealed)
	}
	a.until("it is witnessed", allWitnessed)
	var out struct {
		Checkpoint, Second *checkpoint
		Checkpoints        struct {
			Edges []struct {
				Cursor string
				Node   checkpoint
			}
			PageInfo   struct{ HasNextPage bool }
			TotalCount int
		}
		ConsistencyProof []string
		Seal             struct {
			Condition, Origin, PublicKey string
			Problem                      *string
			Checkpoint, Witnessed        *checkpoint
			Waiting                      int
			Witnesses                    []struct {
				Name, URL string
				Size      *int64
				SignedAt  *string
				Problem   *string
			}
		}
	}
	const fields = "size root note signedAt cosignatures"
	a.ask(`{ checkpoint {`+fields+`} second: checkpoint(size: 2) {`+fields+`}
		checkpoints(first: 2) { totalCount pageInfo { hasNextPage } edges { cursor node {`+fields+`} } } consistencyProof(from: 2, to: 3)
		seal { condition origin publicKey problem waiting checkpoint {`+fields+`} witnessed {`+fields+`} witnesses { name url size signedAt problem } } }`, nil, &out)
	newest, err := seal.Open(out.Checkpoint.Note, seal.Policy{Origin: "example.org/log", Log: sealer.Verifier(), Witnesses: sealer.Policy().Witnesses})
	if err != nil || newest.Size != 3 || out.Checkpoint.Size != 3 || out.Checkpoint.Root != base64.StdEncoding.EncodeToString(newest.Root[:]) || out.Checkpoint.Cosignatures != 1 {
		t.Errorf("checkpoint = %+v, %v", out.Checkpoint, err)
	}
	if c := out.Checkpoints; c.TotalCount != 3 || !c.PageInfo.HasNextPage || len(c.Edges) != 2 || c.Edges[0].Node != *out.Checkpoint || c.Edges[1].Node.Size != 2 || c.Edges[1].Node.Note != out.Second.Note {
		t.Errorf("checkpoints = %+v", c)
	}
	if s := out.Seal; s.Condition != "SEALING" || s.Origin != "example.org/log" || s.PublicKey != sealer.State().PublicKey || s.Problem != nil ||
		s.Waiting != 0 || *s.Checkpoint != *out.Checkpoint || *s.Witnessed != *out.Checkpoint ||
		len(s.Witnesses) != 1 || s.Witnesses[0].Name != w.Name || s.Witnesses[0].URL != w.URL || *s.Witnesses[0].Size != 3 || s.Witnesses[0].Problem != nil {
		t.Errorf("seal = %+v", s)
	}
	second, err := seal.Open(out.Second.Note, sealer.Policy())
	if err != nil {
		t.Fatal(err)
	}
	var path []chain.Hash
	for _, line := range out.ConsistencyProof {
		hash, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		path = append(path, chain.Hash(hash))
	}
	if err := seal.CheckConsistency(path, second.Head, newest.Head); err != nil {
		t.Errorf("consistencyProof = %q: %v", out.ConsistencyProof, err)
	}
	a.ask(`query($after: String!) { checkpoints(first: 2, after: $after) { pageInfo { hasNextPage } edges { node {`+fields+`} } } }`,
		object{"after": out.Checkpoints.Edges[1].Cursor}, &out)
	if c := out.Checkpoints; c.PageInfo.HasNextPage || len(c.Edges) != 1 || c.Edges[0].Node.Size != 1 {
		t.Errorf("the page after = %+v", c)
	}
	for query, code := range map[string]fault.Code{
		`{ consistencyProof(from: 0, to: 4) }`:            fault.BadUserInput,
		`{ consistencyProof(from: 3, to: 2) }`:            fault.BadUserInput,
		`{ consistencyProof(from: -1, to: 2) }`:           fault.BadUserInput,
		`{ checkpoints(first: 201) { totalCount } }`:      fault.BadUserInput,
		`{ checkpoints(after: "x") { totalCount } }`:      fault.BadUserInput,
		`mutation { acceptTree(reason: "x") { origin } }`: fault.Conflict,
		`mutation { acceptTree(reason: "") { origin } }`:  fault.BadUserInput,
	} {
		if got := a.try(query, nil); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != string(code) {
			t.Errorf("%s: %+v, want %s", query, got.Errors, code)
		}
	}
	agents := *a
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: slog.New(slog.DiscardHandler)},
		graph.Config{Log: slog.New(slog.DiscardHandler), Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	agents.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Caller{Player: chain.Sum([]byte("agent")), Role: auth.Agent})))
	})
	if got := agents.try(`mutation { acceptTree(reason: "x") { origin } }`, nil); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != string(fault.Forbidden) {
		t.Errorf("acceptTree by an agent: %+v, want FORBIDDEN", got.Errors)
	}
}
