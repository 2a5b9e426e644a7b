package db

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

var (
	//go:embed search/messages.sql
	aboutSQL string
	//go:embed search/owners.sql
	ownersSQL string
	//go:embed search/records.sql
	aboutRecordsSQL string
	//go:embed search/texts.sql
	textsSQL string
)

const unnamed = "NULL::TEXT, NULL::TEXT"

var (
	// namedMessagesSQL is of those of a list, with the names of their owners, and unnamedMessagesSQL without.
	namedMessagesSQL   = fmt.Sprintf(aboutSQL, "p.key, p.name", "log.messages m LEFT JOIN core.players p ON p.hash = m.owner_id", "m.id = ANY ($2::BIGINT[])")
	unnamedMessagesSQL = fmt.Sprintf(aboutSQL, unnamed, "log.messages m", "m.id = ANY ($2::BIGINT[])")
	// aboutKeysSQL is of those of sessions or threads up to an id, that a player sees or all, some of too many, looking through no more
	// than a search does. By a list, = ANY, more are expected, and who sees them is told by all that the player sees.
	aboutKeysSQL = fmt.Sprintf(aboutSQL, unnamed, `(SELECT m.* FROM log.messages m JOIN unnest($2::TEXT[]::CHAR(64)[]) h (hash) ON m.%s = h.hash
		WHERE m.id <= $3::BIGINT LIMIT $6::BIGINT) m`, `($4::TEXT IS NULL
		OR EXISTS (SELECT FROM log.members v WHERE v.player = CAST($4::TEXT AS CHAR(64)) AND v.session_hash = m.session_hash OFFSET 0))`) + " LIMIT $5::BIGINT"
)

// excepted counts, of candidates, those that the request excepts: they are in its scope for what others are compared with.
func (s *search) excepted(candidates []ranking.Candidate) (n int) {
	for _, h := range s.request.Except {
		if slices.ContainsFunc(candidates, func(c ranking.Candidate) bool { return c.Hash == h.String() }) {
			n++
		}
	}
	return n
}

// about is what ranking, and a selection, have to know of a candidate.
type about struct {
	hash      chain.Hash
	createdAt time.Time
	text      string // its content, or the beginning of it
	whole     bool   // text is all of it

	// Of a message.
	session  chain.Hash
	sequence int64
	owner    chain.Hash
	role     *string
	origin   *string // which program wrote it
	salt     []byte
	names    []string // what its owner is called
	labels   []string // hashes of what it names

	// Of a record.
	book, title string
}

// queueAbout has read what ranking has to know of messages and records. What is erased is not found.
func (s *search) queueAbout(batch *pgx.Batch, messages, records []int64) {
	if len(messages) > 0 {
		// Behind the fence, who is known has to be found out for each join with players: these are, as owners of what is seen.
		if s.asViewer(batch, len(messages), func(as string) {
			sql := namedMessagesSQL
			if as != "" {
				sql = unnamedMessagesSQL
			}
			batch.Queue(as+sql, len(s.preferences) > 0, messages).Query(s.readMessages)
		}) {
			batch.Queue(ownersSQL, messages).Query(s.readOwners)
		}
	}
	if len(records) > 0 {
		batch.Queue(aboutRecordsSQL, records).Query(s.readRecords)
	}
}

func (s *search) readMessages(rows pgx.Rows) error { return readMessages(rows, s.told) }

func readMessages(rows pgx.Rows, told map[source]*about) error {
	for rows.Next() {
		a, id, key, name := about{}, int64(0), (*string)(nil), (*string)(nil)
		if err := rows.Scan(&id, &a.hash, &a.session, &a.sequence, &a.owner, &a.role, &a.salt, &a.createdAt, &a.text, &a.whole, &a.labels, &key, &name, &a.origin); err != nil {
			return err
		}
		a.names = called(name, key)
		told[source{chain.RefContext, id}] = &a
	}
	return rows.Err()
}

// called gives what a player is called: by name, and by key.
func called(texts ...*string) (names []string) {
	for _, text := range texts {
		if text != nil {
			names = append(names, *text)
		}
	}
	return names
}

// readOwners names the owners of messages that were read without.
func (s *search) readOwners(rows pgx.Rows) error {
	owners := map[chain.Hash][]string{}
	var hash chain.Hash
	var key string
	var name *string
	if _, err := pgx.ForEachRow(rows, []any{&hash, &key, &name}, func() error {
		owners[hash] = called(name, &key)
		return nil
	}); err != nil {
		return err
	}
	for of, a := range s.told {
		if of.kind == chain.RefContext && a.names == nil {
			a.names = owners[a.owner]
		}
	}
	return nil
}

func (s *search) readRecords(rows pgx.Rows) error {
	for rows.Next() {
		a, of := about{}, source{}
		if err := rows.Scan(&of.id, &a.hash, &of.kind, &a.book, &a.title, &a.createdAt, &a.text, &a.whole); err != nil {
			return err
		}
		s.told[of] = &a
	}
	return rows.Err()
}

