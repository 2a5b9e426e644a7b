package db

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tzzr/context-manager/internal/chain"
)

// appendedSQL brings what Postgres knows log.appended, and a list of it, by.
const appendedSQL = "SELECT 'log.appended'::regtype::oid, 'log.appended[]'::regtype::oid"

// appendedName is what a connection's types have log.appended under.
const appendedName = "log.appended"

// appendedType gives what log.appended is known by to a connection, which takes lists of it as they are written here. It asks once.
func appendedType(ctx context.Context, conn *pgx.Conn) (uint32, error) {
	types := conn.TypeMap()
	if known, ok := types.TypeForName(appendedName); ok {
		return known.OID, nil
	}
	var one, list uint32
	if err := conn.QueryRow(ctx, appendedSQL).Scan(&one, &list); err != nil {
		return 0, err
	}
	types.RegisterType(&pgtype.Type{Name: appendedName, OID: one, Codec: pgtype.ByteaCodec{}})
	types.RegisterType(&pgtype.Type{Name: appendedName + "[]", OID: list, Codec: pgtype.ByteaCodec{}}) // bytes are sent as they are
	return one, nil
}

// records is a list of rows in Postgres' binary format: what array_send and record_send write.
type records struct {
	bytes []byte
	count int
}

// list gives the whole list, of rows of a type.
func (r *records) list(of uint32) []byte {
	const dimensions, nulls, first = 1, 0, 1
	out := make([]byte, 0, 20+len(r.bytes))
	for _, n := range []uint32{dimensions, nulls, of, uint32(r.count), first} {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return append(out, r.bytes...)
}

const appendedColumns = 25

// add adds a message: the columns of log.appended, in its order.
func (r *records) add(m *chain.Message) {
	start := len(r.bytes)
	r.number(0) // its length, once that is known
	r.number(appendedColumns)
	r.hash(&m.Hash)
	r.hash(&m.SessionHash)
	r.field(pgtype.Int8OID, 8)
	r.bytes = binary.BigEndian.AppendUint64(r.bytes, uint64(m.Sequence))
	r.hash(m.PrevHash)
	r.hash(m.ThreadHash)
	r.hash(&m.OwnerID)
	r.hashes(m.PlayerIDs)
	r.hash(m.MasterPlayer)
	r.text(m.Role)
	r.text((*string)(&m.EventType))
	r.field(pgtype.Int2OID, 2)
	r.bytes = binary.BigEndian.AppendUint16(r.bytes, uint16(m.Importance))
	r.text(m.Channel)
	r.text(m.Source)
	r.text(m.Content)
	r.text((*string)(m.Attachments))
	r.text((*string)(m.Ambient))
	r.field(pgtype.ByteaOID, len(m.Salt))
	r.bytes = append(r.bytes, m.Salt...)
	r.hash(&m.ContentDigest)
	r.hashes(m.Hashtags)
	r.hash(m.FlagID)
	r.hash(m.MasterItemID)
	r.hashes(m.ItemIDs)
	r.hash(m.LocationID)
	r.hash(&m.RefsDigest)
	r.field(pgtype.TimestamptzOID, 8)
	r.bytes = binary.BigEndian.AppendUint64(r.bytes, uint64(m.CreatedAt.UnixMicro()-millennium.UnixMicro()))
	binary.BigEndian.PutUint32(r.bytes[start:], uint32(len(r.bytes)-start-4))
	r.count++
}

// millennium is what Postgres counts microseconds from.
var millennium = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (r *records) number(n uint32) { r.bytes = binary.BigEndian.AppendUint32(r.bytes, n) }

// field begins a value of a type that has so many bytes; NULL has -1.
func (r *records) field(kind uint32, size int) {
	r.number(kind)
	r.number(uint32(size))
}

func (r *records) text(s *string) {
	if s == nil {
		r.field(pgtype.TextOID, -1)
		return
	}
	r.field(pgtype.TextOID, len(*s))
	r.bytes = append(r.bytes, *s...)
}

func (r *records) hash(h *chain.Hash) {
	if h == nil {
		r.field(pgtype.TextOID, -1)
		return
	}
	r.field(pgtype.TextOID, chain.HexLength)
	r.bytes = hex.AppendEncode(r.bytes, h[:])
}

// hashes adds the text of an array.
func (r *records) hashes(hashes []chain.Hash) {
	r.field(pgtype.TextOID, max(2, len(hashes)*(chain.HexLength+1)+1))
	if len(hashes) == 0 {
		r.bytes = append(r.bytes, "{}"...)
		return
	}
	for i, h := range hashes {
		r.bytes = append(r.bytes, "{,"[min(i, 1)])
		r.bytes = hex.AppendEncode(r.bytes, h[:])
	}
	r.bytes = append(r.bytes, '}')
}
