package endpointtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Fault answers a request in the server's place, wrongly.
type Fault func(x *Exchange)

// Status refuses with a status; retryAfter, if not empty, is sent as Retry-After.
func Status(status int, retryAfter string) Fault {
	return func(x *Exchange) {
		if retryAfter != "" {
			x.W.Header().Set("Retry-After", retryAfter)
		}
		refuse(x.W, status, "server_error")
	}
}

// Says refuses with a status, and these words.
func Says(status int, words string) Fault {
	return func(x *Exchange) { echo(x.W, status, words, "invalid_request_error", "") }
}

// Echo refuses with a status and a body that repeats the request: its key and its texts, in every field.
func Echo(status int) Fault {
	return func(x *Exchange) {
		key := strings.TrimPrefix(x.R.Header.Get("Authorization"), "Bearer ")
		echo(x.W, status, key+string(x.Body), string(x.Body), key)
	}
}

func echo(w http.ResponseWriter, status int, message, kind, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code}})
}

// Hang answers nothing until the client goes, the test ends or Mend is called; then as if nothing were wrong.
func Hang() Fault {
	return func(x *Exchange) {
		if x.Wait() {
			x.Answer()
		}
	}
}

// Die closes the connection without an answer.
func Die() Fault {
	return func(*Exchange) { panic(http.ErrAbortHandler) }
}

// HalfBody closes the connection half way through the answer.
func HalfBody() Fault {
	return func(x *Exchange) {
		half(x)
		panic(http.ErrAbortHandler)
	}
}

// HangHalfway hangs half way through the answer, until the client goes or the test ends.
func HangHalfway() Fault {
	return func(x *Exchange) {
		half(x)
		x.Wait()
		panic(http.ErrAbortHandler)
	}
}

func half(x *Exchange) {
	x.Change(func(right []byte) []byte {
		x.W.Header().Set("Content-Length", strconv.Itoa(len(right)))
		return right[:len(right)/2]
	})
	_ = http.NewResponseController(x.W).Flush()
}

// Body answers 200 with these bytes.
func Body(contentType, body string) Fault {
	return func(x *Exchange) {
		x.W.Header().Set("Content-Type", contentType)
		_, _ = x.W.Write([]byte(body))
	}
}

// Huge answers 200 with white space of so many bytes before the right answer.
func Huge(size int) Fault {
	return func(x *Exchange) {
		x.Change(func(right []byte) []byte { return append(bytes.Repeat([]byte{' '}, size), right...) })
	}
}

// Redirect sends the client elsewhere.
func Redirect(to string) Fault {
	return func(x *Exchange) { http.Redirect(x.W, x.R, to, http.StatusTemporaryRedirect) }
}
