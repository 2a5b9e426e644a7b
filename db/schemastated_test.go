package db_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// stated gives a row that leaves out nothing but what the log gives, and would be the next of session s: every column as
// text, by its name.
func stated(t *testing.T, conn *pgx.Conn) map[string]any {
	t.Helper()
	mustExec(t, conn, "BEGIN")
	mustExec(t, conn, "SELECT say('s', 'the next one')")
	text := value[map[string]any](t, conn, `SELECT jsonb_object_agg(f.key, f.value) FROM log.messages m,
		jsonb_each(to_jsonb(m) || jsonb_build_object('salt', m.salt::TEXT, 'attachments', m.attachments::TEXT, 'players_id', m.players_id::TEXT,
			'hashtags', m.hashtags::TEXT, 'item_id', m.item_id::TEXT, 'ambient', m.ambient::TEXT, 'sequence', m.sequence::TEXT, 'importance', m.importance::TEXT)) f
		WHERE m.content = 'the next one'`)
	mustExec(t, conn, "ROLLBACK")
	delete(text, "id")
	delete(text, "id_digest")
	return text
}

// insertStated writes such a row.
func insertStated(t *testing.T, conn *pgx.Conn, row map[string]any) error {
	t.Helper()
	names := slices.Sorted(maps.Keys(row))
	var places []string
	var values []any
	for i, name := range names {
		places, values = append(places, fmt.Sprintf("$%d", i+1)), append(values, row[name])
	}
	_, err := conn.Exec(t.Context(), "INSERT INTO log.messages ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(places, ", ")+")", values...)
	return err
}

// A row that leaves out nothing is held against the log as one that leaves out something is.
func TestStatedRowsAreChecked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, code string // "": it is taken
		change     func(row map[string]any, conn *pgx.Conn)
	}{
		{"as the log would", "", func(map[string]any, *pgx.Conn) {}},
		{"an id", "CM002", func(row map[string]any, _ *pgx.Conn) { row["id"] = "1" }},
		{"an id that was never given", "CM002", func(row map[string]any, _ *pgx.Conn) { row["id"] = "-5" }},
		{"an id_digest", "CM002", func(row map[string]any, _ *pgx.Conn) { row["id_digest"] = row["hash"] }},
		{"another predecessor", "CM001", func(row map[string]any, _ *pgx.Conn) { row["prev_hash"] = row["hash"] }},
		{"no predecessor", "23505", func(row map[string]any, _ *pgx.Conn) { row["prev_hash"] = nil }},
		{"a place further on", "CM001", func(row map[string]any, _ *pgx.Conn) { row["sequence"] = "4" }},
		{"the first place with a predecessor", "23505", func(row map[string]any, _ *pgx.Conn) { row["sequence"] = "1" }},
		{"another session's predecessor", "CM001", func(row map[string]any, conn *pgx.Conn) {
			row["session_hash"] = value[string](t, conn, "SELECT h('other')")
		}},
		{"before its predecessor in time", "CM003", func(row map[string]any, _ *pgx.Conn) { row["created_at"] = "1999-01-01 00:00:00+00" }},
		{"later than the hash says", "CM002", func(row map[string]any, _ *pgx.Conn) { row["created_at"] = "2999-01-01 00:00:00+00" }},
		{"another content", "CM002", func(row map[string]any, _ *pgx.Conn) { row["content"] = "another" }},
		{"other attachments", "CM002", func(row map[string]any, _ *pgx.Conn) { row["attachments"] = `{"a": 1}` }},
		{"an ambient", "CM002", func(row map[string]any, _ *pgx.Conn) { row["ambient"] = `{}` }},
		{"another salt", "CM002", func(row map[string]any, _ *pgx.Conn) { row["salt"] = `\x00112233445566778899aabbccddeeff` }},
		{"another owner", "CM002", func(row map[string]any, _ *pgx.Conn) { row["owner_id"] = row["hash"] }},
		{"a receiver", "CM002", func(row map[string]any, _ *pgx.Conn) { row["players_id"] = "{" + row["hash"].(string) + "}" }},
		{"another hash", "CM002", func(row map[string]any, _ *pgx.Conn) { row["hash"] = row["session_hash"] }},
		{"refs that are not there", "CM002", func(row map[string]any, _ *pgx.Conn) { row["refs_digest"] = row["hash"] }},
		{"attachments that are too long", "23514", func(row map[string]any, _ *pgx.Conn) {
			row["attachments"] = `{"a": "` + strings.Repeat("x", 1<<20) + `"}`
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn, _ := schema(t)
			mustExec(t, conn, "SELECT nextval('log.message_id')") // 1, which no message has
			mustExec(t, conn, "SELECT say('s', 'first'), say('s', 'second')")
			row := stated(t, conn)
			tt.change(row, conn)
			err := insertStated(t, conn, row)
			if code := sqlState(err); code != tt.code {
				t.Errorf("INSERT = %v (%s), want %q", err, code, tt.code)
			}
			if n, want := value[int](t, conn, "SELECT count(*) FROM log.messages"), 2; tt.code != "" && n != want {
				t.Errorf("%d messages, want %d", n, want)
			}
		})
	}
}
