//go:build !unix

package httpd

// mostFiles gives how many files this process may have open at once; 0: it is not known.
func mostFiles() int { return 0 }
