package bench

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// startMemory begins to measure the memory of this process, and gives what ends it: the highest resident size since, in
// bytes. Where the system does not tell, it is what Go has taken from it.
func startMemory() (highest func() uint64) {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets VmHWM, on Linux
	return func() uint64 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.Sys
		}
		for line := range bytes.Lines(status) {
			if text, ok := strings.CutPrefix(string(line), "VmHWM:"); ok {
				kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
				return kib << 10
			}
		}
		return 0
	}
}
