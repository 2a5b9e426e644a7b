package auth

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// TokenFile is the name of the file in the data directory that holds the administrator's token.
const TokenFile = "admin.token"

// LoadAdminToken reads the administrator's token from the data directory, which must exist. The first time, it makes
// one, keeps it in a file that only this user can read, and says that it did. Servers that start at once agree.
func LoadAdminToken(dataDir string) (token string, made bool, err error) {
	path := filepath.Join(dataDir, TokenFile)
	token, err = readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	token = NewAdminToken()
	switch err := writeNew(path, token+"\n"); {
	case errors.Is(err, fs.ErrExist): // somebody was faster
		token, err = readToken(path)
		return token, false, err
	case err != nil:
		return "", false, fault.Wrap(err, fault.Unavailable, "cannot write %s: %v", path, err)
	}
	return token, true, nil
}

func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "cannot read %s: %v", path, err)
	}
	token := strings.TrimSpace(string(text))
	if role, ok := roleOf(token); !ok || role != Admin {
		return "", fault.New(fault.Unavailable, "%s holds no token; delete it, and the next start makes a new one", path)
	}
	return token, nil
}

// writeNew makes a file that is either whole or not there; it fails with fs.ErrExist rather than replace one.
func writeNew(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), TokenFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
