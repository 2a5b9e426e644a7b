package witness

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// askLimit is how long a witness may take to answer.
const askLimit = 10 * time.Second

// sizeType is the content type of an answer that says what size the witness has.
const sizeType = "text/x.tlog.size"

// Client asks one witness. Safe for concurrent use.
type Client struct {
	URL string // its prefix, without a slash at the end
	Key note.Verifier

	http *http.Client
}

// SizeError says that the witness's last checkpoint has another size than the one that it was asked to go on from.
type SizeError struct {
	Witness string // the name of its key
	Size    int64  // what it has; 0 if it has none
}

// Error says so in words.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the witness %s has a checkpoint of %d messages", e.Witness, e.Size)
}

// ForkError says that what the witness has cosigned is not the beginning of the tree that it was shown, as its answer says:
// nothing that it signed shows that yet.
type ForkError struct {
	Witness string // the name of its key
	Size    int64  // what it has cosigned
	Shown   int64  // the size of the tree that it was shown
}

// Error says so in words.
func (e *ForkError) Error() string {
	if e.Size == e.Shown {
		return fmt.Sprintf("the witness %s has cosigned a tree of %d messages of this log with another root than this one of %d (409)", e.Witness, e.Size, e.Shown)
	}
	return fmt.Sprintf("the witness %s has cosigned a tree of %d messages of this log, and that is not the beginning of this one of %d (422)", e.Witness, e.Size, e.Shown)
}

// NewClient makes a client of the witness at an address with a key.
//
// Faults: BAD_USER_INPUT if the address is no http or https address, or the key no key of a witness.
func NewClient(address, vkey string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || strings.ContainsAny(address, "?# ") {
		return nil, fault.Input("WITNESSES", "%q is no address of a witness: it is like https://witness.example.org/path", address)
	}
	key, err := ParseKey(vkey)
	if err != nil {
		return nil, err
	}
	return &Client{URL: strings.TrimRight(address, "/"), Key: key, http: &http.Client{
		Timeout:       askLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ParseList reads entries of the form address=key, as WITNESSES lists them. The names of the keys differ, and so do
// the keys: one witness never counts twice.
//
// Faults: BAD_USER_INPUT.
func ParseList(entries []string) ([]*Client, error) {
	var clients []*Client
	names, keys := map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		address, vkey, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok {
			return nil, fault.Input("WITNESSES", "%q is not address=key", entry)
		}
		client, err := NewClient(address, vkey)
		if err != nil {
			return nil, err
		}
		public := strings.SplitN(vkey, "+", 3)[2]
		if names[client.Key.Name()] || keys[public] {
			return nil, fault.Input("WITNESSES", "lists the key of %s twice", client.Key.Name())
		}
		names[client.Key.Name()], keys[public] = true, true
		clients = append(clients, client)
	}
	return clients, nil
}

// Cosign asks for a cosignature of a checkpoint, with the proof that it extends the tree of the old size, which is the
// last that the witness has cosigned, or 0. The answer has been checked with the witness's key.
//
// A *SizeError says that the witness has another size. Other faults: UNAVAILABLE if it cannot be reached or does not
// answer in ten seconds; CONFLICT if it refuses, or answers what is no cosignature, with a *ForkError if that is because
// it has cosigned another tree.
func (c *Client) Cosign(ctx context.Context, old int64, proof []chain.Hash, checkpoint string) (seal.Cosignature, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/add-checkpoint",
		strings.NewReader(formatRequest(old, proof, checkpoint)))
	if err != nil {
		return seal.Cosignature{}, fault.Wrap(err, fault.Internal, "cannot ask the witness %s", c.Key.Name())
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	response, err := c.http.Do(request)
	if err != nil {
		return seal.Cosignature{}, fault.Wrap(err, fault.Unavailable, "the witness %s cannot be reached", c.Key.Name())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, seal.MaxNote+1))
	if err != nil {
		return seal.Cosignature{}, fault.Wrap(err, fault.Unavailable, "the witness %s broke off its answer", c.Key.Name())
	}
	return c.read(response, string(body), old, checkpoint)
}

func (c *Client) read(response *http.Response, body string, old int64, checkpoint string) (seal.Cosignature, error) {
	switch {
	case response.StatusCode == http.StatusOK:
		cosignature, err := seal.OpenCosignature(checkpoint, body, c.Key)
		if err != nil {
			return seal.Cosignature{}, fault.Wrap(err, fault.Conflict, "the witness %s answers what is no cosignature of its key", c.Key.Name())
		}
		return cosignature, nil
	case response.StatusCode == http.StatusConflict && response.Header.Get("Content-Type") == sizeType:
		size, err := strconv.ParseInt(strings.TrimSuffix(body, "\n"), 10, 64)
		if err == nil && size >= 0 && size != old {
			return seal.Cosignature{}, &SizeError{Witness: c.Key.Name(), Size: size}
		}
		if err == nil && size == old && size == sizeOf(checkpoint) {
			return seal.Cosignature{}, c.fork(old, checkpoint)
		}
	case response.StatusCode == http.StatusUnprocessableEntity:
		return seal.Cosignature{}, c.fork(old, checkpoint)
	case response.StatusCode >= http.StatusInternalServerError, response.StatusCode == http.StatusTooManyRequests:
		return seal.Cosignature{}, fault.New(fault.Unavailable, "the witness %s answers %d", c.Key.Name(), response.StatusCode)
	}
	return seal.Cosignature{}, fault.New(fault.Conflict, "the witness %s does not cosign: %s", c.Key.Name(), meaning(response.StatusCode))
}

// Latest gives the note that the witness cosigned last of the log with a name, as the witness says: nothing of it is
// checked. Package witness's own witnesses tell it; NOT_FOUND from those that do not.
//
// Other faults: UNAVAILABLE if it cannot be reached.
func (c *Client) Latest(ctx context.Context, origin string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/checkpoint/"+chain.Sum([]byte(origin)).String(), nil)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "cannot ask the witness %s", c.Key.Name())
	}
	response, err := c.http.Do(request)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "the witness %s cannot be reached", c.Key.Name())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, seal.MaxNote+1))
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "the witness %s broke off its answer", c.Key.Name())
	}
	if response.StatusCode != http.StatusOK {
		return "", fault.New(fault.NotFound, "the witness %s does not show what it cosigned: it answers %d", c.Key.Name(), response.StatusCode)
	}
	return string(body), nil
}

