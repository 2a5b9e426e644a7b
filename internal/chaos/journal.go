package chaos

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-json-experiment/json"
)

// entry is one acknowledged message.
type entry struct {
	Hash    string `json:"hash"`
	Session string `json:"session"`
	Content string `json:"content"`
}

// deed is anything that was acknowledged, as the journal has it.
type deed struct {
	Kind    string `json:"deed,omitempty"` // none: a message was appended
	Hash    string `json:"hash"`
	Session string `json:"session"`
	Content string `json:"content"`
}

// journal is a file of what was acknowledged. It does not wait for the disk: no fault takes the machine, and waiting would take from the
// server what it is measured by. Safe for concurrent use.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func openJournal(name string) (*journal, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: file}, nil
}

// add notes messages.
func (j *journal) add(entries ...entry) error {
	deeds := make([]deed, len(entries))
	for i, e := range entries {
		deeds[i] = deed{Hash: e.Hash, Session: e.Session, Content: e.Content}
	}
	return j.note(deeds...)
}

// note is add for deeds of every kind.
func (j *journal) note(deeds ...deed) error {
	var lines []byte
	for _, d := range deeds {
		line, err := json.Marshal(d)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err := j.file.Write(lines)
	return err
}

// read gives what is in it: messages by hash, and deeds in the order in which they were acknowledged.
func (j *journal) read() (all map[string]entry, deeds []deed, err error) {
	all = map[string]entry{}
	for lines := bufio.NewReader(io.NewSectionReader(j.file, 0, 1<<62)); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return all, deeds, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the journal: %w", err)
		}
		var d deed
		if err := json.Unmarshal(line, &d); err != nil {
			return nil, nil, fmt.Errorf("the journal: %w", err)
		}
		if d.Kind != "" {
			deeds = append(deeds, d)
			continue
		}
		if _, twice := all[d.Hash]; twice {
			return nil, nil, fmt.Errorf("two messages were acknowledged as %s", d.Hash)
		}
		all[d.Hash] = entry{d.Hash, d.Session, d.Content}
	}
}

func (j *journal) close() { _ = j.file.Close() }
