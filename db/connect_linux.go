package db

import "syscall"

const tcpUserTimeout = 0x12 // TCP_USER_TIMEOUT of linux/tcp.h

// control bounds how long a connection waits for what it sent to be acknowledged.
func control(network, _ string, conn syscall.RawConn) (err error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	failed := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unacknowledged.Milliseconds()))
	})
	if failed != nil {
		return failed
	}
	return err
}
