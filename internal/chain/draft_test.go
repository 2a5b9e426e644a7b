package chain_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

func fullDraft() chain.Draft {
	h := func(text string) *chain.Hash { sum := chain.Sum([]byte(text)); return &sum }
	s := func(text string) *string { return &text }
	j := func(text string) *chain.JSON { json := chain.JSON(text); return &json }
	at := time.Date(2026, 5, 3, 9, 5, 0, 123456000, time.UTC)
	return chain.Draft{
		SessionHash: *h("s"), ThreadHash: h("t"), OwnerID: *h("o"), PlayerIDs: []chain.Hash{*h("p"), *h("q")}, MasterPlayer: h("m"),
		Role: s("user"), EventType: chain.EventTool, Importance: 1, Channel: s("c"), Source: s("src"), Content: "text",
		Attachments: j(`{"a":1}`), Ambient: j(`null`), PrevHash: h("prev"), Hashtags: []chain.Hash{*h("h")}, FlagID: h("f"),
		MasterItemID: h("mi"), ItemIDs: []chain.Hash{*h("i")}, LocationID: h("l"), CreatedAt: &at, Late: true,
		Refs: []chain.Ref{{Type: chain.RefContext, Hash: *h("r")}}, IdempotencyKey: s("k"),
		Original: &chain.Original{Hash: *h("original"), Salt: []byte("salt")},
	}
}

// Fingerprints are kept with the keys, so what they are made of may not change.
func TestFingerprintIsFixed(t *testing.T) {
	t.Parallel()
	full, empty := fullDraft(), chain.Draft{}
	for want, d := range map[string]*chain.Draft{
		"5408ee2b5185b0d95a89aab825f1732fdddd300b27e015be90f14bd5b734b6c3": &full,
		"e90d533937ebbaaa50a9522a8a13a95311740d0bdde5280a97d33dca5c155634": &empty,
	} {
		if got := d.Fingerprint().String(); got != want {
			t.Errorf("Fingerprint() = %s, want %s", got, want)
		}
	}
}

// Every field counts, but for the key and where an import comes from; one that Draft gains has to be decided on.
func TestFingerprintCoversFields(t *testing.T) {
	t.Parallel()
	full := fullDraft()
	seen := map[chain.Hash]string{full.Fingerprint(): "the full draft"}
	for field := range reflect.TypeFor[chain.Draft]().Fields() {
		changed := fullDraft()
		reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index).SetZero()
		mark := changed.Fingerprint()
		if field.Name == "IdempotencyKey" || field.Name == "KeyOf" || field.Name == "Original" || field.Name == "Late" { // how it is written, not what
			if mark != full.Fingerprint() {
				t.Errorf("%s changes the fingerprint", field.Name)
			}
			continue
		}
		if other, twice := seen[mark]; twice {
			t.Errorf("without %s, the fingerprint is that of %s", field.Name, other)
		}
		seen[mark] = "the draft without " + field.Name
	}
}

// What is left out, and its default written out, are the same draft.
func TestFingerprintDefaults(t *testing.T) {
	t.Parallel()
	object := chain.JSON("{}")
	left := chain.Draft{Content: "x"}
	out := chain.Draft{
		Content: "x", PlayerIDs: []chain.Hash{}, Hashtags: []chain.Hash{}, ItemIDs: []chain.Hash{}, Refs: []chain.Ref{},
		EventType: chain.EventMessage, Attachments: &object,
	}
	if left.Fingerprint() != out.Fingerprint() {
		t.Error("a draft whose defaults are written out has another fingerprint")
	}
	same := fullDraft()
	elsewhere := same.CreatedAt.In(time.FixedZone("", 3600))
	same.CreatedAt = &elsewhere
	if full := fullDraft(); same.Fingerprint() != full.Fingerprint() {
		t.Error("the same moment in another zone gives another fingerprint")
	}
	// What moves from one field to the next is not the same.
	hash := chain.Sum(nil)
	a, b := chain.Draft{PlayerIDs: []chain.Hash{hash}}, chain.Draft{MasterPlayer: &hash}
	if a.Fingerprint() == b.Fingerprint() {
		t.Error("a player and a master player give the same fingerprint")
	}
}
