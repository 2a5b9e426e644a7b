package db_test

import (
	"testing"
	"testing/synctest"

	"github.com/tzzr/context-manager/db"
)

// While a group is written, the next one waits until it has as many calls, or that is written, but not for long.
func TestGroupsAreGathered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		writing, come, want int
		ends                bool
	}{
		{"as many come", 4, 3, 4, false},
		{"one is as many", 1, 9, 1, false},
		{"fewer come", 4, 1, 2, false},
		{"nothing is being written any more", 4, 3, 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := db.Gathered(test.writing, test.come, test.ends); got != test.want {
				t.Errorf("%s: %d are gathered, want %d", test.name, got, test.want)
			}
		})
	}
}
