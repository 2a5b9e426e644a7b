//go:build unix && !linux

package local

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes makes a program run as the owner, out of reach of the terminal's Ctrl-C: the server stops it itself,
// after its own clients.
func attributes(credential *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: credential, Setpgid: true}
}

// isPostmaster says whether a process is a Postgres that runs on the cluster: its command line names it.
func isPostmaster(pid int, dir string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres -D "+dir+" ")
}

// processesOn gives none: a backend's command line does not name its cluster. It ends once it sees that Postgres is gone.
func processesOn(string) []int { return nil }
