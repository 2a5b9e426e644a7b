package auth

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestNewAdminToken(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^cmadm_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 1000 {
		token := NewAdminToken()
		if !form.MatchString(token) || !isAdminToken(token) {
			t.Fatalf("NewAdminToken() = %q, want a token", token)
		}
		if seen[token] {
			t.Fatalf("NewAdminToken() = %q twice", token)
		}
		seen[token] = true
	}
}

func isAdminToken(token string) bool {
	role, ok := roleOf(token)
	return ok && role == Admin
}

func TestTokensOfAllRoles(t *testing.T) {
	t.Parallel()
	for role, form := range map[Role]string{
		Admin: `^cmadm_[0-9A-Za-z]{49}$`, Agent: `^cmagt_[0-9A-Za-z]{49}$`, Client: `^cmcli_[0-9A-Za-z]{49}$`, Hook: `^cmhook_[0-9A-Za-z]{49}$`,
	} {
		token := NewToken(role)
		if got, ok := roleOf(token); !ok || got != role || !regexp.MustCompile(form).MatchString(token) {
			t.Errorf("NewToken(%s) = %q, taken as %q, %v, want %s", role, token, got, ok, form)
		}
	}
}

// Tokens that were given out stay tokens.
func TestTokensOfBefore(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]Role{
		"cmadm_000000000000000000000000000000000Zz9aB3dE5f1ELODB":  Admin,
		"cmagt_000000000000000000000000000000000Zz9aB3dE5f1HJXFx":  Agent,
		"cmcli_000000000000000000000000000000000Zz9aB3dE5f14bgj4":  Client,
		"cmhook_000000000000000000000000000000000Zz9aB3dE5f30gBTo": Hook,
	} {
		if role, ok := roleOf(token); !ok || role != want {
			t.Errorf("%s is taken as %q, %v, want %s", token, role, ok, want)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	token := NewAdminToken()
	verifier := NewAdminVerifier(token)
	if caller, err := verifier.Verify(t.Context(), token); err != nil || !caller.IsAdmin() || caller != Administrator() {
		t.Fatalf("Verify(the token) = %v, %v, want the administrator", caller, err)
	}
	flip := func(i int) string {
		b := []byte(token)
		if b[i]++; b[i] > 'z' {
			b[i] = '0'
		}
		return string(b)
	}
	for name, test := range map[string]struct{ token, message string }{
		"another token":        {NewAdminToken(), "unknown token"},
		"empty":                {"", "malformed token"},
		"another prefix":       {"cmagt_" + token[6:], "malformed token"},
		"cut":                  {token[:len(token)-1], "malformed token"},
		"longer":               {token + "0", "malformed token"},
		"first digit changed":  {flip(6), "malformed token"},
		"last digit changed":   {flip(len(token) - 1), "malformed token"},
		"a space at the end":   {token + " ", "malformed token"},
		"very long":            {strings.Repeat("x", 1<<20), "malformed token"},
		"not ASCII of a token": {"cmadm_" + strings.Repeat("ñ", 25)[:49], "malformed token"},
	} {
		caller, err := verifier.Verify(t.Context(), test.token)
		if fault.CodeOf(err) != fault.Unauthenticated || !strings.HasPrefix(err.Error(), test.message) || caller != (Caller{}) {
			t.Errorf("%s: Verify = %v, %v, want UNAUTHENTICATED %q", name, caller, err, test.message)
		}
		if len(test.token) > 8 && strings.Contains(err.Error(), test.token) {
			t.Errorf("%s: the message shows the token", name)
		}
	}
}

func TestLoadAdminToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, made, err := LoadAdminToken(dir)
	if err != nil || !made || !isAdminToken(token) {
		t.Fatalf("LoadAdminToken, first = %q, %v, %v, want a new token", token, made, err)
	}
	again, made, err := LoadAdminToken(dir)
	if err != nil || made || again != token {
		t.Errorf("LoadAdminToken, second = %q, %v, %v, want the same token", again, made, err)
	}
	info, err := os.Stat(filepath.Join(dir, TokenFile))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file's mode = %v, %v, want -rw-------", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %d entries, %v, want the token alone", len(entries), err)
	}
}

func TestLoadAdminTokenAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tokens sync.Map
	var group sync.WaitGroup
	var makers [16]bool
	for i := range makers {
		group.Go(func() {
			token, made, err := LoadAdminToken(dir)
			if err != nil {
				t.Error(err)
			}
			makers[i] = made
			tokens.Store(token, true)
		})
	}
	group.Wait()
	count, made := 0, 0
	tokens.Range(func(any, any) bool { count++; return true })
	for _, m := range makers {
		if m {
			made++
		}
	}
	if count != 1 || made != 1 {
		t.Errorf("%d tokens from %d makers, want 1 from 1", count, made)
	}
}

func TestLoadAdminTokenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, TokenFile), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := LoadAdminToken(dir)
	if err == nil || !strings.Contains(err.Error(), "holds no token") || strings.Contains(err.Error(), "secret") {
		t.Errorf("LoadAdminToken of a file with something else = %v, want an error that names the file", err)
	}
	if _, _, err := LoadAdminToken(filepath.Join(dir, "gone")); err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LoadAdminToken without a directory = %v, want an error", err)
	}
}
