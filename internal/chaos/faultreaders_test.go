package chaos

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Whoever takes nothing keeps the server in the middle of an answer, which no buffer takes for it; and who is refused is not
// taken for one.
func TestReaders(t *testing.T) {
	t.Parallel()
	const clients = 4
	text := []byte(filler(muchPages * muchMessages * muchBytes))
	failures := make(chan error, clients)
	var mu sync.Mutex
	seen := 0
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		seen++
		refused := seen > clients/2
		mu.Unlock()
		if refused {
			http.Error(w, "full", http.StatusServiceUnavailable)
			return
		}
		_, err := w.Write(text)
		failures <- err
	}))
	defer listener.Close()
	r := &readers{addr: strings.TrimPrefix(listener.URL, "http://"), request: []byte(fmt.Sprintf(requestHead+"{}", "localhost", "", 2))}
	end := r.come(t.Context(), clients)
	if _, err := until(t.Context(), startLimit, "all have asked", func() bool { return r.tried() && r.held.Load() == clients/2 }); err != nil {
		t.Errorf("%v: %d are held", err, r.held.Load())
	}
	end()
	for range clients / 2 {
		if err := <-failures; err == nil {
			t.Error("the whole answer went into buffers")
		}
	}
	if list := r.refused.all; len(list) < clients/2 || count(list, "status 503") != len(list) {
		t.Errorf("refused: %s, want 2 status 503", tally(list))
	}
}
