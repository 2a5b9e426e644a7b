package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/servertest"
)

// A server with a provider embeds the sample log, uses it, and shows how it goes; without one it goes on by words.
func TestServeEmbeds(t *testing.T) {
	t.Parallel()
	model := providertest.New(t, 64)
	model.RequireKey("a-key")
	settings := []string{"EMBEDDINGS_URL=" + model.URL(), "EMBEDDINGS_MODEL=" + providertest.Model, "EMBEDDINGS_KEY=a-key"}
	p := start(t, servertest.DataDir(t), append(settings, "DEMO=1")...)
	var data struct {
		EmbeddingModels []struct {
			Name, State           string
			Embedded, Outstanding int
			LastError             *string
		}
	}
	for limit := time.Now().Add(time.Minute); ; {
		if err := p.Ask(t.Context(), "{embeddingModels{name state embedded outstanding lastError}}", nil, &data); err != nil {
			t.Fatal(err)
		}
		m := data.EmbeddingModels[0]
		if m.Name == providertest.Model && m.State == "SERVING" && m.Outstanding == 0 && m.Embedded >= 50 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("not within a minute: %+v\n%s", data, p.Output())
		}
	}
	_, metrics := p.GetAsAdmin("/metrics")
	for _, want := range []string{"outstanding", "refused", "failures_total"} {
		if line := "context_manager_embedding_" + want + `{model="` + providertest.Model + `"} 0`; !strings.Contains(metrics, line) {
			t.Errorf("/metrics has no %s", line)
		}
	}
	if !strings.Contains(metrics, "context_manager_embedding_embedded_total") || strings.Contains(p.Output(), "a-key") {
		t.Errorf("/metrics does not say what was embedded, or the log holds the key:\n%s", p.Output())
	}
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.Output())
	}
	out, err := command(t, servertest.DataDir(t), "--embeddings-url=http://localhost/v1?key=1", "--embeddings-model=m").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "EMBEDDINGS_URL") {
		t.Errorf("a wrong address is answered by %s, %v", out, err)
	}
}
