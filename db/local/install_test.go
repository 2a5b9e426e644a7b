package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, version, vector string
		contrib               bool
		want                  string // the problem; empty: usable
	}{
		{"Debian 12 with pgvector built", "15.18 (Debian 15.18-0+deb12u1)", "0.8.0", true, ""},
		{"Debian 13", "17.5 (Debian 17.5-1)", "0.8.0", true, ""},
		{"pgvector of two digits", "18.1", "0.10.2", true, ""},
		{"pgvector 1", "18.1", "1.0.0", true, ""},
		{"a beta", "19beta1", "0.9.0", true, ""},
		{"an old Postgres", "14.11 (Ubuntu 14.11-0ubuntu0.22.04.1)", "0.8.0", true, "too old"},
		{"an old pgvector", "16.9", "0.6.0", true, "pgvector 0.6, too old"},
		{"no pgvector", "16.9", "", true, "without pgvector"},
		{"no contrib", "16.9", "0.8.0", false, "without its contrib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := inspect(t.Context(), programs(t, c.version, c.vector, c.contrib)).problem
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("inspect().problem = %q, want %q", got, c.want)
			}
		})
	}
}

// programs makes a directory that looks like an installed Postgres.
func programs(t *testing.T, version, vector string, contrib bool) string {
	t.Helper()
	dir := t.TempDir()
	script := func(name, prints string) {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+prints+"'\n"), 0o700))
	}
	script("postgres", "postgres (PostgreSQL) "+version)
	script("pg_config", dir)
	check(t, os.Mkdir(filepath.Join(dir, "extension"), 0o700))
	control := func(name, text string) {
		check(t, os.WriteFile(filepath.Join(dir, "extension", name+".control"), []byte(text), 0o600))
	}
	if vector != "" {
		control("vector", "comment = 'vector data type'\ndefault_version = '"+vector+"'\n")
	}
	if contrib {
		control("intarray", "default_version = '1.5'\n")
	}
	return dir
}

func TestNoInstallOfThatVersion(t *testing.T) {
	t.Parallel()
	_, err := findInstall(t.Context(), 99)
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "made with Postgres 99") ||
		!strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("findInstall(99) = %v, want what is missing and what to do", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := environment([]string{"PATH=/bin", "PGPORT=6000", "PGDATA=/elsewhere", "LANG=tr_TR", "LC_ALL=tr_TR", "TZ=UTC"})
	if strings.Join(got, " ") != "PATH=/bin TZ=UTC" {
		t.Errorf("environment() = %v, want PATH and TZ only", got)
	}
}
