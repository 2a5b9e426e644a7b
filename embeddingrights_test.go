package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/servertest"
)

// twoModels is a provider of the models small and large.
func twoModels(t *testing.T) (address string) {
	t.Helper()
	models := map[string]http.Handler{}
	for name, dimensions := range map[string]int{"small": 64, "large": 96} {
		target, err := url.Parse(providertest.New(t, dimensions).URL())
		if err != nil {
			t.Fatal(err)
		}
		models[name] = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host }}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &asked) != nil || models[fmt.Sprint(asked["model"])] == nil {
			http.NotFound(w, r)
			return
		}
		model := models[fmt.Sprint(asked["model"])]
		asked["model"] = providertest.Model
		if body, err = json.Marshal(asked); err != nil {
			panic(err) // it was JSON
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// untilServes waits until a model serves the whole log.
func untilServes(t *testing.T, p *servertest.Process, name string) {
	t.Helper()
	var data struct {
		EmbeddingModels []struct {
			Name, State string
			Outstanding int
		}
	}
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if err := p.Ask(t.Context(), "{embeddingModels{name state outstanding}}", nil, &data); err != nil {
			t.Fatal(err)
		}
		for _, m := range data.EmbeddingModels {
			if m.Name == name && m.State == "SERVING" && m.Outstanding == 0 {
				return
			}
		}
	}
	t.Fatalf("%s does not serve within a minute: %+v\n%s", name, data, p.Output())
}

// wantMeanings asks for context as somebody until dense vectors take part, and then what becomes of that: it is the same again, and
// it is told why something is not in it.
func wantMeanings(t *testing.T, p *servertest.Process, who, token string) (selection string) {
	t.Helper()
	admin := p.Token
	p.Token = token
	defer func() { p.Token = admin }()
	type item struct {
		Hash        string
		Explanation struct{ Semantic *float64 }
	}
	var asked struct {
		RequestContext struct {
			ID      string
			Notices []string
			Items   []item
			Dropped []struct{ Hash string }
		}
	}
	for limit := time.Now().Add(time.Minute); ; { // a server learns after a moment which model serves
		if err := p.Ask(t.Context(), `mutation{requestContext(input:{query:"Which hotel is booked?",limit:2,threshold:0}){
			id notices items{hash explanation{semantic}} dropped{hash}}}`, nil, &asked); err != nil {
			t.Fatalf("%s: requestContext: %v\n%s", who, err, p.Output())
		}
		if len(asked.RequestContext.Notices) == 0 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: notices %q", who, asked.RequestContext.Notices)
		}
	}
	s := asked.RequestContext
	if len(s.Items) != 2 || s.Items[0].Explanation.Semantic == nil || len(s.Dropped) == 0 {
		t.Fatalf("%s: requestContext gives %+v", who, s)
	}
	var why struct {
		ByHash, ByText struct {
			Verdicts []struct {
				Kind        string
				Explanation *struct{ Semantic *float64 }
			}
		}
	}
	if err := p.Ask(t.Context(), `query($s:ID!,$h:Hash!){byHash:whyNot(selection:$s,hash:$h){verdicts{kind explanation{semantic}}}
		byText:whyNot(selection:$s,text:"breakfast"){verdicts{kind}}}`, map[string]any{"s": s.ID, "h": s.Dropped[0].Hash}, &why); err != nil {
		t.Fatalf("%s: whyNot: %v", who, err)
	}
	if v := why.ByHash.Verdicts; len(v) != 1 || v[0].Kind != "OVER_LIMIT" || v[0].Explanation == nil || v[0].Explanation.Semantic == nil || len(why.ByText.Verdicts) == 0 {
		t.Errorf("%s: whyNot gives %+v", who, why)
	}
	wantSame(t, p, who, s.ID, true)
	return s.ID
}

// wantSame replays a selection; what cannot be the same is so for its model.
func wantSame(t *testing.T, p *servertest.Process, who, selection string, same bool) {
	t.Helper()
	var data struct {
		ReplayContext struct {
			Identical bool
			Causes    []struct{ Kind string }
		}
	}
	err := p.Ask(t.Context(), `query($s:ID!){replayContext(id:$s){identical causes{kind}}}`, map[string]any{"s": selection}, &data)
	if r := data.ReplayContext; err != nil || r.Identical != same || !same && (len(r.Causes) != 1 || r.Causes[0].Kind != "MODEL") {
		t.Errorf("%s: replayContext gives %+v, %v; want it the same: %t", who, r, err, same)
	}
}

// On the server's own Postgres, whose logins have no more rights than they need, dense vectors are searched for an administrator and
// for a player, before and after another model is switched to and the old one is dropped.
func TestServeSearchesByMeaning(t *testing.T) {
	t.Parallel()
	address, dir := twoModels(t), servertest.DataDir(t)
	with := func(model string) []string { return []string{"EMBEDDINGS_URL=" + address, "EMBEDDINGS_MODEL=" + model} }
	p := start(t, dir, with("small")...)
	player := playerOf("ana").String()
	for _, text := range []string{"The hotel by the sea is booked.", "Breakfast is at eight.", "The train leaves at nine.", "Which hotel?"} {
		if _, err := p.Append(t.Context(), map[string]any{"sessionHash": sumOf("a session").String(), "ownerId": player, "content": text}); err != nil {
			t.Fatal(err)
		}
	}
	var made struct{ CreateToken struct{ Secret string } }
	if err := p.Ask(t.Context(), `mutation($p:Hash!){createToken(input:{kind:AGENT,player:$p,scopes:["log:read","context:select"]}){secret}}`,
		map[string]any{"p": player}, &made); err != nil {
		t.Fatal(err)
	}
	untilServes(t, p, "small")
	old := map[string]string{}
	for who, token := range map[string]string{"an administrator": p.Token, "a player": made.CreateToken.Secret} {
		old[who] = wantMeanings(t, p, who, token)
	}
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.Output())
	}

	p = start(t, dir, with("large")...)
	untilServes(t, p, "large")
	for who, token := range map[string]string{"an administrator": p.Token, "a player": made.CreateToken.Secret} {
		wantMeanings(t, p, who+" after the switch", token)
		wantSame(t, p, who+" after the switch, of before", old[who], true)
	}
	if err := p.Ask(t.Context(), `mutation{dropEmbeddingModel(name:"small"){name}}`, nil, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	for who, token := range map[string]string{"an administrator": p.Token, "a player": made.CreateToken.Secret} {
		wantMeanings(t, p, who+" after the drop", token)
		wantSame(t, p, who+" after the drop, of before", old[who], false)
	}
}
