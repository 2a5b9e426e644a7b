package db_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/chain/chaintest"
)

const vectorFolder = "../testdata/chain"

// rowJSON gives a message's columns for jsonb_populate_record. Content, attachments and ambient go by themselves:
// the hash covers their digest, and a JSON null would become an SQL NULL.
func rowJSON(m *chain.Message) []byte {
	list := func(hashes []chain.Hash) []chain.Hash { return append([]chain.Hash{}, hashes...) }
	text, err := json.Marshal(map[string]any{
		"hash": m.Hash, "session_hash": m.SessionHash, "sequence": m.Sequence, "prev_hash": m.PrevHash, "thread_hash": m.ThreadHash,
		"owner_id": m.OwnerID, "players_id": list(m.PlayerIDs), "master_player": m.MasterPlayer, "role": m.Role, "event_type": m.EventType,
		"importance": m.Importance, "channel": m.Channel, "source": m.Source, "content_digest": m.ContentDigest,
		"salt": fmt.Sprintf(`\x%x`, m.Salt), "hashtags": list(m.Hashtags), "flag_id": m.FlagID, "master_item_id": m.MasterItemID,
		"item_id": list(m.ItemIDs), "loc_id": m.LocationID, "refs_digest": m.RefsDigest, "created_at": m.CreatedAt.Format(time.RFC3339Nano),
	})
	if err != nil { // nothing in it can fail
		panic(err)
	}
	return text
}

func split(refs []chain.Ref) (types, hashes []string) {
	for _, r := range refs {
		types, hashes = append(types, string(r.Type)), append(hashes, r.Hash.String())
	}
	return types, hashes
}

func optionalBytes(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// The functions of schema log compute what the vectors say, whatever encoding the client speaks.
func TestGoldenVectorsInSQL(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"UTF8", "LATIN1"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			conn := superuser(t, dbtest.New(t))
			mustExec(t, conn, "SET client_encoding = "+encoding)
			for _, v := range chaintest.Vectors(t, vectorFolder) {
				checkVector(t, conn, &v)
			}
		})
	}
}

func checkVector(t *testing.T, conn *pgx.Conn, v *chaintest.Vector) {
	t.Helper()
	types, hashes := split(v.Refs)
	var contentPreimage, preimage, attachments, ambient []byte
	var contentDigest, refsDigest, hash, idDigest string
	err := conn.QueryRow(t.Context(), `
		SELECT log.content_preimage($2, i.content, i.attachments, i.ambient), log.content_digest($2, i.content, i.attachments, i.ambient),
			log.refs_digest($6, $7), log.preimage(m), log.message_hash(m), log.id_digest($8, $9),
			convert_to(i.attachments::TEXT, 'UTF8'), convert_to(i.ambient::TEXT, 'UTF8')
		FROM jsonb_populate_record(NULL::log.messages, convert_from($1, 'UTF8')::JSONB) m,
			(SELECT convert_from($3, 'UTF8') AS content, convert_from($4, 'UTF8')::JSONB AS attachments,
				convert_from($5, 'UTF8')::JSONB AS ambient) i`,
		rowJSON(&v.Message), v.Salt, []byte(*v.Content), []byte(v.AttachmentsInput), optionalBytes(v.AmbientInput), types, hashes, v.ID, v.Hash.String()).
		Scan(&contentPreimage, &contentDigest, &refsDigest, &preimage, &hash, &idDigest, &attachments, &ambient)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	got := [...]string{contentDigest, refsDigest, hash, idDigest, string(attachments), string(ambient)}
	want := [...]string{v.ContentDigest.String(), v.RefsDigest.String(), v.Hash.String(), v.IDDigest.String(), string(*v.Attachments), ""}
	if v.Ambient != nil {
		want[5] = string(*v.Ambient)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: digests and texts differ (-want +got): %s", v.Name, diff)
	}
	if !bytes.Equal(preimage, v.Preimage) || v.ContentPreimage != nil && !bytes.Equal(contentPreimage, v.ContentPreimage) {
		t.Errorf("%s: log.preimage = %x, log.content_preimage = %.200x", v.Name, preimage, contentPreimage)
	}
}

