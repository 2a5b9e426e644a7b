package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// Hosts are the names that a server answers to. A page whose own name is made to point here ("DNS rebinding") counts as
// of the same origin for the browser; what gives it away is the Host header.
type Hosts struct {
	any   bool
	names map[string]bool
}

// NewHosts gives the hosts of a server that listens on an address. Names of loopback are among them, and the host that it
// was told to listen on. Besides, it answers to the names allowed, of which "*" stands for all; with none allowed, one
// that listens on loopback answers to no others, and one that listens elsewhere to all.
func NewHosts(allowed []string, told string, listening net.Addr) *Hosts {
	h := &Hosts{names: map[string]bool{}}
	for _, name := range allowed {
		h.any = h.any || name == "*"
		h.names[plainHost(name)] = true
	}
	if host, _, err := net.SplitHostPort(told); err == nil && host != "" {
		h.names[plainHost(host)] = true
	}
	host, _, err := net.SplitHostPort(listening.String())
	h.names[plainHost(host)] = true
	if len(allowed) == 0 && (err != nil || !isLoopback(host)) {
		h.any = true
	}
	return h
}

// Handler hands on requests that are meant for this server, and refuses others with 421. Health is told to any.
func (h *Hosts) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" && !h.Allow(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, fault.New(fault.Forbidden,
				"the Host header names no host that this server answers to; its administrator can set ALLOWED_HOSTS"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Allow tells whether a Host header, with or without a port, names this server.
func (h *Hosts) Allow(header string) bool {
	if h.any {
		return true
	}
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	host = plainHost(host)
	return host != "" && (h.names[host] || isLoopback(host))
}

// plainHost gives a host in the one form that is compared.
func plainHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return host
}

// isLoopback tells whether a host can only be the machine itself: no name that others give is taken for one.
func isLoopback(host string) bool {
	host = plainHost(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
