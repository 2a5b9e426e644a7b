package tile

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// readLimit is how long a server may take for one answer.
const readLimit = 30 * time.Second

// Client reads a log's tree from a server that need not be trusted. What it gives is as the server sent it: checkpoints
// are for seal.Open to check, tiles for tlog.TileHashReader, leaves for the tree that they make. Safe for concurrent
// use.
type Client struct {
	url   string
	token string
	http  *http.Client
}

// NewClient makes a client of the server at an address, its prefix before /checkpoint. A token, of an administrator, is
// needed for leaves; it goes to that server alone, and not where it may redirect to.
//
// Faults: BAD_USER_INPUT if it is no http or https address.
func NewClient(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsAny(address, "?#") {
		return nil, fault.Input("url", "%q is no address of a server: it is like https://log.example.org", address)
	}
	return &Client{url: strings.TrimRight(address, "/"), token: token, http: &http.Client{Timeout: readLimit}}, nil
}

// Checkpoint gives the newest checkpoint, which nobody has checked yet.
//
// Faults: NOT_FOUND if the server has none; FORBIDDEN if the token is none that it shows it to; UNAVAILABLE if it cannot be read, or sends more than a checkpoint has.
func (c *Client) Checkpoint(ctx context.Context) (string, error) {
	text, err := c.get(ctx, "/checkpoint", seal.MaxNote)
	return string(text), err
}

// Leaves gives the first width leaves, 1 to seal.TileWidth, of the n-th bundle: those from n·seal.TileWidth on.
//
// Faults: NOT_FOUND if the server's newest checkpoint does not cover them; FORBIDDEN if the token is no
// administrator's; UNAVAILABLE if they cannot be read, or are
// none.
func (c *Client) Leaves(ctx context.Context, n int64, width int) ([]seal.Leaf, error) {
	path := place{entries, n, width}.path()
	data, err := c.get(ctx, path, width*(2+seal.LeafBytes))
	if err != nil {
		return nil, err
	}
	leaves := make([]seal.Leaf, 0, width)
	for len(data) >= 2 {
		length := int(binary.BigEndian.Uint16(data))
		if data = data[2:]; length > len(data) {
			break
		}
		leaf, err := seal.ParseLeaf(data[:length])
		if err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "%s%s holds what is no leaf: %v", c.url, path, err)
		}
		leaves, data = append(leaves, leaf), data[length:]
	}
	if len(data) > 0 || len(leaves) != width {
		return nil, fault.New(fault.Unavailable, "%s%s does not hold %d leaves", c.url, path, width)
	}
	return leaves, nil
}

// Tiles gives the tree's tiles for tlog.TileHashReader, which checks them. Faults are those of Leaves.
func (c *Client) Tiles(ctx context.Context) tlog.TileReader {
	return tileReader(func(t tlog.Tile) ([]byte, error) {
		if t.H != seal.TileHeight || t.L < 0 {
			return nil, fault.New(fault.Internal, "tile %s is none of height %d", t.Path(), seal.TileHeight)
		}
		path, want := place{t.L, t.N, t.W}.path(), t.W*tlog.HashSize
		data, err := c.get(ctx, path, want)
		if err == nil && len(data) != want {
			err = fault.New(fault.Unavailable, "%s%s has %d bytes and not %d", c.url, path, len(data), want)
		}
		return data, err
	})
}

// tileReader reads a tile.
type tileReader func(tlog.Tile) ([]byte, error)

// Height gives the height of tiles.
func (tileReader) Height() int { return seal.TileHeight }

// SaveTiles keeps nothing.
func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

// ReadTiles reads tiles, one after the other.
func (read tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, t := range tiles {
		var err error
		if data[i], err = read(t); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// get reads a page of at most limit bytes.
func (c *Client) get(ctx context.Context, path string, limit int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "cannot ask for %s%s", c.url, path)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "%s cannot be reached", c.url)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fault.New(fault.NotFound, "%s does not have %s", c.url, path)
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fault.New(fault.Forbidden, "%s answers %d for %s: an administrator's token is needed", c.url, response.StatusCode, path)
	default:
		return nil, fault.New(fault.Unavailable, "%s answers %d for %s", c.url, response.StatusCode, path)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "%s%s cannot be read: %v", c.url, path, err)
	}
	return data, nil
}