// The trigger takes each vector with its hash stated, which it refuses unless it computes the same.
func TestGoldenVectorsThroughTrigger(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	inserted := int64(0)
	for _, v := range chaintest.Vectors(t, vectorFolder) {
		if v.Sequence > 3 { // its predecessors are not known
			continue
		}
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `
				INSERT INTO log.messages (hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role,
					event_type, importance, channel, source, content, attachments, ambient, salt, content_digest, hashtags, flag_id,
					master_item_id, item_id, loc_id, refs_digest, created_at)
				SELECT hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role, event_type,
					importance, channel, source, $2, $3::TEXT::JSONB, $4::TEXT::JSONB, salt, content_digest, hashtags, flag_id, master_item_id,
					item_id, loc_id, refs_digest, created_at
				FROM jsonb_populate_record(NULL::log.messages, $1)`,
				rowJSON(&v.Message), *v.Content, v.AttachmentsInput, v.AmbientInput); err != nil {
				return err
			}
			for i, r := range v.Refs {
				if _, err := tx.Exec(t.Context(), "INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type) VALUES ($1, $2, $3, $4)",
					v.Hash.String(), i+1, r.Hash.String(), r.Type); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		inserted++
	}
	if log, err := store.VerifyLog(t.Context(), nil); err != nil || !log.Valid || log.Messages != inserted || inserted < 60 {
		t.Errorf("VerifyLog() = %d of %d messages, %s, %v", log.Messages, inserted, words(log.Breaks), err)
	}
}

func TestGoldenRecords(t *testing.T) {
	t.Parallel()
	conn := superuser(t, dbtest.New(t))
	for _, v := range chaintest.Records(t, vectorFolder) {
		r := v.Record
		insert := func(hash *string) (got, data string, err error) {
			err = conn.QueryRow(t.Context(), `INSERT INTO knowledge.records (hash, kind, book, title, content, data, verified)
				VALUES ($1, lower($2::TEXT)::log.ref_type, $3, $4, $5, $6::TEXT::JSONB, $7) RETURNING hash, data::TEXT`,
				hash, r.Kind, r.Book, r.Title, r.Content, v.DataInput, r.Verified).Scan(&got, &data)
			return got, data, err
		}
		if _, _, err := insert(ptr(hashOf("other").String())); sqlState(err) != "CM002" {
			t.Errorf("%s: a wrong hash gives %v, want CM002", v.Name, err)
		}
		if hash, data, err := insert(nil); err != nil || hash != v.Hash.String() || data != string(r.Data) {
			t.Errorf("%s: hash = %s, data = %s, %v, want %s, %s", v.Name, hash, data, err, v.Hash, r.Data)
		}
		if _, _, err := insert(ptr(v.Hash.String())); sqlState(err) != "23505" {
			t.Errorf("%s: the same again gives %v, want a unique violation", v.Name, err)
		}
	}
}

