package tile

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// ask asks for a page as it is written.
func (s *served) ask(method, path string) (*http.Response, []byte) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.URL.Opaque = path // not cleaned
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response, body
}

// absent fails the test unless there is nothing at a path, and no cache keeps that.
func (s *served) absent(path string) {
	s.t.Helper()
	response, body := s.ask(http.MethodGet, path)
	if response.StatusCode != http.StatusNotFound || response.Header.Get("Cache-Control") != "no-store" {
		s.t.Errorf("GET %s with %d leaves = %d %.80q, %v, want 404", path, s.size, response.StatusCode, body, response.Header)
	}
}

// Of trees of every size, a client that trusts nothing reads the checkpoint, every tile and every leaf.
func TestEverySize(t *testing.T) {
	t.Parallel()
	const most = 600
	s := serve(t, sealtest.New(t, "log.example.org").Grow(most+1))
	s.absent("/checkpoint")
	s.absent("/tile/0/000.p/1")
	for size := 1; size <= most; size++ {
		s.grow(size)
		s.sign()
		s.check(size-1, size)
	}
}

// check reads all that a tree of a size has more than one of another.
func (s *served) check(from, size int) {
	s.t.Helper()
	text, err := s.Checkpoint(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	checkpoint, err := seal.Open(text, s.log.Policy())
	if err != nil || checkpoint.Head != s.log.Head(size) {
		s.t.Fatalf("the checkpoint of %d = %+v, %v", size, checkpoint, err)
	}
	tiles := tlog.NewTiles(seal.TileHeight, int64(from), int64(size))
	data, err := s.Tiles(s.t.Context()).ReadTiles(tiles)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, tile := range tiles {
		if !bytes.Equal(data[i], s.data(tile)) {
			s.t.Fatalf("tile %+v of %d leaves is another", tile, size)
		}
		if tile.W < seal.TileWidth-1 { // nothing beyond the tree
			s.absent(place{tile.L, tile.N, tile.W + 1}.path())
		}
	}
	for n := from / seal.TileWidth; n*seal.TileWidth < size; n++ {
		width := min(seal.TileWidth, size-n*seal.TileWidth)
		leaves, err := s.Leaves(s.t.Context(), int64(n), width)
		if err != nil || !slices.Equal(leaves, s.log.Leaves[n*seal.TileWidth:n*seal.TileWidth+width]) {
			s.t.Fatalf("bundle %d of %d leaves: %d leaves, %v", n, size, len(leaves), err)
		}
	}
	s.prove(checkpoint, size)
}

// prove has tlog prove a leaf from tiles that it checks itself.
func (s *served) prove(checkpoint seal.Checkpoint, size int) {
	s.t.Helper()
	reader := tlog.TileHashReader(tlog.Tree{N: checkpoint.Size, Hash: tlog.Hash(checkpoint.Root)}, s.Tiles(s.t.Context()))
	index := size * 7919 % size
	proof, err := seal.Prove(checkpoint.Note, checkpoint.Head, int64(index), reader)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := seal.CheckInclusion(proof, s.log.Leaves[index], s.log.Policy()); err != nil {
		s.t.Fatalf("leaf %d of %d by the served tiles: %v", index, size, err)
	}
}

// What no checkpoint covers is not served, though it is in the database.
func TestOnlyWhatIsSigned(t *testing.T) {
	t.Parallel()
	s := serve(t, sealtest.New(t, "log.example.org").Grow(520))
	s.grow(300)
	s.absent("/checkpoint")
	s.absent("/tile/0/000")
	s.absent("/tile/entries/000")
	s.sign()
	s.grow(520)
	for _, path := range []string{"/tile/0/001", "/tile/0/001.p/45", "/tile/1/000.p/2", "/tile/entries/001", "/tile/entries/001.p/45", "/tile/0/002.p/1", "/tile/2/000.p/1", "/tile/8/000.p/1"} {
		s.absent(path)
	}
	s.check(0, 300)
	s.sign()
	s.check(0, 520)
	// Partial tiles of a smaller tree stay, for whoever has its checkpoint.
	for _, width := range []int{1, 44, 255} {
		data, err := s.Tiles(t.Context()).ReadTiles([]tlog.Tile{{H: 8, L: 0, N: 1, W: width}})
		if err != nil || !bytes.Equal(data[0], s.data(tlog.Tile{H: 8, L: 0, N: 1, W: width})) {
			t.Errorf("the partial tile of width %d: %v", width, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t, sealtest.New(t, "log.example.org").Grow(257))
	s.grow(257)
	s.sign()
	const text, binary = "text/plain; charset=utf-8", "application/octet-stream"
	for _, test := range []struct {
		path, contentType, cache string
		length                   int
	}{
		{"/checkpoint", text, "no-cache", len(s.log.Checkpoint(257))},
		{"/log.pub", text, "no-cache", len(s.log.Public) + 1},
		{"/tile/0/000", binary, forever, 8192},
		{"/tile/0/001.p/1", binary, forever, 32},
		{"/tile/1/000.p/1", binary, forever, 32},
		{"/tile/entries/000", binary, "private, max-age=31536000, immutable", 256 * (2 + seal.LeafBytes)},
		{"/tile/entries/001.p/1", binary, "private, max-age=31536000, immutable", 2 + seal.LeafBytes},
	} {
		get, body := s.ask(http.MethodGet, test.path)
		head, none := s.ask(http.MethodHead, test.path)
		for _, r := range []*http.Response{get, head} {
			if h := r.Header; r.StatusCode != http.StatusOK || h.Get("Content-Type") != test.contentType || h.Get("Cache-Control") != test.cache ||
				h.Get("Content-Length") != strconv.Itoa(test.length) || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s = %d %v, want %+v", r.Request.Method, test.path, r.StatusCode, h, test)
			}
		}
		if len(body) != test.length || len(none) != 0 {
			t.Errorf("%s has %d bytes, and %d in answer to HEAD; want %d and none", test.path, len(body), len(none), test.length)
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			if r, _ := s.ask(method, test.path); r.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s = %d, want 405", method, test.path, r.StatusCode)
			}
		}
	}
	if _, key := s.ask(http.MethodGet, "/log.pub"); string(key) != s.log.Public+"\n" {
		t.Errorf("GET /log.pub = %q, want %q", key, s.log.Public)
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	s := serve(t, sealtest.New(t, "log.example.org").Grow(257))
	s.grow(257)
	s.sign()
	for _, path := range hostilePaths() {
		if len(path) == 0 || path[0] != '/' || bytes.ContainsAny([]byte(path), "\x00\n #?") { // which HTTP has no path for
			continue
		}
		response, body := s.ask(http.MethodGet, path)
		switch {
		case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusBadRequest:
		case response.StatusCode == http.StatusTemporaryRedirect || response.StatusCode == http.StatusMovedPermanently: // to a clean path
		default:
			t.Errorf("GET %.80s = %d with %d bytes, want 404", path, response.StatusCode, len(body))
		}
	}
	for _, path := range []string{"/tile/0/x010/000", "/tile/7/000.p/1", "/tile/63/000", "/tile/0/x036/x028/x797/x018/x963/968.p/1"} {
		s.absent(path)
	}
}

// What is incomplete or damaged would stay so in caches for ever: it is not answered.
func TestWhatCannotBeReadIsNotCached(t *testing.T) {
	t.Parallel()
	s := serve(t, sealtest.New(t, "log.example.org").Grow(300))
	s.grow(300)
	s.sign()
	s.check(0, 300)
	unavailable := func(what string, paths ...string) {
		t.Helper()
		for _, path := range paths {
			r, body := s.ask(http.MethodGet, path)
			if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s, GET %s = %d %.80q %v, want 503 and no cache", what, path, r.StatusCode, body, r.Header)
			}
		}
	}
	s.exec("ALTER TABLE seal.leaves DISABLE TRIGGER ALL")
	s.exec("ALTER TABLE seal.tiles DISABLE TRIGGER ALL")
	s.exec("CREATE TABLE leaves_before AS SELECT * FROM seal.leaves")
	s.exec("CREATE TABLE tiles_before AS SELECT * FROM seal.tiles")
	s.exec("UPDATE seal.leaves SET message_hash = session_hash WHERE leaf_index IN (3, 260)")
	unavailable("with altered leaves", "/tile/entries/000", "/tile/0/001.p/44", "/tile/entries/001.p/44")
	s.exec("UPDATE seal.leaves l SET message_hash = b.message_hash FROM leaves_before b WHERE b.leaf_index = l.leaf_index")
	s.exec("UPDATE seal.tiles SET hashes = set_byte(hashes, 96, get_byte(hashes, 96) # 1)")
	unavailable("with an altered tile", "/tile/0/000", "/tile/entries/000")
	s.exec("UPDATE seal.tiles t SET hashes = b.hashes FROM tiles_before b WHERE (b.level, b.n) = (t.level, t.n)")
	s.exec("UPDATE seal.tiles SET root = encode(sha256(hashes), 'hex')")
	unavailable("with an altered root of a tile", "/tile/1/000.p/1")
	s.exec("UPDATE seal.tiles t SET root = b.root FROM tiles_before b WHERE (b.level, b.n) = (t.level, t.n)")
	s.check(0, 300)
	s.exec("DELETE FROM seal.leaves WHERE leaf_index = 299")
	unavailable("without the last leaf", "/tile/0/001.p/44", "/tile/entries/001.p/44")
	s.exec("DELETE FROM seal.tiles")
	unavailable("without tiles", "/tile/0/000", "/tile/1/000.p/1")
	s.exec("ALTER TABLE seal.checkpoints RENAME TO gone")
	unavailable("without checkpoints", "/checkpoint", "/tile/0/000", "/tile/entries/000")
}

func TestClientRefuses(t *testing.T) {
	t.Parallel()
	leaf := seal.Leaf{Sequence: 1}.Bytes()
	bundle := append([]byte{0, byte(len(leaf))}, leaf...)
	for _, test := range []struct {
		name   string
		status int
		body   []byte
		want   fault.Code
	}{
		{"nothing", 200, nil, fault.Unavailable},
		{"a leaf too few", 200, bundle, fault.Unavailable},
		{"a leaf too many", 200, bytes.Repeat(bundle, 3), fault.Unavailable},
		{"a byte too few", 200, bytes.Repeat(bundle, 2)[:2*len(bundle)-1], fault.Unavailable},
		{"a byte too many", 200, append(bytes.Repeat(bundle, 2), 0), fault.Unavailable},
		{"other lengths", 200, append([]byte{0, byte(len(leaf) + 1)}, bytes.Repeat(bundle, 2)...), fault.Unavailable},
		{"another label", 200, bytes.ReplaceAll(bytes.Repeat(bundle, 2), []byte("leaf"), []byte("blad")), fault.Unavailable},
		{"401", 401, nil, fault.Forbidden},
		{"403", 403, nil, fault.Forbidden},
		{"404", 404, nil, fault.NotFound},
		{"500", 500, nil, fault.Unavailable},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = w.Write(test.body)
		}))
		client, err := NewClient(server.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		if leaves, err := client.Leaves(t.Context(), 0, 2); err == nil || fault.CodeOf(err) != test.want {
			t.Errorf("%s: Leaves = %v, %v, want %s", test.name, leaves, err, test.want)
		}
		if data, err := client.Tiles(t.Context()).ReadTiles([]tlog.Tile{{H: 8, W: 2}}); err == nil || fault.CodeOf(err) != test.want {
			t.Errorf("%s: ReadTiles = %x, %v, want %s", test.name, data, err, test.want)
		}
		server.Close()
	}
	for _, address := range []string{"", "log.example.org", "ftp://log.example.org", "http://", "http://log.example.org?x", "http://log.example.org#x"} {
		if _, err := NewClient(address, ""); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("NewClient(%q): %v, want BAD_USER_INPUT", address, err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, seal.MaxNote+1))
	}))
	defer server.Close()
	client, _ := NewClient(server.URL, "")
	if _, err := client.Checkpoint(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a checkpoint that does not end: %v, want UNAVAILABLE", err)
	}
}
