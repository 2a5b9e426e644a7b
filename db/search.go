package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// maxCandidates is how many messages and records the database hands to the ranking, by how well their own words
// match. A message's neighbours beyond it count as no match.
const maxCandidates = 2000

// searchInput is what a search is asked.
type searchInput struct {
	request selection.Request
	policy  ranking.Policy
	at      *asOf        // the log as it stood; nil: as it is
	dense   *denseQuery  // the query's dense vector; nil: by words alone
	nearest []denseHit   // what was nearest to it when this was asked before; nil: to be found
	keep    []chain.Hash // given among the best even if they are beyond reach, as far as they are candidates
}

// searchResult is what a search found.
type searchResult struct {
	best    []selection.Candidate // as many as a selection accounts for, best first, and then what had to be kept
	at      asOf                  // the log that was searched
	nearest []denseHit            // what was nearest to the dense vector
}

// asOf is a state of the log: what a search sees. What another transaction is about to commit may have a lesser id than
// what is there, so a position alone does not tell.
type asOf struct {
	position int64   // the highest id of a message that is there
	size     int64   // how many messages are there
	absent   []int64 // ids below position, near it, that no message has, ascending: it may get one
	records  int64   // the highest id of a record that is there
}

// search is one search on its way, within one snapshot of the database.
type search struct {
	searchInput
	q *dbgen.Queries

	vector embeddings.QueryVector
	names  map[chain.Hash][]string // what owners are called
	best   []selection.Candidate   // the outcome: as many as a selection accounts for, best first
}

// search ranks what the log and the records hold for a request.
func (d *DB) search(ctx context.Context, in searchInput) (searchResult, error) {
	s := search{searchInput: in}
	result := searchResult{}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, d.pool, snapshot, func(tx pgx.Tx) error {
		s.q = dbgen.New(tx)
		position, err := s.q.LogPosition(ctx)
		if err != nil {
			return err
		}
		result.at.position, result.at.size = position.Position, position.Size
		return s.run(ctx)
	})
	result.best = s.best
	return result, mapError(err)
}

// run weighs the query's terms by how rare they are in the scope, takes the candidates with the greatest inner
// product, ranks them, and reads the texts of the best.
func (s *search) run(ctx context.Context) error {
	found, err := s.candidates(ctx)
	if err != nil {
		return err
	}
	preferences, err := s.preferences(ctx)
	if err != nil {
		return err
	}
	candidates, err := s.describe(ctx, found, len(preferences) > 0)
	if err != nil {
		return err
	}
	scored := ranking.Rank(candidates, ranking.Request{Query: s.request.Query, Preferences: preferences, At: s.request.At}, s.policy)
	return s.read(ctx, scored[:min(len(scored), s.request.Limit+selection.Reach)])
}

func (s *search) candidates(ctx context.Context) ([]dbgen.LexicalCandidatesRow, error) {
	query := embeddings.Lexical{}.Parse(s.request.Query)
	scope := s.request.Scope
	a, messages, narrowed, kinds := scopeArgs(scope), scope.HasMessages(), scope.NarrowsMessages(), words(scope.RecordKinds())
	statistics, err := s.q.TermStatistics(ctx, dbgen.TermStatisticsParams{
		Terms: query.Terms(), Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags,
		Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until,
		Messages: messages, Narrowed: narrowed, RecordKinds: kinds,
	})
	if err != nil {
		return nil, err
	}
	stats := embeddings.Stats{Frequency: make(map[int32]int, len(statistics))}
	for _, row := range statistics {
		if row.Term == 0 {
			stats.Passages = int(row.Passages)
			continue
		}
		stats.Frequency[row.Term] = int(row.Passages)
	}
	stats.Names, err = s.q.NamedOwners(ctx, dbgen.NamedOwnersParams{
		Words: ranking.Words(s.request.Query), Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners,
		Hashtags: a.Hashtags, Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes,
		Since: a.Since, Until: a.Until,
	})
	if err != nil {
		return nil, err
	}
	s.vector = query.Weigh(stats)
	return s.q.LexicalCandidates(ctx, dbgen.LexicalCandidatesParams{
		Query: s.vector.String(), Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags,
		Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until,
		Messages: messages, Narrowed: narrowed, RecordKinds: kinds, RowCount: maxCandidates,
	})
}

