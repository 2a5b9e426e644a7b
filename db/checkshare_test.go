package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// A player who asks for many checks has one at work and three that wait. Everybody else has their turn meanwhile.
func TestChecksAreShared(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, from(ana, "a", "one"), from(ben, "b", "one"))
	begun, goOn, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := store.As(ana).VerifySession(t.Context(), hashOf("session:a"), func(p chain.Progress) {
			select {
			case begun <- struct{}{}:
			default:
			}
			<-goOn
		})
		ended <- err
	}()
	<-begun
	crowd, leave := context.WithCancel(t.Context())
	defer leave()
	answers := make(chan error, 20)
	for range cap(answers) {
		go func() {
			_, err := store.As(ana).VerifySession(crowd, hashOf("session:a"), nil)
			answers <- err
		}()
	}
	for range cap(answers) - 3 {
		select {
		case err := <-answers:
			if fault.CodeOf(err) != fault.Unavailable || errors.Is(err, context.Canceled) {
				t.Fatalf("another check of the crowd's player: %v, want UNAVAILABLE at once", err)
			}
		case <-time.After(patience):
			t.Fatal("more than three checks of a player wait")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if report, err := store.VerifyLog(ctx, nil); err != nil || report.Messages != 2 {
		t.Errorf("an administrator's check meanwhile: %+v, %v", report, err)
	}
	if report, err := store.As(ben).VerifySession(ctx, hashOf("session:b"), nil); err != nil || report.Length != 1 {
		t.Errorf("another player's check meanwhile: %+v, %v", report, err)
	}
	leave()
	for range 3 {
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("a check that waited: %v, want that it went away", err)
		}
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if report, err := store.As(ana).VerifySession(t.Context(), hashOf("session:a"), nil); err != nil || report.Length != 1 {
		t.Errorf("the player's next check: %+v, %v", report, err)
	}
}
