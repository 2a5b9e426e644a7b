package main

import (
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/config"
)

const overviewQuery = `{ overview { messages sessions threads players selections atLeast appendsPerSecond outstanding lagSeconds
	checkpoint { size } embeddingModels { name } problems { severity code message } } }`

// Each caller sees the totals of what they see, the same as the lists have.
func TestOverview(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		s := newStage(t, newSite(t, fenced, config.Server{}))
		s.sealAll()
		for _, who := range []string{"admin", "client in", "client out"} {
			token := s.callers[who].token
			lists := s.ask(token, `{ messages { totalCount } sessions { totalCount } threads { totalCount }
				players: components(namespaces: [PLY, PLU, PLX]) { totalCount } }`, nil).reply(t)
			var got map[string]any
			s.soon("nothing waits", func() bool {
				got, _ = s.ask(token, overviewQuery, nil).reply(t).Data["overview"].(map[string]any)
				return got["outstanding"] == 0.0 && got["lagSeconds"] == 0.0
			})
			for _, name := range []string{"messages", "sessions", "threads", "players"} {
				list, _ := lists.Data[name].(map[string]any)
				if list == nil || got[name] != list["totalCount"] {
					t.Errorf("fenced %t: the overview has %v %s for %s, and the list %v", fenced, got[name], name, who, list)
				}
			}
			if got["atLeast"] != false || got["checkpoint"] == nil {
				t.Errorf("fenced %t, %s: %v, want all counted and sealed", fenced, who, got)
			}
			if (got["embeddingModels"] != nil) != (who == "admin") {
				t.Errorf("fenced %t: embedding models for %s: %v", fenced, who, got["embeddingModels"])
			}
			problems, _ := got["problems"].([]any)
			if fenced != (len(problems) == 0) {
				t.Fatalf("fenced %t: the problems for %s are %v", fenced, who, problems)
			}
			if fenced {
				continue
			}
			one, _ := problems[0].(map[string]any)
			told, _ := one["message"].(string)
			if one["severity"] != "NOTE" || one["code"] != "FENCE_OFF" || !strings.HasPrefix(told, "row-level security is off") ||
				strings.Contains(told, "cm_player") != (who == "admin") {
				t.Errorf("the problem for %s is %v", who, one)
			}
		}
	}
}

// What is wrong is wrong everywhere: at /readyz, in the metrics and in the overview.
func TestProblemsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, false, config.Server{}))
	s.sealAll()
	if body := string(s.send("GET", "/readyz", "", nil).body); body != "ready\nrow-level security is off\n" {
		t.Errorf("/readyz says %q", body)
	}
	runSQL(t, s.database, "ALTER TABLE seal.trees DISABLE TRIGGER ALL")
	runSQL(t, s.database, "DELETE FROM seal.trees WHERE size = (SELECT max(size) FROM seal.trees)")
	s.soon("the tree is refused", func() bool { return s.Sealer().State().Condition == db.Refused })
	s.soon("/readyz says so", func() bool { return s.send("GET", "/readyz", "", nil).status == 503 })
	if body := string(s.send("GET", "/readyz", s.admin, nil).body); !strings.HasPrefix(body, "the log is not sealed: ") {
		t.Errorf("/readyz says %q to administrators", body)
	}
	metrics := string(s.send("GET", "/metrics", s.admin, nil).body)
	for _, line := range []string{`context_manager_problem{code="seal_refused"} 1`, `context_manager_problem{code="fence_off"} 1`, `context_manager_problem{code="disk_low"} 0`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	got, _ := s.ask(s.admin, overviewQuery, nil).reply(t).Data["overview"].(map[string]any)
	problems, _ := got["problems"].([]any)
	var codes []any
	for _, p := range problems {
		codes = append(codes, p.(map[string]any)["code"])
	}
	if len(codes) != 2 || codes[0] != "SEAL_REFUSED" || codes[1] != "FENCE_OFF" {
		t.Errorf("the overview's problems are %v, want the seal first", problems)
	}
}

// The server tells administrators what it runs on, and no secret.
func TestServerInfo(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{RateLimit: 123}))
	r := s.ask(s.admin, `{ server { goVersion databaseVersion pgvectorVersion migration databaseBytes privateDatabase rowLevelSecurity
		roles { name purpose } dataDirectory { freeBytes totalBytes low } limits { name value unit setting } retention { name value unit } } }`, nil).reply(t)
	got, _ := r.Data["server"].(map[string]any)
	if got == nil {
		t.Fatalf("%+v", r)
	}
	if got["rowLevelSecurity"] != true || got["privateDatabase"] != false || got["migration"].(float64) < 16 || got["databaseBytes"].(float64) < 1<<20 ||
		got["databaseVersion"] == "" || got["pgvectorVersion"] == "" || !strings.HasPrefix(got["goVersion"].(string), "go1.") {
		t.Errorf("server = %v", got)
	}
	rate := map[string]any{"name": "tokenRate", "value": 123.0, "unit": "PER_SECOND", "setting": "RATE_LIMIT"}
	found := false
	for _, l := range got["limits"].([]any) {
		limit := l.(map[string]any)
		found = found || limit["name"] == rate["name"] && limit["value"] == rate["value"] && limit["unit"] == rate["unit"] && limit["setting"] == rate["setting"]
	}
	if !found {
		t.Errorf("the limits %v lack %v", got["limits"], rate)
	}
}
