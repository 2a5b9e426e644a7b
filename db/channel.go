package db

import (
	"context"
	_ "embed" // for the statements

	"github.com/jackc/pgx/v5"
)

var (
	//go:embed overview/channels.sql
	channelsSQL string
	//go:embed overview/playerchannels.sql
	playerChannelsSQL string
)

// How far channels are looked for.
const (
	MaxChannelUses     = 100     // given
	maxChannelMessages = 100_000 // looked at
)

// ChannelUse is a channel, and how many of the messages that were looked at came in by it.
type ChannelUse struct {
	Name     string
	Messages int
}

// Channels gives the channels of what the viewer sees, the most used first, kept for a while as Totals are: of the latest
// messages of the log, or of a player's sessions.
func (d *DB) Channels(ctx context.Context) ([]ChannelUse, error) {
	if d.viewer == nil {
		return d.kept.channels.get(ctx, func(ctx context.Context) ([]ChannelUse, error) {
			return channelUses(d.pool.Query(ctx, channelsSQL, maxChannelMessages, MaxChannelUses))
		})
	}
	return ofPlayer(d.kept.playerChannels, *d.viewer).get(ctx, func(ctx context.Context) ([]ChannelUse, error) {
		return channelUses(d.readerAs(becomeSQL).Query(ctx, playerChannelsSQL, maxChannelMessages, MaxChannelUses, d.viewer.String(), maxTotalSessions))
	})
}

func channelUses(rows pgx.Rows, err error) ([]ChannelUse, error) {
	if err != nil {
		return nil, mapError(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ChannelUse])
	return found, mapError(err)
}
