package chaos

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// healthyLimit is how soon the pool must be well once the network is.
const healthyLimit = 2 * time.Second

// network is a proxy between a server and its Postgres, which does what networks do.
type network struct {
	proxy *toxiproxy.Proxy
	url   string // of the database through it
}

// network puts a proxy before a cluster.
func (s *stage) network(c *cluster) (*network, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics log by themselves
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(api, "postgres", "127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", c.port))
	if err := proxy.Start(); err != nil {
		return nil, err
	}
	s.later(proxy.Stop)
	address := fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable", url.QueryEscape(s.password), proxy.Listen, database)
	return &network{proxy, address}, nil
}

// poison adds toxics both ways.
func (n *network) poison(kind, attributes string) func(context.Context) error {
	return func(context.Context) error {
		for _, stream := range []string{"upstream", "downstream"} {
			text := fmt.Sprintf(`{"type": %q, "stream": %q, "attributes": %s}`, kind, stream, attributes)
			if _, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
		return nil
	}
}

func (n *network) cure(ctx context.Context) error {
	n.proxy.Toxics.ResetToxics(ctx)
	return nil
}

// badNetwork does to the connections between server and Postgres what networks do.
func badNetwork(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	n, err := s.network(c)
	if err != nil {
		return err
	}
	scene, err := s.scene(ctx, n.url, varied)
	if err != nil {
		return err
	}
	hold := size(s, 2*time.Second, 10*time.Second)
	direct := func() string { return c.url(database) }
	for _, d := range []disruption{
		{done: "connections cut, new ones refused", hold: hold,
			begin: func(context.Context) error { n.proxy.Stop(); return nil },
			end:   func(context.Context) error { return n.proxy.Start() }},
		{done: "each connection reset once it is used", hold: hold, begin: n.poison("reset_peer", `{"timeout": 0}`), end: n.cure},
		{done: "64 kB/s", hold: hold, begin: n.poison("bandwidth", `{"rate": 64}`), end: n.cure},
		{done: "100 ms ± 100 ms", hold: hold, begin: n.poison("latency", `{"latency": 100, "jitter": 100}`), end: n.cure},
	} {
		d.done += fmt.Sprintf(" for %s", d.hold)
		d.times, d.again, d.database = size(s, 1, 3), healthyLimit, direct
		if err := scene.disrupt(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", d.done, err)
		}
	}
	return s.blackHole(ctx)
}

// blackHole lets nothing through between server and Postgres. What was connected then is lost, and nobody says so to the
// server, which has to find out. Postgres does by its keep-alive, and until then keeps what is connected, with its locks.
func (s *stage) blackHole(ctx context.Context) error {
	c, err := s.started(ctx, map[string]string{"max_connections": "300"})
	if err != nil {
		return err
	}
	h, err := newHole(fmt.Sprintf("127.0.0.1:%d", c.port), keepAliveLimit)
	if err != nil {
		return err
	}
	s.later(h.close)
	scene, err := s.scene(ctx, fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable", url.QueryEscape(s.password), h.addr(), database), varied)
	if err != nil {
		return err
	}
	hold := size(s, operationLimit+5*time.Second, 45*time.Second) // longer than any request may take
	return scene.disrupt(ctx, disruption{
		done: fmt.Sprintf("a black hole for %s, what was connected stays silent", hold), times: size(s, 1, 3), hold: hold, again: healthyLimit,
		begin:    func(context.Context) error { h.fall(); return nil },
		end:      func(context.Context) error { h.rise(); return nil },
		database: func() string { return c.url(database) },
	})
}
