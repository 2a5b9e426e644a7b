package limit

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// networkBits is how much of an IPv6 address counts as one: a customer has at least a /64.
const networkBits = 64

// ParseProxies reads addresses and networks, such as 10.0.0.1 or 10.0.0.0/8.
//
// Faults: BAD_USER_INPUT if one is neither.
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err == nil {
				prefix, err = address.WithZone("").Prefix(address.BitLen())
			}
		}
		if err != nil {
			return nil, fault.Input("TRUSTED_PROXIES", "%q is neither an address, such as 10.0.0.1, nor a network, such as 10.0.0.0/8", text)
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}

// address gives who sent a request, as a key. What X-Forwarded-For says counts as far as proxies that are trusted say
// it: from the right, the first address that is none of theirs.
func (l *Limiter) address(r *http.Request) string {
	found, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	at := found.Addr().Unmap()
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0 && l.trusts(at); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(said[i]))
		if err != nil {
			break
		}
		at = before.Unmap()
	}
	return Network(at).String()
}

// Network gives the address that stands for all that one customer has.
func Network(at netip.Addr) netip.Addr {
	if at.Is6() {
		if prefix, err := at.WithZone("").Prefix(networkBits); err == nil {
			return prefix.Addr()
		}
	}
	return at
}

func (l *Limiter) trusts(address netip.Addr) bool {
	for _, p := range l.proxies {
		if p.Contains(address.WithZone("")) {
			return true
		}
	}
	return false
}
