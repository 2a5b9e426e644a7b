package db

import (
	"context"
	_ "embed" // for the statements

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

var (
	//go:embed overview/log.sql
	logTotalsSQL string
	//go:embed overview/player.sql
	playerTotalsSQL string
)

// How far totals are counted.
const (
	maxTotalThreads  = 100_000 // of the log
	maxTotalSessions = 10_000  // of a player
	maxTotalMessages = 100_000 // of a player, whose threads are counted
	maxTotalNamings  = 100_000 // of players in a player's sessions, among whom those they know are counted
	maxTotals        = 1000    // players whose totals are kept
)

// Totals are how much a viewer sees of everything.
type Totals struct {
	Messages, Sessions, Threads, Players, Selections int64
	AtLeast                                          bool // some were not counted further
}

// Totals gives how much the viewer sees. All but the messages of the log is kept for a while once it was counted: at most
// a twentieth of the time goes into that. At a million messages the log's messages take the tree's size and what waits
// for it, a millisecond; its sessions, an index of their first messages; its threads, as many steps in an index.
func (d *DB) Totals(ctx context.Context) (Totals, error) {
	if d.viewer != nil {
		return d.playerTotals(ctx)
	}
	t, err := d.kept.totals.get(ctx, func(ctx context.Context) (t Totals, err error) {
		err = d.pool.QueryRow(ctx, logTotalsSQL, maxTotalThreads).Scan(&t.Sessions, &t.Threads, &t.Players, &t.Selections)
		t.AtLeast = t.Threads > maxTotalThreads
		t.Threads = min(t.Threads, maxTotalThreads)
		return t, mapError(err)
	})
	if err != nil {
		return Totals{}, err
	}
	position, err := d.queries().SealPosition(ctx)
	t.Messages = position.Leaves + position.Waiting
	return t, mapError(err)
}

func (d *DB) playerTotals(ctx context.Context) (Totals, error) {
	return ofPlayer(d.kept.players, *d.viewer).get(ctx, func(ctx context.Context) (t Totals, err error) {
		err = d.readerAs(becomeSQL).QueryRow(ctx, playerTotalsSQL, d.viewer.String(), maxTotalSessions, maxTotalMessages, maxTotalNamings).Scan(
			&t.Sessions, &t.Messages, &t.Threads, &t.Players, &t.AtLeast, &t.Selections)
		t.AtLeast = t.AtLeast || t.Sessions > maxTotalSessions || t.Messages > maxTotalMessages
		t.Sessions = min(t.Sessions, maxTotalSessions)
		return t, mapError(err)
	})
}

// AppendsPerSecond gives how many messages a second were appended over the last minute to what the viewer sees; false if
// nobody looks. A player's are those whose time is within the minute.
func (d *DB) AppendsPerSecond(ctx context.Context) (float64, bool, error) {
	if d.viewer != nil {
		until := d.Now()
		since := until.Add(-growthSpan)
		n, err := d.CountMessages(ctx, selection.Scope{Since: &since, Until: &until}, selection.Match{})
		return float64(n) / growthSpan.Seconds(), true, err
	}
	sealer := d.Sealer()
	if sealer == nil {
		return 0, false, nil
	}
	return sealer.Pace().PerSecond, true, nil
}

// EmbeddingModelsKept is EmbeddingModels, counted again only after a while.
func (d *DB) EmbeddingModelsKept(ctx context.Context) ([]EmbeddingModel, error) {
	return d.kept.models.get(ctx, d.EmbeddingModels)
}

// overviews are what is kept of what there is.
type overviews struct {
	totals         *kept[Totals]
	players        *lru.Cache[chain.Hash, *kept[Totals]]
	channels       *kept[[]ChannelUse]
	playerChannels *lru.Cache[chain.Hash, *kept[[]ChannelUse]]
	models         *kept[[]EmbeddingModel]
}

func newOverviews() *overviews {
	return &overviews{
		totals: newKept[Totals](), players: newOfPlayers[Totals](), channels: newKept[[]ChannelUse](),
		playerChannels: newOfPlayers[[]ChannelUse](), models: newKept[[]EmbeddingModel](),
	}
}

func newOfPlayers[T any]() *lru.Cache[chain.Hash, *kept[T]] {
	cache, _ := lru.New[chain.Hash, *kept[T]](maxTotals) // fails for no size only
	return cache
}

// ofPlayer gives what is kept of a player.
func ofPlayer[T any](all *lru.Cache[chain.Hash, *kept[T]], player chain.Hash) *kept[T] {
	mine, known := all.Get(player)
	if !known {
		mine = newKept[T]()
		if before, there, _ := all.PeekOrAdd(player, mine); there {
			mine = before // of one who asked at the same time
		}
	}
	return mine
}
