package evaluation_test

import (
	"testing"

	"github.com/tzzr/context-manager/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
