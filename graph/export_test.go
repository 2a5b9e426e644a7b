package graph

import (
	"net/http"

	"github.com/tzzr/context-manager/internal/overload"
)

// Unread gives the room that a handler's large answers have.
func Unread(h http.Handler) *overload.Room { return h.(front).guard.places.unread }

// MostUnread is how much room that is.
const MostUnread = mostUnread

// Bodies gives the room that what comes in of large requests has.
func Bodies(h http.Handler) *overload.Room { return h.(front).bodies }

// MostBody is how much room that is.
const MostBody = mostBody

// What a refused request may cost, and how that is measured.
var (
	RefusalLimit = refusalLimit
	PerCall      = perCall
)
