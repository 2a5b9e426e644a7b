package config

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// validateEmbeddings refuses what names a provider by half: nobody would notice that nothing is embedded.
func (s Server) validateEmbeddings() error {
	switch {
	case s.EmbeddingsURL != "" && s.EmbeddingsModel == "":
		return fault.Input("EMBEDDINGS_MODEL", "is missing: EMBEDDINGS_URL is set, so name the model that it is asked for")
	case s.EmbeddingsURL == "" && s.EmbeddingsModel != "":
		return fault.Input("EMBEDDINGS_URL", "is missing: EMBEDDINGS_MODEL is set, so say which provider has it")
	case s.EmbeddingsURL == "" && s.EmbeddingsKey != "":
		return fault.Input("EMBEDDINGS_URL", "is missing: EMBEDDINGS_KEY is set, so say which provider it is for")
	}
	return nil
}

// Secret is a setting that is never printed, whatever the verb.
type Secret string

// Format prints whether it is set.
func (s Secret) Format(f fmt.State, _ rune) {
	if s != "" {
		_, _ = io.WriteString(f, "(set)")
	}
}

// MarshalText gives what Format prints.
func (s Secret) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(s)), nil }

// Duration is a time that is set as seconds, such as 3600, or with units, such as 90m.
type Duration time.Duration

// UnmarshalText reads either form; less than nothing is refused.
func (d *Duration) UnmarshalText(text []byte) error {
	value := strings.TrimSpace(string(text))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil && seconds >= 0 && seconds <= math.MaxInt64/int64(time.Second) {
		*d = Duration(time.Duration(seconds) * time.Second)
		return nil
	}
	parsed, err := time.ParseDuration(value)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is neither seconds, such as 3600, nor a duration, such as 90m", value)
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText gives the form with units.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
