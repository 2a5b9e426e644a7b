package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Two checks run at once. More wait as long as their context lets them, and nothing else waits for them.
func TestChecksAtOnce(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, draft("s", "one"))
	begun, goOn, ended := make(chan struct{}, 2), make(chan struct{}), make(chan error, 2)
	for range 2 {
		go func() {
			_, err := store.VerifyLog(t.Context(), func(chain.Progress) {
				begun <- struct{}{}
				<-goOn
			})
			ended <- err
		}()
	}
	<-begun
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := store.VerifySession(ctx, hashOf("session:s"), nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a third check: %v, want it to wait until UNAVAILABLE", err)
	}
	mustAppend(t, store, draft("s", "two"))
	crowd, leave := context.WithCancel(t.Context())
	refused := make(chan error, 20)
	for range cap(refused) {
		go func() {
			_, err := store.VerifySession(crowd, hashOf("session:s"), nil)
			refused <- err
		}()
	}
	for range cap(refused) - 8 {
		if err := <-refused; fault.CodeOf(err) != fault.Unavailable || errors.Is(err, context.Canceled) {
			t.Errorf("a check while 8 wait: %v, want UNAVAILABLE at once", err)
		}
	}
	leave()
	for range 8 {
		if err := <-refused; !errors.Is(err, context.Canceled) {
			t.Errorf("a check that waited: %v, want that it went away", err)
		}
	}
	close(goOn)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if report, err := store.VerifyLog(t.Context(), nil); err != nil || report.Messages != 2 {
		t.Errorf("a check after them: %+v %v, want it to check 2 messages", report, err)
	}
}
