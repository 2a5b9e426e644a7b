package chaos

import "syscall"

// attributes makes a program run in a group of its own, as a user, until we die.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: user}
}
