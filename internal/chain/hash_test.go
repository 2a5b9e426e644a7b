package chain

import (
	"strings"
	"testing"
)

// A hash is read from its text form and from nothing else, and stays what it was where there is none.
func TestHashText(t *testing.T) {
	t.Parallel()
	sum := Sum([]byte("abc"))
	text := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for name, read := range map[string]func(h *Hash, text string) error{
		"ParseHash":     func(h *Hash, text string) error { return h.set(ParseHash(text)) },
		"UnmarshalText": func(h *Hash, text string) error { return h.UnmarshalText([]byte(text)) },
		"ScanBytes":     func(h *Hash, text string) error { return h.ScanBytes([]byte(text)) },
	} {
		var h Hash
		if err := read(&h, text); err != nil || h != sum || h.String() != text {
			t.Errorf("%s(%q) = %s, %v", name, text, h, err)
		}
		for _, wrong := range []string{"", text[1:], text + "0", strings.ToUpper(text), text[:62] + "0x", "/" + text[1:], ":" + text[1:], "`" + text[1:], "g" + text[1:], text[:62] + "é"} {
			if err := read(&h, wrong); err == nil || h != sum {
				t.Errorf("%s(%q) = %s, %v, want an error", name, wrong, h, err)
			}
		}
	}
	h := sum
	if err := h.ScanBytes(nil); err == nil || h != sum {
		t.Errorf("ScanBytes(nil) = %s, %v, want an error", h, err)
	}
}
