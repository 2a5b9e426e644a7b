//go:build unix

package httpd

import (
	"math"
	"syscall"
)

// mostFiles gives how many files this process may have open at once; 0: it is not known.
func mostFiles() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0
	}
	return int(min(uint64(files.Cur), math.MaxInt32))
}
