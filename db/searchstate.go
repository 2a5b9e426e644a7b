package db

import (
	"context"
	_ "embed"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
)

// asOf is a state of the log: what a search sees. What another transaction is about to commit may have a lesser id than
// what is there, so a position alone does not tell.
type asOf struct {
	position int64       // the highest id of a message that is there
	size     int64       // how many messages are there
	absent   []int64     // ids up to position that are not there, ascending: some message may get them, or has since
	records  int64       // the highest id of a record that is there
	newest   *chain.Hash // of a viewer: the message at position; position, size and newest are of what they see
}

// Statements over scopes are planned for the values at hand; planning others each time takes as long as they do.
const (
	planOnce = "set local plan_cache_mode = force_generic_plan"
	planEach = "set local plan_cache_mode = force_custom_plan"
)

const (
	// maxAbsent is more ids than are ever absent: of the last 4,096 as state.sql says, and of messages without vectors.
	maxAbsent = 4096 + maxAwaited
	maxNamed  = 100 // players whom a query may name
)

var (
	//go:embed search/state.sql
	stateSQL string
	//go:embed search/present.sql
	presentSQL string
	//go:embed search/messageids.sql
	messageIDsSQL string
	//go:embed search/recordids.sql
	recordIDsSQL string
	//go:embed search/named.sql
	namedSQL string
	//go:embed search/preferences.sql
	preferencesSQL string
)

// begin finds out which log is searched, whether the scope is small and what it holds then, whom the query may name and
// what the player prefers.
func (s *search) begin(ctx context.Context) error {
	beside, end := context.WithCancel(ctx)
	defer func() {
		end()
		if s.foreseen != nil { // nobody takes what is read beside any more
			s.foreseen.Store(true)
		}
	}()
	batch := &pgx.Batch{}
	if s.begins {
		batch.Queue("begin isolation level repeatable read read only")
	}
	batch.Queue(planOnce)
	if s.at != nil {
		s.result.at = *s.at
	} else {
		batch.Queue(stateSQL).QueryRow(s.readState)
		if s.viewer != nil {
			s.queueSeen(batch)
		}
	}
	if named := ranking.Words(embeddings.QueryText(s.request.Query)); len(named) > 0 {
		batch.Queue(namedSQL, list(named), maxNamed, hashText(s.viewer)).Query(s.readNamed)
	}
	if s.request.Player != nil {
		batch.Queue(preferencesSQL, s.request.Player.String()).Query(s.readPreferences)
	}
	batch.Queue(quarantinedSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&s.quarantined) })
	few := s.messages && s.queueFew(beside, batch)
	batch.Queue(planEach)
	if s.messages && s.narrowed && !few {
		s.queueListing(batch)
	}
	if len(s.kinds) > 0 {
		s.queueRecordIDs(batch)
	}
	asked := s.tx.SendBatch(ctx, batch)
	s.query = s.queries.Parse(s.request.Query) // meanwhile
	s.result.cut = s.query.Cut()
	if err := asked.Close(); err != nil {
		return err
	}
	if err := s.seeAnew(ctx); err != nil {
		return err
	}
	if err := s.listAnew(ctx); err != nil {
		return err
	}
	if s.at == nil && s.pending && !s.indexed {
		return errUnindexed
	}
	if s.at == nil && s.result.unindexed > 0 {
		if err := s.leaveOut(ctx); err != nil {
			return err
		}
	}
	s.takeBeside()
	if few && s.more { // it is searched as any other, by nothing that was read of some of it
		s.notFew()
		clear(s.told)
		s.passages, s.owners, s.hashes, s.called = nil, nil, nil, nil
		if err := s.allMessageIDs(ctx); err != nil {
			return err
		}
	}
	if s.few = few && !s.more; s.few {
		s.nameOwners()
	}
	if s.messages && !s.narrowed {
		if s.result.at.size > int64(s.most.small) {
			s.large = true
		} else if err := s.allMessageIDs(ctx); err != nil {
			return err
		}
	}
	if s.viewer != nil && s.result.unindexed > 0 {
		s.result.unindexed = s.unindexedRecords + s.backlog.count(s.ids)
	}
	s.ids = s.present(s.ids)
	s.recordIDs = slices.DeleteFunc(s.recordIDs, func(id int64) bool { return id > s.result.at.records })
	s.large = s.large || len(s.ids) > s.most.small || len(s.recordIDs) > s.most.small
	s.listed = s.large && s.narrowed && (s.viewer != nil || len(s.ids) <= s.most.listed && len(s.recordIDs) <= s.most.listed)
	s.countScope()
	if s.large && !s.listed {
		s.ids, s.recordIDs = nil, nil
	}
	s.leaveQuarantined()
	return nil
}

