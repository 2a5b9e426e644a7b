package endpoint

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Kind says what went wrong, for counters and for those who decide whether to try again.
type Kind string

// The kinds. The first five pass by themselves; the others need an administrator.
const (
	Unreachable Kind = "UNREACHABLE"  // no connection, or it broke off
	TimedOut    Kind = "TIMED_OUT"    // no answer in time
	RateLimited Kind = "RATE_LIMITED" // 429
	Failing     Kind = "FAILING"      // 408, 409, 423, 424, 425, 5xx
	Paused      Kind = "PAUSED"       // it failed a moment ago, and is not asked for now
	Denied      Kind = "DENIED"       // 401, 402, 403
	NotFound    Kind = "NOT_FOUND"    // 404: the model or the address
	Refused     Kind = "REFUSED"      // any other status: a request that it does not take
	Unusable    Kind = "UNUSABLE"     // an answer that does not hold what was asked for
)

// Temporary says whether the same request may succeed later without anybody doing anything.
func (k Kind) Temporary() bool {
	switch k {
	case Unreachable, TimedOut, RateLimited, Failing, Paused:
		return true
	default:
		return false
	}
}

// OfTexts says whether the failure may lie in what was sent rather than in the endpoint.
func (k Kind) OfTexts() bool { return k == Refused || k == Unusable }

// Failure is what an endpoint did instead of answering. Its message goes on after the endpoint's name, says what an
// administrator can do, and holds neither the key nor a text nor anything else that the endpoint wrote but one of some
// known codes, such as model_not_found.
type Failure struct {
	Kind       Kind
	Status     int           // of the answer; 0 without one
	RetryAfter time.Duration // what it asked to wait, at most MaxRetryAfter; 0 if it did not
	Message    string
	TooLong    bool   // less may be taken
	Hint       string // what Service.Hint made of the refusal
}

// NotUsable is the failure of an answer that does not hold what was asked for.
func NotUsable(format string, args ...any) *Failure {
	return &Failure{Kind: Unusable, Status: http.StatusOK, Message: fmt.Sprintf(format, args...)}
}

// BrokeOff is the failure of an answer without its end.
func BrokeOff() *Failure {
	return &Failure{Kind: Unreachable, Status: http.StatusOK, Message: "broke off its answer"}
}

// passing are statuses below 500 that say nothing of the request.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusFailedDependency, http.StatusTooEarly}

// ofStatus gives the failure of an answer that is none.
func (s Service) ofStatus(response *http.Response, now time.Time) *Failure {
	status := response.StatusCode
	f := &Failure{Status: status, RetryAfter: retryAfter(response.Header, now)}
	advice := ""
	code, words := said(response)
	url, model, key := s.Setting+"_URL", s.Setting+"_MODEL", s.Setting+"_KEY"
	switch {
	case status == http.StatusTooManyRequests:
		f.Kind, advice = RateLimited, "too many requests, or the quota is used up"
	case slices.Contains(passing, status), status >= 500:
		f.Kind, advice = Failing, "look at its own log"
	case status == http.StatusUnauthorized:
		f.Kind, advice = Denied, "check "+key
	case status == http.StatusPaymentRequired:
		f.Kind, advice = Denied, "the account that "+key+" belongs to has no credit"
	case status == http.StatusForbidden:
		f.Kind, advice = Denied, "the key may not use the model; check "+key+" and "+model
	case status == http.StatusNotFound:
		f.Kind, advice = NotFound, "it has no such model or address; check "+model+", and "+url+", which often ends in /v1"
	case status == http.StatusMethodNotAllowed, status < 400:
		f.Kind, advice = NotFound, "this is no "+s.Name+"; check "+url
	default:
		f.Kind, advice = Refused, "it does not take the request"
		f.TooLong = status == http.StatusRequestEntityTooLarge ||
			slices.ContainsFunc(longWords, func(word string) bool { return strings.Contains(words, word) })
		if s.Hint != nil {
			f.Hint = s.Hint(words)
		}
	}
	f.Message = fmt.Sprintf("answered %d%s: %s", status, code, advice)
	return f
}

// codes are what an administrator should see of an endpoint's own words. Anything else that it writes may repeat a text,
// or the key.
var codes = []string{
	"invalid_api_key", "insufficient_quota", "rate_limit_exceeded", "billing_hard_limit_reached", "account_deactivated",
	"model_not_found", "unsupported_country_region_territory", "context_length_exceeded", "string_above_max_length", "server_error",
}

// longWords are how endpoints say that a text is too long; few have a code for it.
var longWords = []string{
	"context length", "context_length", "context size", "maximum length", "max_length", "above_max_length", "too long", "too many tokens", "too large",
}

// said gives the endpoint's own code for an error, if it is one of the list, and all that it says, in lower case.
func said(response *http.Response) (code, words string) {
	content, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return "", ""
	}
	words = strings.ToLower(string(content))
	var answer struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(content, &answer) != nil {
		return "", words
	}
	for _, value := range []any{answer.Error.Code, answer.Error.Type} {
		if word, ok := value.(string); ok && slices.Contains(codes, word) {
			return " (" + word + ")", words
		}
	}
	return "", words
}

// ofConnection gives the failure of a request without a whole answer. What a peer sent is not repeated.
func (s Service) ofConnection(err error, late bool, limit time.Duration) *Failure {
	url := s.Setting + "_URL"
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Failure{Kind: Unusable, Message: fmt.Sprintf("gave an answer of more than %d bytes; check %s", tooLarge.Limit, url)}
	}
	if late {
		return &Failure{Kind: TimedOut, Message: fmt.Sprintf("did not answer within %s", limit)}
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		return &Failure{Kind: TimedOut, Message: "did not answer in time"}
	}
	why := "the connection broke off"
	operation, isOperation := errors.AsType[*net.OpError](err)
	name, isName := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isName:
		why = fmt.Sprintf("the host %s is not known; check %s", name.Name, url)
	case isOperation && operation.Op == "dial":
		why = operation.Error() + "; check that it runs, and " + url
	case isCertificate:
		why = "its certificate is not trusted here"
	case errors.Is(err, http.ErrSchemeMismatch):
		why = "it speaks http, not https; check " + url
	}
	return &Failure{Kind: Unreachable, Message: "cannot be reached: " + why}
}
