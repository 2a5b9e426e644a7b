package auth

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	addr := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080} }
	for name, test := range map[string]struct {
		hosts *Hosts
		yes   []string
		no    []string
	}{
		"on loopback": {NewHosts(nil, "127.0.0.1:8080", addr("127.0.0.1")),
			[]string{"127.0.0.1:8080", "localhost", "LOCALHOST:8080", "localhost.:8080", "app.localhost:8080", "[::1]:8080", "127.1.2.3", "[::ffff:127.0.0.1]:80"},
			[]string{"", "evil.example", "evil.example:8080", "localhost.evil.example", "notlocalhost", "192.168.1.5:8080", "127.0.0.1.evil.example", "[::2]:80"}},
		"on a name of loopback": {NewHosts(nil, "desk.local:8080", addr("127.0.0.1")),
			[]string{"desk.local:8080", "localhost"}, []string{"evil.example"}},
		"on loopback, with names": {NewHosts([]string{"App.example.org"}, "127.0.0.1:8080", addr("127.0.0.1")),
			[]string{"app.example.org", "APP.example.org:443", "localhost:8080"}, []string{"evil.example", "example.org", "x.app.example.org"}},
		"on all addresses": {NewHosts(nil, ":8080", addr("::")),
			[]string{"evil.example", "192.168.1.5:8080", ""}, nil},
		"on all addresses, with names": {NewHosts([]string{"app.example.org"}, ":8080", addr("::")),
			[]string{"app.example.org:8080", "localhost"}, []string{"evil.example", "192.168.1.5:8080", ""}},
		"on an address, with names": {NewHosts([]string{"app.example.org"}, "192.168.1.5:8080", addr("192.168.1.5")),
			[]string{"app.example.org", "192.168.1.5:8080"}, []string{"192.168.1.6:8080"}},
		"any": {NewHosts([]string{"*"}, "127.0.0.1:8080", addr("127.0.0.1")), []string{"evil.example"}, nil},
	} {
		for _, host := range test.yes {
			if !test.hosts.Allow(host) {
				t.Errorf("%s: Host %q is refused", name, host)
			}
		}
		for _, host := range test.no {
			if test.hosts.Allow(host) {
				t.Errorf("%s: Host %q is let in", name, host)
			}
		}
	}
}

func TestHostsHandler(t *testing.T) {
	t.Parallel()
	hosts := NewHosts(nil, "127.0.0.1:8080", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	h := hosts.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for target, want := range map[string]int{
		"http://localhost:8080/graphql": 204, "http://evil.example/graphql": 421, "http://evil.example/": 421,
		"http://evil.example/session": 421, "http://evil.example/healthz": 204, "http://evil.example/readyz": 204, "http://evil.example/healthz/..": 421,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", target, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
		if w.Code == 421 {
			if code, _ := message(t, w.Result()); code != fault.Forbidden {
				t.Errorf("%s: %s, want FORBIDDEN", target, code)
			}
		}
	}
}