// Whatever is written: what the trigger computes, what the functions compute and what Go computes is the same.
func TestHashesAgree(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	text := rapid.Map(rapid.String(), func(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "?") })
	hash := rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 4), func(b []byte) chain.Hash { return chain.Sum(b) })
	// Numbers in the exponents that Go writes, which jsonb writes out.
	value := rapid.Map(rapid.MapOfN(text, rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Int64(), func(n int64) any { return []any{n, nil, true} }),
	), 0, 4), func(m map[string]any) chain.JSON {
		data, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		return chain.JSON(data)
	})
	micro := rapid.Int64Range(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMicro())
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		d := chain.Draft{
			SessionHash: hashOf("property %d", n), ThreadHash: rapid.Ptr(hash, true).Draw(t, "thread"), OwnerID: hash.Draw(t, "owner"),
			PlayerIDs: rapid.SliceOfN(hash, 0, 4).Draw(t, "players"), MasterPlayer: rapid.Ptr(hash, true).Draw(t, "master"),
			Role: short(rapid.Ptr(text, true).Draw(t, "role"), chain.MaxRoleBytes), Importance: rapid.IntRange(0, 2).Draw(t, "importance"),
			EventType: rapid.SampledFrom([]chain.EventType{"", chain.EventError, chain.EventSystem, chain.EventTool}).Draw(t, "type"),
			Channel:   short(rapid.Ptr(text, true).Draw(t, "channel"), chain.MaxNameBytes), Source: short(rapid.Ptr(text, true).Draw(t, "source"), chain.MaxNameBytes),
			Content: "c" + text.Draw(t, "content"), Attachments: rapid.Ptr(value, true).Draw(t, "attachments"), Ambient: rapid.Ptr(value, true).Draw(t, "ambient"),
			Hashtags: rapid.SliceOfN(hash, 0, 4).Draw(t, "hashtags"), FlagID: rapid.Ptr(hash, true).Draw(t, "flag"),
			MasterItemID: rapid.Ptr(hash, true).Draw(t, "item"), ItemIDs: rapid.SliceOfN(hash, 0, 4).Draw(t, "items"),
			LocationID: rapid.Ptr(hash, true).Draw(t, "location"), CreatedAt: ptr(time.UnixMicro(micro.Draw(t, "time"))),
		}
		written, err := store.Append(t.Context(), []chain.Draft{d, draft(fmt.Sprint("refers ", n), "x")})
		if err != nil {
			t.Fatal(err)
		}
		for i := range written {
			m := &written[i]
			content := chain.Sum(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, m.Ambient))
			if m.ComputeHash() != m.Hash || content != m.ContentDigest {
				t.Fatalf("stored hash %s and content digest %s, computed %s and %s", m.Hash, m.ContentDigest, m.ComputeHash(), content)
			}
		}
	})
	var differ int
	err := conn.QueryRow(t.Context(), `SELECT count(*) FROM log.messages m WHERE log.message_hash(m) <> m.hash
		OR log.content_digest(salt, content, attachments, ambient) <> content_digest OR log.id_digest(id, hash) <> id_digest`).Scan(&differ)
	if err != nil || differ != 0 {
		t.Errorf("%d messages have other hashes by the functions than by the trigger, %v", differ, err)
	}
	if log, err := store.VerifyLog(t.Context(), nil); err != nil || !log.Valid || log.Messages != int64(2*n) {
		t.Errorf("VerifyLog() = %d messages, %s, %v", log.Messages, words(log.Breaks), err)
	}
}

// short cuts a text to a limit in bytes.
func short(s *string, limit int) *string {
	if s == nil || len(*s) <= limit {
		return s
	}
	return ptr(strings.ToValidUTF8((*s)[:limit], ""))
}

// What chain.CheckJSON counts is what Postgres writes: the limit of one is the limit of the other.
func TestJSONSizesAgree(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-1.50`, `12e2`, `1.5e-3`, `1.25e1`, `-1E+20`, `1e999`, `1e-999`, `0.5e-20`,
		`""`, `"a\"\\\/\b\f\n\r\t\u0001\u001f\u007f\u00e9\u4e2d\ud83d\ude00"`, `{}`, `[]`, ` [ 1,2 , [ ], {"a" : [ ]} ] `,
		`{"a":1,"b":[true,null,{"c":"d"}],"\n":{}}`, `[[],[[]],{"x":{}},[1,[2,3]],4]`,
	} {
		size := value[int](t, conn, "SELECT octet_length($1::TEXT::JSONB::TEXT)", text)
		padded := chain.JSON(text)
		if err := chain.CheckJSON("f", &padded, max(size, len(text))); err != nil {
			t.Errorf("CheckJSON(%s, %d) = %v", text, max(size, len(text)), err)
		}
		if size <= len(text) { // the text itself is too long then
			list := chain.JSON("[" + strings.Repeat(text+",", 99) + text + "]")
			size = value[int](t, conn, "SELECT octet_length($1::TEXT::JSONB::TEXT)", string(list))
			padded = list
		}
		if err := chain.CheckJSON("f", &padded, size-1); err == nil {
			t.Errorf("CheckJSON(%.100s, %d) = nil, want it refused: Postgres writes %d bytes", padded, size-1, size)
		}
	}
}
