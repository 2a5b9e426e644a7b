package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
)

const locomoFile = `[{
  "sample_id": "conv-1",
  "qa": [{"question": "?", "answer": 7}],
  "conversation": {
    "speaker_a": "Ada", "speaker_b": "Ben",
    "session_10_date_time": "12:09 am on 13 September, 2023",
    "session_10": [{"speaker": "Ada", "dia_id": "D10:1", "text": "Later."}],
    "session_2_date_time": "1:56 pm on 8 May, 2023",
    "session_2": [
      {"speaker": "Ada", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a red boat", "img_url": ["https://images.invalid/b.jpg"], "re-download": true},
      {"speaker": "Ben", "dia_id": "D2:2", "text": "", "blip_caption": "a cat"},
      {"speaker": "Ben", "dia_id": "D2:2", "text": "The same id again."},
      {"speaker": "Eve", "dia_id": "D2:4", "text": "May I join?"}
    ],
    "session_11_date_time": "1:00 pm on 14 September, 2023"
  }
}]`

func TestLocomo(t *testing.T) {
	t.Parallel()
	d, labels := open(t), map[string]chain.Hash{}
	for range 2 {
		_, err := ingest.Import(t.Context(), d, "f", strings.NewReader(locomoFile), ingest.Options{
			Labelled: func(label string, m chain.Message) { labels[label] = m.Hash },
		})
		if err != nil {
			t.Fatalf("Import: %v", err)
		}
	}
	var got []string
	messages := all(t, d)
	for _, m := range messages {
		found, err := d.ComponentsByHash(t.Context(), append(m.PlayerIDs, m.OwnerID))
		if err != nil {
			t.Fatal(err)
		}
		to := []string{}
		for _, p := range m.PlayerIDs {
			to = append(to, value(found[p].Name))
		}
		got = append(got, fmt.Sprintf("%s %d %s to %v: %q %s", m.CreatedAt.UTC().Format("2006-01-02T15:04:05"), m.Sequence,
			value(found[m.OwnerID].Name), to, *m.Content, *m.Attachments))
		if *m.ThreadHash != ingest.LocomoThread("conv-1") {
			t.Errorf("message %q is of another thread", *m.Content)
		}
	}
	want := []string{
		`2023-05-08T13:56:00 1 Ada to [Ben]: "Look!\n[image: a red boat]" {"dia_id": "D2:1", "img_url": ["https://images.invalid/b.jpg"], "sample_id": "conv-1", "re-download": true, "blip_caption": "a red boat"}`,
		`2023-05-08T13:56:20 2 Ben to [Ada]: "[image: a cat]" {"dia_id": "D2:2", "sample_id": "conv-1", "blip_caption": "a cat"}`,
		`2023-05-08T13:56:40 3 Ben to [Ada]: "The same id again." {"dia_id": "D2:2", "sample_id": "conv-1"}`,
		`2023-05-08T13:57:00 4 Eve to [Ada Ben]: "May I join?" {"dia_id": "D2:4", "sample_id": "conv-1"}`,
		`2023-09-13T00:09:00 1 Ada to [Ben]: "Later." {"dia_id": "D10:1", "sample_id": "conv-1"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("messages (-want +got):\n%s", diff)
	}
	for label, m := range map[string]int{"conv-1/D2:1": 0, "conv-1/D2:2": 1, "conv-1/D2:2#2": 2, "conv-1/D10:1": 4} {
		if labels[label] != messages[m].Hash {
			t.Errorf("%s stands for %s, want %s", label, labels[label], messages[m].Hash)
		}
	}
}

func TestLocomoRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	with := func(old, new string) string { return strings.Replace(locomoFile, old, new, 1) }
	for _, c := range []struct{ text, want string }{
		{with(`"sample_id": "conv-1",`, ""), "sample_id: is missing"},
		{with(`"speaker_b": "Ben",`, ""), "conversation.speaker_b: is missing"},
		{with(`"1:56 pm on 8 May, 2023"`, `"8 May 2023"`), `conversation.session_2_date_time: "8 May 2023" is no time such as "1:56 pm on 8 May, 2023"`},
		{with(`"session_2_date_time"`, `"session_two"`), "conversation.session_2_date_time: is missing, or no string"},
		{with(`"text": "May I join?"`, `"text": ""`), "conversation.session_2[3].content: is empty"},
		{with(`"speaker": "Eve", `, ""), "conversation.session_2[3].speaker: is missing"},
		{with(`"dia_id": "D2:4", `, ""), "conversation.session_2[3].dia_id: is missing"},
	} {
		_, err := ingest.Import(t.Context(), d, "f", strings.NewReader(c.text), ingest.Options{})
		if want := "f: line 1: " + c.want; err == nil || err.Error() != want {
			t.Errorf("Import = %v, want %s", err, want)
		}
	}
	wantContents(t, d)
}