func (s *search) preferences(ctx context.Context) ([]string, error) {
	if s.request.Player == nil {
		return nil, nil
	}
	rows, err := s.q.PlayerPreferences(ctx, s.request.Player.String())
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// describe gives the candidates what ranking has to know of them, labels only if asked for.
func (s *search) describe(ctx context.Context, found []dbgen.LexicalCandidatesRow, labelled bool) ([]ranking.Candidate, error) {
	messages, records := map[int64]float64{}, map[int64]float64{}
	for _, f := range found {
		if f.Kind == chain.RefContext {
			messages[f.SourceID] = f.Product
		} else {
			records[f.SourceID] = f.Product
		}
	}
	rows, err := s.q.CandidateMessages(ctx, labelled, keys(messages))
	if err != nil {
		return nil, err
	}
	recordRows, err := s.q.CandidateRecords(ctx, keys(records))
	if err != nil {
		return nil, err
	}
	if err := s.nameOwners(ctx, rows); err != nil {
		return nil, err
	}
	labels := map[string]string{}
	if labelled {
		if labels, err = s.labels(ctx, rows); err != nil {
			return nil, err
		}
	}
	candidates := make([]ranking.Candidate, 0, len(found))
	for _, m := range rows {
		candidates = append(candidates, ranking.Candidate{
			Hash: m.Hash.String(), Kind: ranking.Message, Session: m.SessionHash.String(), Sequence: m.Sequence,
			OwnerNames: s.names[m.OwnerID], CreatedAt: m.CreatedAt, Text: m.Beginning, Labels: pick(labels, m.Labels),
			Share: s.vector.Share(messages[m.ID]),
		})
	}
	for _, r := range recordRows {
		candidates = append(candidates, ranking.Candidate{
			Hash: r.Hash.String(), Kind: ranking.Record, CreatedAt: r.CreatedAt, Text: r.Beginning, Share: s.vector.Share(records[r.ID]),
		})
	}
	return candidates, nil
}

// nameOwners reads what the owners of messages are called.
func (s *search) nameOwners(ctx context.Context, rows []dbgen.CandidateMessagesRow) error {
	owners := make([]chain.Hash, len(rows))
	for i, m := range rows {
		owners[i] = m.OwnerID
	}
	names, err := s.q.PlayerNames(ctx, hashTexts(unique(owners)))
	if err != nil {
		return err
	}
	s.names = make(map[chain.Hash][]string, len(names))
	for _, n := range names {
		if n.Name != nil {
			s.names[n.Hash] = append(s.names[n.Hash], *n.Name)
		}
		s.names[n.Hash] = append(s.names[n.Hash], n.Key)
	}
	return nil
}

// labels gives the names of the components that messages name, by hash.
func (s *search) labels(ctx context.Context, rows []dbgen.CandidateMessagesRow) (map[string]string, error) {
	wanted := map[string]bool{}
	for _, m := range rows {
		for _, hash := range m.Labels {
			wanted[hash] = true
		}
	}
	found, err := s.q.ComponentsByHash(ctx, keys(wanted))
	if err != nil {
		return nil, err
	}
	labels := make(map[string]string, len(found))
	for _, c := range found {
		labels[c.Hash.String()] = c.Key
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
	hashes := make([]string, len(scored))
	for i, c := range scored {
		hashes[i] = c.Hash
	}
	messages, err := s.q.MessagesByHash(ctx, hashes)
	if err != nil {
		return err
	}
	records, err := s.q.RecordsByHash(ctx, hashes)
	if err != nil {
		return err
	}
	texts := make(map[string]selection.Candidate, len(scored))
	for _, m := range messages {
		if m.Content != nil { // what is erased is no candidate
			texts[m.Hash.String()] = selection.Candidate{
				Hash: m.Hash, Type: chain.RefContext, Text: *m.Content, Lead: s.lead(m), Owner: m.OwnerID.String(), CreatedAt: m.CreatedAt, Salt: m.Salt,
			}
		}
	}
	for _, r := range records {
		texts[r.Hash.String()] = selection.Candidate{
			Hash: r.Hash, Type: r.Kind, Text: r.Content, Lead: r.Book + ", " + r.Title, Owner: r.Book, CreatedAt: r.CreatedAt,
		}
	}
	for _, c := range scored {
		candidate := texts[c.Hash]
		candidate.Score = c.Score
		candidate.Explanation = selection.Explanation{
			Relevance: c.Relevance, Lexical: c.Lexical, Semantic: c.Semantic, Neighbours: c.Neighbours,
			Recency: c.Recency, Preference: c.Preference,
		}
		candidate.Matched = func() []string { return s.matched(candidate.Text) }
		s.best = append(s.best, candidate)
	}
	return nil
}

// lead says when a message was sent and by whom, as far as somebody has a name.
func (s *search) lead(m dbgen.LogMessage) string {
	day := m.CreatedAt.UTC().Format("2006-01-02")
	if names := s.names[m.OwnerID]; len(names) > 0 {
		return day + " " + names[0]
	}
	if m.Role != nil {
		return strings.TrimSpace(day + " " + *m.Role)
	}
	return day
}

// matched gives the words of the query that a text holds.
func (s *search) matched(text string) []string {
	var terms []int32
	for _, passage := range (embeddings.Lexical{}).Document(text) {
		terms = append(terms, passage.Terms...)
	}
	slices.Sort(terms)
	return s.vector.Matched(slices.Compact(terms))
}
