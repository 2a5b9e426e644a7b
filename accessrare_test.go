package main

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/sealfile"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/witness"
)

// newObjectStage is a stage that has something of every object, also of those that are there only when a witness signs, a
// provider embeds, a message is erased or in quarantine, or a chain is broken. What it adds is in the sessions "kept" and
// "broken" of Eve, Ana and Ben; nothing is written to them later.
func newObjectStage(t *testing.T, open func(testing.TB, config.Server) *site) *stage {
	t.Helper()
	embeds := providertest.New(t, 16)
	cfg := config.Server{
		LogKey: filepath.Join(t.TempDir(), "log.key"), LogOrigin: "example.org/log",
		EmbeddingsURL: embeds.URL(), EmbeddingsModel: providertest.Model,
	}
	_, silent, _ := strings.Cut(witnessOf(t, cfg, "silent.example.org"), "=")
	cfg.Witnesses = []string{witnessOf(t, cfg, "witness.example.org"), "http://127.0.0.1:1=" + silent} // which is a problem
	s := newStage(t, open(t, cfg))
	if err := startEmbedder(t.Context(), s.DB, cfg); err != nil {
		t.Fatal(err)
	}
	s.soon("the provider's model serves", func() bool {
		for _, m := range s.asAdmin(`{ embeddingModels { name state } }`, nil)["embeddingModels"].([]any) {
			if m := m.(map[string]any); m["name"] == providertest.Model && m["state"] == "SERVING" {
				return true
			}
		}
		return false
	})
	s.keep()
	s.breakChain()
	s.soon("all is witnessed, and a witness is missed", func() bool {
		all := s.asAdmin(`{ seal { waiting witnessed { size } checkpoint { size } } overview { problems { code } } }`, nil)
		seal := all["seal"].(map[string]any)
		return seal["waiting"] == 0.0 && seal["witnessed"] != nil && fmt.Sprint(seal["witnessed"]) == fmt.Sprint(seal["checkpoint"]) &&
			strings.Contains(fmt.Sprint(all["overview"]), "WITNESS_SILENT")
	})
	return s
}

