package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes makes a program run as the owner, out of reach of the terminal's Ctrl-C (the server stops it itself,
// after its own clients), and stop cleanly when this process is killed.
func attributes(credential *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: credential, Setpgid: true, Pdeathsig: syscall.SIGINT}
}

// isPostmaster says whether a process is a Postgres that runs on the cluster: its working directory is.
func isPostmaster(pid int, dir string) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || !strings.HasPrefix(string(name), "postgres") {
		return false
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return false
	}
	ours, err := os.Stat(dir)
	return err == nil && os.SameFile(theirs, ours)
}

// processesOn gives every process of Postgres that runs on a cluster.
func processesOn(dir string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*") // the only error is a bad pattern
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && isPostmaster(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}