// describe gives the candidates what ranking has to know of them, labels only if the player prefers something.
func (s *search) describe(ctx context.Context) ([]ranking.Candidate, error) {
	var messages, records []int64
	for of := range s.found {
		if s.told[of] == nil {
			messages, records = split(messages, records, of)
		}
	}
	if len(messages)+len(records) > 0 {
		batch := &pgx.Batch{}
		s.queueAbout(batch, messages, records)
		if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
			return nil, err
		}
	}
	labels, err := s.labels(ctx)
	if err != nil {
		return nil, err
	}
	candidates := make([]ranking.Candidate, 0, len(s.found))
	for of, c := range s.found {
		a := s.told[of]
		if a == nil { // erased
			continue
		}
		candidate := ranking.Candidate{
			Hash: a.hash.String(), Kind: ranking.Record, CreatedAt: a.createdAt, Share: s.vector.Share(c.product), Cosine: c.cosine,
		}
		if of.kind == chain.RefContext {
			candidate.Kind, candidate.Session, candidate.Sequence = ranking.Message, a.session.String(), a.sequence
			candidate.OwnerNames, candidate.Text, candidate.Labels = a.names, a.text, pick(labels, a.labels)
		} else {
			candidate.Text = a.title + "\n" + a.text
		}
		s.byHash[candidate.Hash] = of
		candidates = append(candidates, candidate)
	}
	return candidates, nil
}

// labels gives the names of the components that the candidates name, by hash.
func (s *search) labels(ctx context.Context) (map[string]string, error) {
	if len(s.preferences) == 0 {
		return nil, nil
	}
	wanted := map[string]bool{}
	for of := range s.found {
		if a := s.told[of]; a != nil {
			for _, hash := range a.labels {
				wanted[hash] = true
			}
		}
	}
	found, err := componentsSeen(ctx, dbgen.New(s.tx), s.viewer, keys(wanted))
	if err != nil {
		return nil, err
	}
	labels := make(map[string]string, len(found))
	for _, c := range found {
		labels[c.Hash.String()] = *c.Key
		if c.Name != nil {
			labels[c.Hash.String()] = *c.Name
		}
	}
	return labels, nil
}

func pick(labels map[string]string, hashes []string) []string {
	var out []string
	for _, hash := range hashes {
		if label, ok := labels[hash]; ok {
			out = append(out, label)
		}
	}
	return out
}

func keys[K comparable, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

// read gives the best their texts and explanations.
func (s *search) read(ctx context.Context, scored []ranking.Scored) error {
	var messages, records []int64
	for _, c := range scored {
		if of := s.byHash[c.Hash]; !s.told[of].whole {
			messages, records = split(messages, records, of)
		}
	}
	if len(messages)+len(records) > 0 {
		batch := &pgx.Batch{}
		s.asViewer(batch, len(messages), func(as string) { batch.Queue(as+textsSQL, list(messages), list(records)).Query(s.readTexts) })
		if err := s.tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	s.result.best = make([]selection.Candidate, len(scored))
	for i, c := range scored {
		of := s.byHash[c.Hash]
		a := s.told[of]
		candidate := selection.Candidate{
			Hash: a.hash, Type: of.kind, Score: c.Score, CreatedAt: a.createdAt, Text: a.text, Lead: a.lead(of.kind), Owner: a.book, Place: of.id, Salt: a.salt,
			Explanation: selection.Explanation{
				Relevance: c.Relevance, Lexical: c.Lexical, Semantic: c.Semantic, Neighbours: c.Neighbours,
				Recency: c.Recency, Preference: c.Preference,
			},
		}
		if of.kind == chain.RefContext {
			candidate.Owner = a.owner.String()
			candidate.Provenance = &selection.Provenance{Owner: a.owner, Role: a.role, Source: a.origin, Session: a.session}
		}
		candidate.Matched = func() []string { return s.matched(of, candidate.Text) }
		s.result.best[i] = candidate
	}
	return nil
}

func (s *search) readTexts(rows pgx.Rows) error {
	var of source
	var text string
	_, err := pgx.ForEachRow(rows, []any{&of.kind, &of.id, &text}, func() error {
		s.told[of].text = text
		return nil
	})
	return err
}

// lead says when a message was sent and by whom, as far as somebody has a name; of a record, where it stands.
func (a *about) lead(kind chain.RefType) string {
	if kind != chain.RefContext {
		return a.book + ", " + a.title
	}
	day := a.createdAt.UTC().Format("2006-01-02")
	if len(a.names) > 0 {
		return day + " " + a.names[0]
	}
	if a.role != nil {
		return strings.TrimSpace(day + " " + *a.role)
	}
	return day
}

// matched gives the words of the query that a source's text holds.
func (s *search) matched(of source, text string) []string {
	if terms, known := s.termsRead(of); known {
		return s.vector.Matched(terms)
	}
	var terms []int32
	for _, passage := range (embeddings.Lexical{}).Document(text) {
		terms = append(terms, passage.Terms...)
	}
	slices.Sort(terms)
	return s.vector.Matched(slices.Compact(terms))
}
