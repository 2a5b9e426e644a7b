package db_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Messages that come are found by their ids however large the log is, and however many runs they come in.
func TestLeavesAreFoundByID(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	fillEvents(t, conn, 20_000)
	mustExec(t, conn, `INSERT INTO seal.leaves (leaf_index, session_hash, sequence, message_hash)
		SELECT row_number() OVER (ORDER BY id) - 1, session_hash, sequence, hash FROM log.messages WHERE id <= 19700`)
	mustExec(t, conn, "ANALYZE seal.leaves; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off") // as the sealer has it
	mustExec(t, conn, "SET work_mem = '64kB'")                                                                                // what is sorted costs as much as if the log were a hundred times as long
	queries, err := os.ReadFile("queries/seal.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AddLeaves", "AddLeavesOfFreePlaces"} {
		_, text, _ := strings.Cut(string(queries), "-- name: "+name+" :many\n")
		_, text, _ = strings.Cut(text, "\nSELECT")
		text, _, found := strings.Cut(text, "\nRETURNING")
		if !found {
			t.Fatalf("%s is not as it was", name)
		}
		text = strings.NewReplacer("@tree_size", "$1", "@firsts", "$2", "@lasts", "$3").Replace("SELECT" + text)
		mustExec(t, conn, "PREPARE leaves AS "+text)
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			mustExec(t, conn, "SET plan_cache_mode = "+mode)
			const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE leaves (0,
				'{19701,19711,19721,19731,19741,19751,19761,19771,19781,19791,19801,19811,19821,19831,19841,19851,19861,19871,19881,19891,19901}',
				'{19710,19720,19730,19740,19750,19760,19770,19780,19790,19800,19810,19820,19830,19840,19850,19860,19870,19880,19890,19900,19910}')`
			value[string](t, conn, explain) // reads what the plan needs, too
			var plan []struct {
				Plan map[string]any `json:"Plan"`
			}
			if err := json.Unmarshal([]byte(value[string](t, conn, explain)), &plan); err != nil {
				t.Fatal(err)
			}
			top := plan[0].Plan
			rows, blocks := top["Actual Rows"].(float64), top["Shared Hit Blocks"].(float64)+top["Shared Read Blocks"].(float64)
			if rows != 210 || blocks > 800 {
				t.Errorf("%s, %s: %v rows, %v blocks, want 210 of at most 800", name, mode, rows, blocks)
			}
		}
		mustExec(t, conn, "DEALLOCATE leaves")
	}
}
