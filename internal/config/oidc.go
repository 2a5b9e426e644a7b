package config

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// validateProvider refuses half an OpenID provider, and one that anybody on the way could pretend to be.
func (s Server) validateProvider() error {
	switch {
	case s.OIDCIssuer == "" && s.OIDCAudience != "":
		return fault.Input("OIDC_ISSUER", "is missing: OIDC_AUDIENCE is set, so say whose tokens are taken")
	case s.OIDCIssuer == "":
		return nil
	case s.OIDCAudience == "":
		return fault.Input("OIDC_AUDIENCE", "is missing: OIDC_ISSUER is set, so say for whom its tokens must be; without it those for any other program would do")
	}
	u, err := url.Parse(s.OIDCIssuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return fault.Input("OIDC_ISSUER", "%q is no issuer: it is an address that begins with https://, or http:// on loopback, as the provider itself writes it", s.OIDCIssuer)
	}
	return nil
}

// validateHosts refuses what no Host header could name.
func (s Server) validateHosts() error {
	for _, host := range s.AllowedHosts {
		if host == "*" {
			continue
		}
		if u, err := url.Parse("//" + host); host == "" || strings.ContainsAny(host, "/*@ ") || err != nil || u.Host != host || u.Port() != "" {
			return fault.Input("ALLOWED_HOSTS", "%q is no host: it is a name or an address without a port, such as app.example.org, or * for any", host)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
