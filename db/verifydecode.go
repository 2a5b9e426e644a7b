package db

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// storedRow is a row of verify/messages.sql. It is used again and again, and its entry points into it: so a row
// costs no memory but that of its texts.
type storedRow struct {
	entry chain.Entry

	prev, thread, master, flag, item, location chain.Hash
	role, channel, source, content             string
	attachments, ambient                       chain.JSON
	salt                                       []byte
	players, hashtags, items                   []chain.Hash
	refThreads                                 []chain.Hash
	leaf                                       chain.StoredLeaf
}

// decode takes a row apart, in Postgres' binary format, and gives its size. It believes nothing: the constraints
// that say what a column may hold can be gone.
func (r *storedRow) decode(values [][]byte) (size int) {
	e := &r.entry
	c := columns{values: values}
	e.ID = c.integer("id")
	e.Hash = c.hash("hash")
	e.SessionHash = c.hash("session_hash")
	e.Sequence = c.integer("sequence")
	e.PrevHash = c.optionalHash("prev_hash", &r.prev)
	e.ThreadHash = c.optionalHash("thread_hash", &r.thread)
	e.OwnerID = c.hash("owner_id")
	r.players = c.hashes("players_id", r.players)
	e.PlayerIDs = r.players
	e.MasterPlayer = c.optionalHash("master_player", &r.master)
	e.Role = optionalText(&c, &r.role)
	e.EventType = eventType(c.next())
	e.Importance = int16(c.integer("importance"))
	e.Channel = optionalText(&c, &r.channel)
	e.Source = optionalText(&c, &r.source)
	e.Content = optionalText(&c, &r.content)
	e.Attachments = optionalJSON(&c, &r.attachments)
	e.Ambient = optionalJSON(&c, &r.ambient)
	if e.Salt = c.next(); e.Salt != nil {
		r.salt = append(r.salt[:0], e.Salt...)
		e.Salt = r.salt
	}
	e.ContentDigest = c.hash("content_digest")
	r.hashtags = c.hashes("hashtags", r.hashtags)
	e.Hashtags = r.hashtags
	e.FlagID = c.optionalHash("flag_id", &r.flag)
	e.MasterItemID = c.optionalHash("master_item_id", &r.item)
	r.items = c.hashes("item_id", r.items)
	e.ItemIDs = r.items
	e.LocationID = c.optionalHash("loc_id", &r.location)
	e.RefsDigest = c.hash("refs_digest")
	e.CreatedAt = c.time("created_at")
	e.IDDigest = c.hash("id_digest")
	e.Unreadable = c.problem
	c.problem = ""
	r.decodeRefs(&c)
	e.RefsUnreadable = c.problem
	e.Leaf = r.decodeLeaf(&c)
	for _, v := range values {
		size += len(v)
	}
	return size
}

// decodeRefs reads the four lists that describe the refs, one element a ref.
func (r *storedRow) decodeRefs(c *columns) {
	refs := r.entry.Refs[:0]
	r.refThreads = r.refThreads[:0]
	positions, types, hashes, threads := c.list("position"), c.list("ref_type"), c.list("ref_hash"), c.list("thread_hash")
	if cap(r.refThreads) < len(positions) { // before anything points into it
		r.refThreads = make([]chain.Hash, 0, len(positions))
	}
	for i, position := range positions {
		ref := chain.StoredRef{Position: int32(c.number("position", position))}
		ref.Type = refType(types[i])
		c.read("ref_hash", &ref.Hash, hashes[i])
		if threads[i] != nil {
			r.refThreads = r.refThreads[:i+1]
			c.read("thread_hash of a ref", &r.refThreads[i], threads[i])
			ref.ThreadHash = &r.refThreads[i]
		} else {
			r.refThreads = r.refThreads[:i+1]
		}
		refs = append(refs, ref)
	}
	r.entry.Refs = refs
}

// decodeLeaf reads the place and the message of the leaf, nil if there is none.
func (r *storedRow) decodeLeaf(c *columns) *chain.StoredLeaf {
	index, message := c.next(), c.next()
	if index == nil {
		return nil
	}
	r.leaf.Index = c.number("leaf_index", index)
	c.read("message_hash of the leaf", &r.leaf.Message, message) // zero if it is none
	return &r.leaf
}

