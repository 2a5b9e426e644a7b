package local

import (
	"fmt"
	"os"
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