// witnessOf starts a witness of the log that is to have the settings' key, and gives what WITNESSES says of it.
func witnessOf(t *testing.T, cfg config.Server, name string) string {
	t.Helper()
	key, err := sealfile.LoadKey(cfg.LogKey, cfg.LogOrigin)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := witness.Open(witness.Config{
		StateFile: filepath.Join(dir, "witness"), KeyFile: filepath.Join(dir, "witness.key"), Name: name, Logs: []string{key.Public},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	return server.URL + "=" + w.PublicKey()
}

// asAdmin asks, and gives the data.
func (s *stage) asAdmin(query string, variables any) map[string]any {
	s.t.Helper()
	r := s.ask(s.admin, query, variables).reply(s.t)
	if r.code() != "" {
		s.t.Fatalf("%s: %+v", query, r.Errors)
	}
	return r.Data
}

// keep fills the session "kept", in which a message has all that a message can have, others are selected, in quarantine,
// released and erased, and adds what names them to the documents' variables.
func (s *stage) keep() {
	s.t.Helper()
	thing := func(namespace component.Namespace) chain.Hash { return component.DefaultHash(namespace, "thing") }
	for _, key := range []string{"ana", "ben", "eve"} {
		s.upsert(component.Draft{Namespace: "ply", Key: key, Name: ptr("Player " + key), Description: ptr("plays " + key), Preferences: []string{"tea"}})
	}
	for _, namespace := range []component.Namespace{"hst", "flg", "itm", "loc"} {
		s.upsert(component.Draft{Namespace: namespace, Key: "thing", Name: ptr("Thing"), Description: ptr("a thing")})
	}
	first := s.append(says(eve, "kept", "the harbour has opened", ana, ben))[0]
	full := says(ana, "kept", "the harbour master is ill", ben)
	full.ThreadHash, full.MasterPlayer, full.Role, full.Channel, full.Source = ptr(sumOf("kept thread")), ptr(eve), ptr("user"), ptr("chat"), ptr("phone")
	full.Hashtags, full.FlagID, full.MasterItemID, full.LocationID = []chain.Hash{thing("hst")}, ptr(thing("flg")), ptr(thing("itm")), ptr(thing("loc"))
	full.ItemIDs, full.Ambient = []chain.Hash{thing("itm")}, ptr(chain.JSON(`{"light": "dim"}`))
	full.Refs = []chain.Ref{{Type: chain.RefContext, Hash: first.Hash}}
	s.append(full)
	own := says(dan, "dan's", "a harbour on another channel")
	own.Channel = ptr("chat")
	s.append(own)
	poison := s.append(says(ben, "kept", "the harbour needs your password", ana))[0]
	released := s.append(says(ben, "kept", "the harbour needs paint", ana))[0]
	erased := s.append(says(ana, "kept", "an address by the harbour", ben))[0]
	selected := map[chain.Hash]string{}
	for _, player := range []chain.Hash{ana, ben} {
		selected[player] = model.GlobalID("ContextSelection", s.chooseKept(player))
	}
	s.asAdmin(`mutation($h: Hash!) { quarantine(message: $h, reason: "why") { reason } }`, object{"h": poison.Hash})
	s.asAdmin(`mutation($h: Hash!) { quarantine(message: $h, reason: "why") { reason } }`, object{"h": released.Hash})
	s.asAdmin(`mutation($h: Hash!) { releaseQuarantine(message: $h, reason: "why") { reason } }`, object{"h": released.Hash})
	s.asAdmin(`mutation($h: Hash!) { eraseMessage(hash: $h, reason: "why") { hash } }`, object{"h": erased.Hash})
	s.values["idContextSelection"] = func(by caller) any {
		if selected[by.player] == "" {
			return selected[ana]
		}
		return selected[by.player]
	}
	s.values["kept"] = func(caller) any { return sumOf("session:kept") }
	s.values["keptThread"] = func(caller) any { return sumOf("kept thread") }
	s.values["poison"] = func(caller) any { return poison.Hash }
	s.values["placed"] = func(caller) any {
		m := s.append(says(eve, "shared", "for a while", ana, ben))[0]
		s.asAdmin(`mutation($h: Hash!) { quarantine(message: $h, reason: "why") { reason } }`, object{"h": m.Hash})
		return m.Hash
	}
}

// chooseKept keeps a selection of the session "kept" that follows another, leaves something out and has both relevances.
func (s *stage) chooseKept(player chain.Hash) string {
	s.t.Helper()
	request := selection.Request{
		Query: "What about the harbour and its password?", Player: &player, Limit: 3, TokenBudget: ptr(1000),
		Scope: selection.Scope{Sessions: []chain.Hash{sumOf("session:kept")}},
	}
	var chosen selection.Selection
	s.soon("both relevances are known", func() bool {
		before, err := s.As(player).RequestContext(s.t.Context(), request)
		if err != nil {
			s.t.Fatal(err)
		}
		after := request
		after.PreviousID = before.ID
		if chosen, err = s.As(player).RequestContext(s.t.Context(), after); err != nil {
			s.t.Fatal(err)
		}
		return len(chosen.Items) > 0 && !slices.ContainsFunc(chosen.Items, func(i selection.Item) bool { return i.Explanation.Semantic == nil })
	})
	return chosen.ID
}

// breakChain changes what a message of the session "broken" says, past the server.
func (s *stage) breakChain() {
	s.t.Helper()
	changed := s.append(says(eve, "broken", "the beginning", ana, ben), says(ana, "broken", "the truth", ben))[1]
	s.sealAll()
	runSQL(s.t, s.database, fmt.Sprintf(`ALTER TABLE log.messages DISABLE TRIGGER immutable; ALTER TABLE log.messages DISABLE TRIGGER erasure;
		UPDATE log.messages SET content = 'a lie' WHERE hash = '%s';
		ALTER TABLE log.messages ENABLE ALWAYS TRIGGER immutable; ALTER TABLE log.messages ENABLE ALWAYS TRIGGER erasure`, changed.Hash))
	s.values["broken"] = func(caller) any { return changed.SessionHash }
}
