package tile

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]place{
		"/tile/0/000":                          {0, 0, 256},
		"/tile/63/999":                         {63, 999, 256},
		"/tile/0/x001/000":                     {0, 1000, 256},
		"/tile/2/x001/x234/067":                {2, 1234067, 256},
		"/tile/2/x001/x234/067.p/255":          {2, 1234067, 255},
		"/tile/entries/000.p/1":                {entries, 0, 1},
		"/tile/entries/x001/x234/067":          {entries, 1234067, 256},
		"/tile/0/x999/x999/x999/x999/x999/999": {0, 999999999999999999, 256},
	} {
		if got, ok := parsePath(path); !ok || got != want {
			t.Errorf("parsePath(%s) = %+v, %v, want %+v", path, got, ok, want)
		}
		if got := want.path(); got != path {
			t.Errorf("path of %+v = %s, want %s", want, got, path)
		}
	}
}

// hostilePaths are near to those that there are.
func hostilePaths() []string {
	return []string{
		"", "/", "/tile", "/tile/", "/tile/0", "/tile/0/", "/tile//000", "/tile/0//000", "/tile/0/000/", "//tile/0/000",
		"/tile/00/000", "/tile/+0/000", "/tile/-0/000", "/tile/-1/000", "/tile/64/000", "/tile/0x0/000", "/tile/data/000",
		"/tile/Entries/000", "/tile/entries", "/tile/8/0/000", "/tile/0/0", "/tile/0/00", "/tile/0/0000", "/tile/0/x000",
		"/tile/0/x000/000", "/tile/0/x000/x001/000", "/tile/0/001/000", "/tile/0/x1/000", "/tile/0/x001", "/tile/0/X001/000",
		"/tile/0/x001/x000", "/tile/0/-01", "/tile/0/+01", "/tile/0/ 01", "/tile/0/1e2", "/tile/0/0x1", "/tile/0/٠٠٠", "/tile/0/1_0",
		"/tile/0/000.p", "/tile/0/000.p/", "/tile/0/000.p/0", "/tile/0/000.p/00", "/tile/0/000.p/01", "/tile/0/000.p/+1",
		"/tile/0/000.p/-1", "/tile/0/000.p/256", "/tile/0/000.p/1000", "/tile/0/000.p/1/", "/tile/0/000.p/1.p/1",
		"/tile/0/000.P/1", "/tile/0/000p/1", "/tile/0/x001.p/1/000", "/tile/0/000.p/99999999999999999999",
		"/tile/0/x001/x000/x000/x000/x000/x000/000", "/tile/0/x009/x223/x372/x036/x854/x775/808",
		"/tile/0/" + strings.Repeat("x001/", 2000) + "001", "/tile/0/000%00", "/tile/0/%30%30%30", "/tile/0%2f000",
		"/tile/0/../0/000", "/tile/./0/000", "/tile/0/000?", "/tile/0/000#", "/tile/0/000\x00", "/tile/0/000\n",
	}
}

func TestParsePathRefuses(t *testing.T) {
	t.Parallel()
	for _, path := range hostilePaths() {
		if got, ok := parsePath(path); ok {
			t.Errorf("parsePath(%.80q) = %+v, want none", path, got)
		}
	}
}

// What is parsed has one path, and each path one place.
func TestPathsAreOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := place{rapid.IntRange(entries, maxLevel).Draw(t, "level"), rapid.Int64Range(0, 1e18-1).Draw(t, "n"), rapid.IntRange(1, 256).Draw(t, "width")}
		if got, ok := parsePath(p.path()); !ok || got != p {
			t.Fatalf("parsePath(%s) = %+v, %v, want %+v", p.path(), got, ok, p)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, path := range append(hostilePaths(), "/tile/0/000", "/tile/entries/x001/x234/067.p/7") {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if p, ok := parsePath(path); ok && (p.path() != path || p.n < 0 || p.width < 1 || p.width > 256 || p.level < entries) {
			t.Errorf("parsePath(%q) = %+v, whose path is %q", path, p, p.path())
		}
	})
}

func TestCovers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		place place
		size  int64
		want  bool
	}{
		{place{0, 0, 1}, 0, false},
		{place{0, 0, 1}, 1, true},
		{place{0, 0, 2}, 1, false},
		{place{0, 0, 256}, 255, false},
		{place{0, 0, 256}, 256, true},
		{place{entries, 1, 1}, 256, false},
		{place{entries, 1, 1}, 257, true},
		{place{1, 0, 1}, 255, false},
		{place{1, 0, 1}, 256, true},
		{place{1, 0, 2}, 511, false},
		{place{2, 0, 1}, 65535, false},
		{place{2, 0, 1}, 65536, true},
		{place{7, 0, 127}, math.MaxInt64, true},
		{place{7, 0, 128}, math.MaxInt64, false},
		{place{8, 0, 1}, math.MaxInt64, false},
		{place{63, 0, 1}, math.MaxInt64, false},
		{place{0, 1<<55 - 1, 255}, math.MaxInt64, true},
		{place{0, 1<<55 - 1, 256}, math.MaxInt64, false},
		{place{0, 1 << 55, 1}, math.MaxInt64, false},
		{place{0, 1 << 56, 1}, 1000, false}, // the first leaf's index is 2⁶⁴
		{place{0, 1<<55 + 1, 1}, 1000, false},
		{place{0, 999999999999999999, 1}, 1000, false},
	}
	for _, test := range tests {
		if got := test.place.covers(test.size); got != test.want {
			t.Errorf("covers(%+v, %d) = %v, want %v", test.place, test.size, got, test.want)
		}
	}
}
