package main

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/knowledge"
)

type routeCase struct {
	Route, Case, Method, Path, Body string
	Private                         bool // of a server with PRIVATE_LOG
	Want                            expectation
}

func (c routeCase) String() string { return strings.TrimSpace(c.Method + " " + c.Path + " " + c.Case) }

// methods are those that each route is asked by.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Each route has an expectation for each method.
func TestMatrixHasEachRoute(t *testing.T) {
	t.Parallel()
	m, there := readMatrix(t), map[string]bool{}
	s := newSite(t, true, config.Server{})
	for _, r := range routes(httpd.New(httpd.NewMetrics(), s.Log), s.Instance, auth.NewTokens(s.admin, s.DB, nil, s.Log), config.Server{}, httpd.NewMetrics(), s.Log) {
		for _, method := range methods {
			there[method+" "+r.pattern] = false
		}
	}
	for _, c := range m.Routes {
		m.of(t, c, c.Want)
		list := strings.Split(c.Method, " ")
		for _, method := range list {
			if _, ok := there[method+" "+c.Route]; !ok {
				t.Errorf("%s: there is no such route, or method", c)
			}
			there[method+" "+c.Route] = true
		}
	}
	for name, has := range there {
		if !has {
			t.Errorf("%s has no expectation in testdata/access/matrix.json", name)
		}
	}
}

// Every route and method for every caller.
func TestMatrixOfRoutes(t *testing.T) {
	t.Parallel()
	for name, open := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := readMatrix(t)
			public, private := newRouteStage(t, open(t, config.Server{})), newRouteStage(t, open(t, config.Server{PrivateLog: true}))
			for _, c := range m.Routes {
				s := public
				if c.Private {
					s = private
				}
				for name, want := range m.of(t, c, c.Want) {
					for _, method := range strings.Split(c.Method, " ") {
						s.askRoute(c, method, name, want)
					}
				}
			}
		})
	}
}

// newRouteStage fills a site with what routes are asked for.
func newRouteStage(t *testing.T, s *site) *stage {
	t.Helper()
	st := &stage{site: s}
	st.peopleAndThings()
	st.cast()
	record := s.record(knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: "the tides", Content: "high at noon"})[0]
	citing := says(eve, "shared", "what an export tells besides", ana, ben)
	citing.Refs = []chain.Ref{{Type: chain.RefContext, Hash: st.message.Hash}, {Type: chain.RefSecretary, Hash: record.Hash}}
	s.append(citing)
	st.sealAll()
	return st
}

// askRoute asks as one of the matrix's callers.
func (s *stage) askRoute(c routeCase, method, who, want string) {
	s.t.Helper()
	path := strings.ReplaceAll(c.Path, "$SESSION", s.message.SessionHash.String())
	got := s.send(method, path, s.callers[who].token, []byte(strings.ReplaceAll(c.Body, "$TOKEN", s.callers[who].token)), "Content-Type: application/json")
	if who == "session" && method == http.MethodDelete && got.status == http.StatusNoContent {
		s.callers[who] = caller{ana, s.signIn(s.callers["client in"].token)} // it has signed out
	}
	status := strconv.Itoa(got.status)
	if c.Route == "/" && status == "503" && bytes.Contains(s.send("GET", path, "", nil).body, []byte("console not built")) {
		status = "200" // built or not, it is for everybody
	}
	if status != want {
		s.t.Errorf("%s %s %s for %s: %s %.100s, want %s", method, path, c.Case, who, status, got.body, want)
	}
}
