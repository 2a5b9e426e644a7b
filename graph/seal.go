package graph

import "github.com/tzzr/context-manager/internal/fault"

var errNotBuilt = fault.New(fault.Unavailable, "not built")
