package local

import (
	"maps"
	"slices"
)

// arguments gives Postgres' command line. Settings stand there, not in postgresql.conf, so that a cluster made by
// an older version of this program gets today's.
func arguments(dir string, i install, socket socketDir, override map[string]string) []string {
	settings := map[string]string{
		// Reachable by its owner alone.
		"listen_addresses":        "",
		"port":                    port,
		"unix_socket_directories": socket.path,
		"unix_socket_permissions": "0700",
		"max_connections":         "100",

		// Writing: fewer, longer checkpoints; the log is append-only, so WAL is mostly full of new rows.
		"wal_compression":              walCompression(i),
		"max_wal_size":                 "2GB",
		"checkpoint_timeout":           "15min",
		"checkpoint_completion_target": "0.9",

		// Planning: SSDs, and queries too short to pay for compiling them.
		"random_page_cost":                "1.1",
		"effective_io_concurrency":        "100",
		"jit":                             "off",
		"max_parallel_workers_per_gather": "1",

		// Words and times.
		"timezone":        "UTC",
		"log_timezone":    "UTC",
		"lc_messages":     "C",
		"log_line_prefix": "%m [%p] ",
		"cluster_name":    "context-manager",

		// What clients wrote stays out of the log: it stands in statements, and in the details of errors.
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
	}
	maps.Copy(settings, memorySettings(memory()))
	maps.Copy(settings, override)
	args := []string{"-D", dir}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// walCompression gives how pages are compressed that WAL holds whole. An index of hashes is written to all over, so that most
// of WAL is such pages; Postgres' own way takes a quarter of the processor time of all that is appended.
func walCompression(i install) string {
	if i.lz4 {
		return "lz4"
	}
	return "on"
}
