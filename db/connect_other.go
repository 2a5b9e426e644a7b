//go:build !linux

package db

import "syscall"

// control does nothing: keep-alives have to do.
func control(string, string, syscall.RawConn) error { return nil }