// countScope says how many messages and records the scope holds. Where too many are to be listed, a sample tells later.
func (s *search) countScope() {
	c, records := &s.result.counted, int64(len(s.recordIDs))
	c.Seen, c.InScope = s.result.at.size+records, int64(len(s.ids))+records
	if s.large && !s.narrowed && s.messages {
		c.InScope = c.Seen
	}
	c.Estimated = s.large && !s.listed && (s.narrowed || len(s.recordIDs) >= s.mostIDs())
}

// mostIDs is how many ids tell that a scope holds too many to be looked at, or listed; some may turn out to be absent.
func (s *search) mostIDs() int {
	if s.viewer != nil {
		return math.MaxInt32 // what others see must not tell how this is searched
	}
	if s.narrowed {
		return s.most.listed + 1 + maxAbsent
	}
	return s.most.small + 1 + maxAbsent
}

func (s *search) queueMessageIDs(batch *pgx.Batch) {
	var position *int64
	if s.at != nil {
		position = &s.at.position
	}
	batch.Queue(messageIDsSQL, append(slices.Clone(s.scope), position, s.mostIDs())...).Query(s.readMessageIDs)
}

func (s *search) readMessageIDs(rows pgx.Rows) (err error) {
	s.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	slices.Sort(s.ids)
	return err
}

func (s *search) queueRecordIDs(batch *pgx.Batch) {
	var records *int64
	if s.at != nil {
		records = &s.at.records
	}
	scope := s.request.Scope
	batch.Queue(recordIDsSQL, s.kinds, scope.Since, scope.Until, records, s.mostIDs()).Query(func(rows pgx.Rows) (err error) {
		s.recordIDs, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
}

// allMessageIDs finds what a small log holds.
func (s *search) allMessageIDs(ctx context.Context) error {
	batch := &pgx.Batch{}
	s.queueMessageIDs(batch)
	return s.tx.SendBatch(ctx, batch).Close()
}

// present leaves out the ids of messages that are not there.
func (s *search) present(ids []int64) []int64 {
	at := s.result.at
	return slices.DeleteFunc(ids, func(id int64) bool {
		_, absent := slices.BinarySearch(at.absent, id)
		return absent || id > at.position
	})
}

func (s *search) readNamed(rows pgx.Rows) error {
	var p player
	_, err := pgx.ForEachRow(rows, []any{&p.hash, &p.name}, func() error {
		s.players = append(s.players, p)
		return nil
	})
	return err
}

func (s *search) readPreferences(rows pgx.Rows) error {
	_, err := pgx.ForEachRow(rows, []any{&s.preferences}, func() error { return nil })
	return err
}

// readState reads the state of the log. Messages without search vectors are not there, unless they are too many to be
// listed; no more is a record without one, nor any after it.
func (s *search) readState(row pgx.Row) error {
	at, firsts, lasts, firstRecord, records := &s.result.at, []int64{}, []int64{}, (*int64)(nil), int64(0)
	if err := row.Scan(&at.position, &at.size, &at.absent, &at.records, &firsts, &lasts, &firstRecord, &records, &s.last); err != nil {
		return err
	}
	if len(at.absent) == 0 {
		at.absent = nil
	}
	s.whole.position, s.whole.absent = at.position, slices.Clone(at.absent)
	s.pending = len(firsts) > 0 || records > 0
	if firstRecord != nil && records <= maxAwaited {
		at.records = *firstRecord - 1
		records = 0
	}
	s.backlog, s.unindexedRecords = runs{firsts, lasts}, records
	messages := int64(0)
	for i := range firsts {
		messages += lasts[i] - firsts[i] + 1
	}
	s.result.unindexed = messages + records
	if messages > 0 && messages <= maxAwaited-indexBatch {
		for i := range firsts {
			for id := firsts[i]; id <= lasts[i]; id++ {
				s.unindexed = append(s.unindexed, id)
			}
		}
	}
	return nil
}

// runs of ids, ascending and without overlaps.
type runs struct{ firsts, lasts []int64 }

// count gives how many of these ids are in a run.
func (r runs) count(ids []int64) (n int64) {
	for _, id := range ids {
		at, found := slices.BinarySearch(r.firsts, id)
		if found || at > 0 && id <= r.lasts[at-1] {
			n++
		}
	}
	return n
}

// leaveOut takes the messages without search vectors for absent, if they are few: they came since the search was asked
// for.
func (s *search) leaveOut(ctx context.Context) error {
	if len(s.unindexed) == 0 {
		return nil
	}
	at := &s.result.at
	count := int64(0)
	if err := s.tx.QueryRow(ctx, presentSQL, s.unindexed, hashText(s.viewer)).Scan(&count); err != nil {
		return err
	}
	s.result.unindexed -= int64(len(s.unindexed))
	at.size -= count
	at.absent = append(at.absent, s.unindexed...)
	slices.Sort(at.absent)
	at.absent = slices.Compact(at.absent)
	return nil
}
