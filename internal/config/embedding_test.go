package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEmbeddings(t *testing.T) {
	_, server, err := parse(t, map[string]string{
		"EMBEDDINGS_URL": "http://localhost:11434/v1", "EMBEDDINGS_MODEL": "small", "EMBEDDINGS_KEY": "key-1",
	})
	if err != nil || server.EmbeddingsURL != "http://localhost:11434/v1" || server.EmbeddingsModel != "small" || server.EmbeddingsKey != Secret("key-1") {
		t.Errorf("Server = %+v, %v, want what the environment says", server, err)
	}
	if time.Duration(server.EmbeddingCacheTTL) != time.Hour {
		t.Errorf("EmbeddingCacheTTL = %v, want an hour", time.Duration(server.EmbeddingCacheTTL))
	}
}

func TestModel(t *testing.T) {
	env := map[string]string{"LLM_URL": "http://localhost:11434/v1", "LLM_MODEL": "llama3.2", "LLM_KEY": "key-1"}
	_, server, err := parse(t, env)
	if err != nil || server.LLMURL != "http://localhost:11434/v1" || server.LLMModel != "llama3.2" || server.LLMKey != Secret("key-1") {
		t.Errorf("Server = %+v, %v, want what the environment says", server, err)
	}
	_, server, err = parse(t, env, "--llm-url", "http://localhost:8000/v1", "--llm-model", "small", "--llm-key", "key-2")
	if err != nil || server.LLMURL != "http://localhost:8000/v1" || server.LLMModel != "small" || server.LLMKey != Secret("key-2") {
		t.Errorf("Server = %+v, %v, want what the flags say", server, err)
	}
	_, server, err = parse(t, map[string]string{"LLM_URL": "", "LLM_MODEL": "", "LLM_KEY": ""})
	if err != nil || server.LLMURL+server.LLMModel != "" || server.LLMKey != "" {
		t.Errorf("Server = %+v, %v, want no model", server, err)
	}
}

func TestHalfAProviderIsRefused(t *testing.T) {
	cases := map[string]struct {
		env   map[string]string
		wants string
	}{
		"url alone":             {map[string]string{"EMBEDDINGS_URL": "http://a/v1"}, "EMBEDDINGS_MODEL: is missing"},
		"url with empty model":  {map[string]string{"EMBEDDINGS_URL": "http://a/v1", "EMBEDDINGS_MODEL": ""}, "EMBEDDINGS_MODEL: is missing"},
		"url and key":           {map[string]string{"EMBEDDINGS_URL": "http://a/v1", "EMBEDDINGS_KEY": "key-1"}, "EMBEDDINGS_MODEL: is missing"},
		"model alone":           {map[string]string{"EMBEDDINGS_MODEL": "small"}, "EMBEDDINGS_URL: is missing"},
		"key alone":             {map[string]string{"EMBEDDINGS_KEY": "key-1"}, "EMBEDDINGS_URL: is missing"},
		"model's url alone":     {map[string]string{"LLM_URL": "http://a/v1"}, "LLM_MODEL: is missing"},
		"model's empty name":    {map[string]string{"LLM_URL": "http://a/v1", "LLM_MODEL": "", "LLM_KEY": "key-1"}, "LLM_MODEL: is missing"},
		"model's name alone":    {map[string]string{"LLM_MODEL": "small"}, "LLM_URL: is missing"},
		"model's key alone":     {map[string]string{"LLM_KEY": "key-1"}, "LLM_URL: is missing"},
		"ttl that is no number": {map[string]string{"EMBEDDING_CACHE_TTL": "soon"}, "neither seconds"},
		"ttl below nothing":     {map[string]string{"EMBEDDING_CACHE_TTL": "-1"}, "neither seconds"},
		"ttl beyond time":       {map[string]string{"EMBEDDING_CACHE_TTL": "9223372036854775807"}, "neither seconds"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := parse(t, c.env)
			if err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("error = %v, want one with %q", err, c.wants)
			}
			if err != nil && strings.Contains(err.Error(), "key-1") {
				t.Errorf("error = %v, which shows the key", err)
			}
		})
	}
}

func TestCacheTTL(t *testing.T) {
	for value, want := range map[string]time.Duration{"": time.Hour, "0": 0, "60": time.Minute, " 60 ": time.Minute, "90m": 90 * time.Minute, "1500ms": 1500 * time.Millisecond} {
		_, server, err := parse(t, map[string]string{"EMBEDDING_CACHE_TTL": value})
		if got := time.Duration(server.EmbeddingCacheTTL); err != nil || got != want {
			t.Errorf("EMBEDDING_CACHE_TTL=%q is %v, %v, want %v", value, got, err, want)
		}
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	server := Server{EmbeddingsKey: "key-1", LLM: LLM{LLMKey: "key-1"}}
	encoded, err := json.Marshal(server)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{
		fmt.Sprintf("%v %+v %#v", server, server, server), string(encoded),
		fmt.Sprint(server.EmbeddingsKey), fmt.Sprintf("%q %x %d", server.EmbeddingsKey, server.EmbeddingsKey, server.EmbeddingsKey),
	} {
		if strings.Contains(got, "key-1") || strings.Contains(got, fmt.Sprintf("%x", "key-1")) {
			t.Errorf("printed %s, want no key", got)
		}
	}
}

func TestConversationTTL(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 30 * time.Minute, "60": time.Minute, "1m": time.Minute, "24h": 24 * time.Hour, "59s": 0, "24h1s": 0, "0": 0, "soon": 0} {
		_, server, err := parse(t, map[string]string{"CONVERSATION_TTL": value})
		if want == 0 {
			if err == nil {
				t.Errorf("CONVERSATION_TTL=%q is %v, want it refused", value, time.Duration(server.ConversationTTL))
			}
			continue
		}
		if got := time.Duration(server.ConversationTTL); err != nil || got != want {
			t.Errorf("CONVERSATION_TTL=%q is %v, %v, want %v", value, got, err, want)
		}
	}
}