// columns reads a row's values one after the other. problem names the first that is none of its type.
type columns struct {
	values  [][]byte
	at      int
	problem string
}

func (c *columns) next() []byte {
	v := c.values[c.at]
	c.at++
	return v
}

func (c *columns) fail(column, format string, args ...any) {
	if c.problem == "" {
		c.problem = column + " " + fmt.Sprintf(format, args...)
	}
}

// read sets a hash from its text form. A valid text is lower case.
func (c *columns) read(column string, h *chain.Hash, text []byte) {
	*h = chain.Hash{}
	if text == nil {
		c.fail(column, "is NULL")
		return
	}
	if h.UnmarshalText(text) != nil {
		c.fail(column, "is %q, which is no hash", text)
	}
}

func (c *columns) hash(column string) (h chain.Hash) {
	c.read(column, &h, c.next())
	return h
}

func (c *columns) optionalHash(column string, h *chain.Hash) *chain.Hash {
	text := c.next()
	if text == nil {
		return nil
	}
	c.read(column, h, text)
	return h
}

func (c *columns) integer(column string) int64 { return c.number(column, c.next()) }

func (c *columns) number(column string, v []byte) int64 {
	switch len(v) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case 8:
		return int64(binary.BigEndian.Uint64(v))
	}
	c.fail(column, "is NULL")
	return 0
}

// epoch is 1970 in microseconds before 2000, where Postgres counts from.
const epoch = 946_684_800_000_000

func (c *columns) time(column string) time.Time {
	micro := c.integer(column)
	if micro == math.MaxInt64 || micro == math.MinInt64 {
		c.fail(column, "is infinite")
		return time.Time{}
	}
	if micro > math.MaxInt64-epoch {
		c.fail(column, "is beyond what can be counted")
		return time.Time{}
	}
	return time.UnixMicro(micro + epoch).UTC()
}

func (c *columns) hashes(column string, into []chain.Hash) []chain.Hash {
	into = into[:0]
	v := c.next()
	if v == nil {
		c.fail(column, "is NULL")
		return into
	}
	for i, text := range c.elements(column, v) {
		into = append(into, chain.Hash{})
		c.read(column, &into[i], text)
	}
	return into
}

func (c *columns) list(column string) [][]byte {
	v := c.next()
	if v == nil {
		return nil
	}
	return c.elements(column, v)
}

// elements takes an array apart: number of dimensions, flags, type, then size and first index of each dimension,
// then the elements. An array of more dimensions, or that does not start at 1, is none of ours.
func (c *columns) elements(column string, v []byte) [][]byte {
	if dimensions := binary.BigEndian.Uint32(v); dimensions == 0 {
		return nil
	} else if dimensions > 1 || binary.BigEndian.Uint32(v[16:]) != 1 {
		c.fail(column, "is no list")
		return nil
	}
	list := make([][]byte, binary.BigEndian.Uint32(v[12:]))
	v = v[20:]
	for i := range list {
		n := int32(binary.BigEndian.Uint32(v))
		if v = v[4:]; n >= 0 {
			list[i], v = v[:n:n], v[n:]
		}
	}
	return list
}

// optionalText keeps the text of before if it is the same, as roles and channels mostly are.
func optionalText(c *columns, into *string) *string {
	v := c.next()
	if v == nil {
		return nil
	}
	if *into != string(v) {
		*into = string(v)
	}
	return into
}

// optionalJSON is optionalText behind jsonb's version byte.
func optionalJSON(c *columns, into *chain.JSON) *chain.JSON {
	v := c.next()
	if v == nil {
		return nil
	}
	if string(*into) != string(v[1:]) {
		*into = chain.JSON(v[1:])
	}
	return into
}

func eventType(v []byte) chain.EventType {
	if string(v) == string(chain.EventMessage) {
		return chain.EventMessage
	}
	return chain.EventType(v)
}

func refType(v []byte) chain.RefType {
	if string(v) == string(chain.RefContext) {
		return chain.RefContext
	}
	return chain.RefType(v)
}
