package graph

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// A signature counts up to the very end of its window, before and after its time stamp, and not a nanosecond longer.
func TestSignatureLasts(t *testing.T) {
	t.Parallel()
	const body = `{"source": "n8n"}`
	stamped := time.Unix(1_800_000_000, 0)
	stamp := strconv.FormatInt(stamped.Unix(), 10)
	mac := hmac.New(sha256.New, []byte("secret"))
	fmt.Fprintf(mac, "%s.%s", stamp, body)
	signature := fmt.Sprintf("sha256=%x", mac.Sum(nil))
	for off, counts := range map[time.Duration]bool{
		0: true, signatureLasts: true, -signatureLasts: true, signatureLasts + 1: false, -signatureLasts - 1: false,
	} {
		h := &hooks{secrets: map[string]string{"n8n": "secret"}, now: func() time.Time { return stamped.Add(off) }}
		source, _, err := h.signer(signature, stamp, []byte(body))
		if counts && (err != nil || source != "n8n") || !counts && fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("%v after the time stamp: %q, %v; want that it counts: %v", off, source, err, counts)
		}
	}
}
