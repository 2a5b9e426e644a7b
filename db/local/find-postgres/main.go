// Command find-postgres tells, for the set-up script, whether this machine has a Postgres that the server can
// start: it prints which, or what is missing and fails.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tzzr/context-manager/db/local"
)

func main() {
	found, err := local.Installed(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(found)
}
