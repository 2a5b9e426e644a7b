package local

import (
	"syscall"

	"github.com/tzzr/context-manager/internal/fault"
)

// lowDisk is how many bytes a private Postgres should have left: what its write-ahead log takes at most, and half as much
// again.
const lowDisk = 3 << 29

// Disk is what a directory may still grow by.
type Disk struct {
	Free, Total int64 // bytes, of those that this user may write
}

// Low tells whether that is less than a private Postgres should have.
func (d Disk) Low() bool { return d.Free < lowDisk }

// DiskOf looks at the file system of a directory. UNAVAILABLE if it cannot be told.
func DiskOf(dir string) (Disk, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return Disk{}, fault.Wrap(err, fault.Unavailable, "cannot tell how much room the data directory has")
	}
	return Disk{Free: int64(s.Bavail) * int64(s.Bsize), Total: int64(s.Blocks) * int64(s.Bsize)}, nil
}

// Disk tells how much room the private Postgres has.
func (s *Server) Disk() (Disk, error) { return DiskOf(s.dataDir) }
