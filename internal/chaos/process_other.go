//go:build !linux

package chaos

import "syscall"

// attributes makes a program run in a group of its own, as a user. Where the kernel sends no signal on our death, it
// outlives us if we are killed.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: user}
}
