package local

import (
	"fmt"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const mebibyte = 1 << 20

// memory gives how many bytes this program and what it starts may use: what its control group may, or else what the machine
// has. 0: not known.
func memory() uint64 {
	bytes, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		return 0
	}
	return bytes
}

// memorySettings shares memory out as Postgres' manual advises for a machine that does little else: a quarter for its own
// cache, and half for what the system keeps of files, which only planning asks for. Shared memory is taken as it is used.
// Where the memory is not known, 2 GiB are taken for granted.
func memorySettings(bytes uint64) map[string]string {
	if bytes == 0 {
		bytes = 2 << 30
	}
	return map[string]string{
		"shared_buffers":       fmt.Sprintf("%dMB", min(max(bytes/4/mebibyte, 128), 8192)),
		"effective_cache_size": fmt.Sprintf("%dMB", min(max(bytes/2/mebibyte, 256), 1<<20)),
		"work_mem":             "32MB",
		"maintenance_work_mem": "256MB",
	}
}