// fork gives a *ForkError as a fault.
func (c *Client) fork(old int64, checkpoint string) error {
	err := &ForkError{Witness: c.Key.Name(), Size: old, Shown: sizeOf(checkpoint)}
	return fault.Wrap(err, fault.Conflict, "%s", err)
}

// sizeOf reads the size of a checkpoint that this server made: its second line.
func sizeOf(checkpoint string) int64 {
	_, rest, _ := strings.Cut(checkpoint, "\n")
	line, _, _ := strings.Cut(rest, "\n")
	size, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return -1
	}
	return size
}

// meaning says what a status means here.
func meaning(status int) string {
	switch status {
	case http.StatusForbidden:
		return "it has another key for the log (403)"
	case http.StatusNotFound:
		return "it does not know the log (404)"
	case http.StatusConflict:
		return "it has another size, and does not say which (409)"
	default:
		return fmt.Sprintf("it answers %d", status)
	}
}

// formatRequest gives the body of a request to add a checkpoint.
func formatRequest(old int64, proof []chain.Hash, checkpoint string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", old)
	for _, line := range seal.Base64(proof) {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n" + checkpoint)
	return b.String()
}

// parseRequest reads what formatRequest gives, and nothing else.
func parseRequest(text string) (old int64, proof []chain.Hash, checkpoint string, err error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	if !found || !isOld {
		return 0, nil, "", fmt.Errorf("a request is a line \"old\" with a size, hashes a line each, an empty line and a checkpoint")
	}
	old, err = strconv.ParseInt(size, 10, 64)
	if err != nil || old < 0 || strconv.FormatInt(old, 10) != size {
		return 0, nil, "", fmt.Errorf("the old size %.40q is none", size)
	}
	if len(lines)-1 > seal.MaxProofHashes {
		return 0, nil, "", fmt.Errorf("the proof has %d hashes; at most %d are read", len(lines)-1, seal.MaxProofHashes)
	}
	for _, line := range lines[1:] {
		hash, err := base64.StdEncoding.Strict().DecodeString(line) // which overlooks carriage returns
		if err != nil || len(hash) != len(chain.Hash{}) || base64.StdEncoding.EncodeToString(hash) != line {
			return 0, nil, "", fmt.Errorf("%.60q is no hash in base64", line)
		}
		proof = append(proof, chain.Hash(hash))
	}
	return old, proof, checkpoint, nil
}
