package config

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
)

// validateEndpoints refuses what names an endpoint by half: nobody would notice that it is not asked.
func (s Server) validateEndpoints() error {
	return cmp.Or(
		validateEndpoint("EMBEDDINGS", s.EmbeddingsURL, s.EmbeddingsModel, s.EmbeddingsKey),
		s.LLM.Validate(),
	)
}

// Validate refuses half a model. Kong calls it.
func (l LLM) Validate() error { return validateEndpoint("LLM", l.LLMURL, l.LLMModel, l.LLMKey) }

func validateEndpoint(setting, url, model string, key Secret) error {
	switch {
	case url != "" && model == "":
		return fault.Input(setting+"_MODEL", "is missing: %s_URL is set, so name the model that it is asked for", setting)
	case url == "" && model != "":
		return fault.Input(setting+"_URL", "is missing: %s_MODEL is set, so say which endpoint has it", setting)
	case url == "" && key != "":
		return fault.Input(setting+"_URL", "is missing: %s_KEY is set, so say which endpoint it is for", setting)
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
