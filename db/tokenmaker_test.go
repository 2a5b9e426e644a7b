package db_test

import (
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// callerWith makes a token and gives who comes with it.
func callerWith(t *testing.T, store *db.DB, d auth.Draft, by auth.Caller) auth.Caller {
	t.Helper()
	_, secret := mustCreate(t, store, d, by)
	caller, _, err := store.FindToken(t.Context(), auth.DigestOf(secret))
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

func managerDraft() auth.Draft {
	d := agentDraft()
	d.Scopes = auth.TokensManage | auth.LogRead
	return d
}

// Whoever still counts as the bearer of a token that has ended makes no other with it.
func TestEndedTokensMakeNone(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	soon := managerDraft()
	end := time.Now().Add(300 * time.Millisecond)
	soon.Expires = &end
	ended := callerWith(t, store, soon, auth.Administrator())
	revoked := callerWith(t, store, managerDraft(), auth.Administrator())
	if _, err := store.RevokeToken(t.Context(), revoked.TokenID, auth.Administrator()); err != nil {
		t.Fatal(err)
	}
	for !query[bool](t, url, "SELECT clock_timestamp() > expires_at FROM auth.tokens WHERE id = $1", ended.TokenID) {
	}
	for name, by := range map[string]auth.Caller{"revoked": revoked, "expired": ended} {
		if _, _, err := store.CreateToken(t.Context(), managerDraft(), by); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("with a token that is %s: %v, want UNAUTHENTICATED", name, err)
		}
	}
	if n := query[int](t, url, "SELECT count(*) FROM auth.tokens"); n != 2 {
		t.Errorf("there are %d tokens, want 2", n)
	}
}

func TestTokensEndWithTheirMaker(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	end, later, earlier := time.Now().Add(time.Hour), time.Now().Add(48*time.Hour), time.Now().Add(time.Minute)
	maker := managerDraft()
	maker.Expires = &end
	by := callerWith(t, store, maker, auth.Administrator())
	admin := callerWith(t, store, auth.Draft{Role: auth.Admin, Player: hashOf("ply:x"), Expires: &end}, auth.Administrator())
	for name, test := range map[string]struct {
		by      auth.Caller
		expires *time.Time
		atMost  time.Time
		atLeast time.Time
	}{
		"by default":               {by, nil, by.Expires, by.Expires},
		"as asked, too late":       {by, &later, by.Expires, by.Expires},
		"as asked, early":          {by, &earlier, earlier, earlier.Add(-time.Second)},
		"by default, of an admin":  {admin, nil, time.Now().Add(91 * 24 * time.Hour), time.Now().Add(89 * 24 * time.Hour)},
		"as asked, of an admin":    {admin, &later, later, later.Add(-time.Second)},
		"a provider's, by default": {auth.Caller{Player: by.Player, Role: auth.Client, Scopes: by.Scopes, Expires: end}, nil, end, end.Add(-time.Second)},
	} {
		d := managerDraft()
		d.Expires = test.expires
		made, _, err := store.CreateToken(t.Context(), d, test.by)
		if err != nil || made.ExpiresAt.After(test.atMost) || made.ExpiresAt.Before(test.atLeast) {
			t.Errorf("%s: ends %v, %v, want from %v to %v", name, made.ExpiresAt, err, test.atLeast, test.atMost)
		}
	}
	far := managerDraft()
	far.Expires = new(time.Now().Add(400 * 24 * time.Hour))
	if _, _, err := store.CreateToken(t.Context(), far, by); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("for longer than a year: %v, want BAD_USER_INPUT", err)
	}
}

// A revocation is also that of what was made with the token, through tokens that have ended, and each is on record.
func TestRevocationDescends(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	root := callerWith(t, store, auth.Draft{Role: auth.Admin, Player: hashOf("ply:x")}, auth.Administrator())
	end := time.Now().Add(time.Second)
	brief := callerWith(t, store, auth.Draft{Role: auth.Admin, Player: hashOf("ply:x"), Expires: &end}, root)
	below := callerWith(t, store, managerDraft(), brief)
	lowest := callerWith(t, store, managerDraft(), below)
	gone := callerWith(t, store, managerDraft(), root)
	other := callerWith(t, store, managerDraft(), auth.Administrator())
	if _, err := store.RevokeToken(t.Context(), gone.TokenID, auth.Administrator()); err != nil {
		t.Fatal(err)
	}
	for !query[bool](t, url, "SELECT clock_timestamp() > expires_at FROM auth.tokens WHERE id = $1", brief.TokenID) {
	}
	before := query[int](t, url, "SELECT count(*) FROM log.messages")
	token, err := store.RevokeToken(t.Context(), root.TokenID, auth.Administrator())
	if err != nil || token.ID != root.TokenID || token.State != db.TokenRevoked {
		t.Fatalf("RevokeToken() = %+v, %v", token, err)
	}
	live, err := store.LiveTokens(t.Context(), []string{root.TokenID, brief.TokenID, below.TokenID, lowest.TokenID, gone.TokenID, other.TokenID})
	if err != nil || len(live) != 1 || live[0] != other.TokenID {
		t.Errorf("live are %v, %v, want the one that has another maker", live, err)
	}
	if n := query[int](t, url, "SELECT count(*) FROM log.messages") - before; n != 3 {
		t.Errorf("%d events are on record, want 3: of what could be used until then", n)
	}
	if n := query[int](t, url, "SELECT count(*) FROM log.messages WHERE attachments->>'kind' = 'token.revoked' AND attachments->>'token' = $1", lowest.TokenID); n != 1 {
		t.Errorf("the revocation of the lowest is %d times on record, want once", n)
	}
}

// A token that is made while its maker is revoked is either refused or revoked with it.
func TestRevocationLeavesNoneBehind(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	for range 20 {
		by := callerWith(t, store, managerDraft(), auth.Administrator())
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := store.RevokeToken(t.Context(), by.TokenID, auth.Administrator()); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if _, _, err := store.CreateToken(t.Context(), managerDraft(), by); err != nil && fault.CodeOf(err) != fault.Unauthenticated {
				t.Error(err)
			}
		})
		both.Wait()
	}
	if n := query[int](t, url, "SELECT count(*) FROM auth.tokens WHERE revoked_at IS NULL"); n != 0 {
		t.Errorf("%d tokens are left, want none", n)
	}
}
