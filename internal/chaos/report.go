package chaos

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Report is what a run found.
type Report struct {
	Processors int    `json:"processors"`
	Go         string `json:"go"`
	Postgres   string `json:"postgres"`
	Full       bool   `json:"full"`
	Rows       []Row  `json:"rows"`
}

// Row is one thing that must hold after a fault.
type Row struct {
	Fault    string             `json:"fault"`
	Done     string             `json:"done"`
	Times    int                `json:"times"`
	Must     string             `json:"must"`
	Measured string             `json:"measured"`
	OK       bool               `json:"ok"`
	Values   map[string]float64 `json:"values,omitzero"` // the figures of Measured
	Timed    bool               `json:"timed,omitzero"`  // whether it depends on how fast the machine is
	Series   [][2]float64       `json:"series,omitzero"` // what was looked at again and again: seconds, and the figure
}

func newReport(cfg Config) Report {
	return Report{Processors: runtime.NumCPU(), Go: runtime.Version(), Full: cfg.Full}
}

// Missed counts the rows that do not hold.
func (r Report) Missed() (n int) {
	for _, row := range r.Rows {
		if !row.OK {
			n++
		}
	}
	return n
}

// WriteJSONFile writes the report to a file as JSON.
func (r Report) WriteJSONFile(name string) error {
	text, err := json.Marshal(r, jsontext.Multiline(true))
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d processors, %s, Postgres %s\n\n", r.Processors, r.Go, r.Postgres)
	fmt.Fprintln(t, "fault\twhat was done\ttimes\tmust hold\tmeasured\tok")
	for _, row := range r.Rows {
		ok := "yes"
		if !row.OK {
			ok = "NO"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", row.Fault, row.Done, row.Times, row.Must, row.Measured, ok)
	}
	return t.Flush()
}
