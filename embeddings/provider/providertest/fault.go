package providertest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Fault answers a request in the server's place, wrongly.
type Fault func(s *Server, w http.ResponseWriter, r *http.Request, texts []string)

// Status refuses with a status; retryAfter, if not empty, is sent as Retry-After.
func Status(status int, retryAfter string) Fault {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request, _ []string) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		refuse(w, status, "server_error")
	}
}

// Echo refuses with a status and a body that repeats the request: its key and its texts, in every field.
func Echo(status int) Fault {
	return func(_ *Server, w http.ResponseWriter, r *http.Request, texts []string) {
		said := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + strings.Join(texts, " ")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"message": said, "type": strings.Join(texts, " "), "code": strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		}})
	}
}

// Hang answers nothing until the client goes, the test ends or Mend is called; then as if nothing were wrong.
func Hang() Fault {
	return func(s *Server, w http.ResponseWriter, r *http.Request, texts []string) {
		s.mu.Lock()
		mended := s.mended
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-s.over:
		case <-mended:
			s.answer(w, s.vectors(texts, s.dimensions))
		}
	}
}

// Die closes the connection without an answer.
func Die() Fault {
	return func(*Server, http.ResponseWriter, *http.Request, []string) { panic(http.ErrAbortHandler) }
}

// HalfBody closes the connection half way through the answer.
func HalfBody() Fault {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, texts []string) {
		body := encode(s.vectors(texts, s.dimensions))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Body answers 200 with these bytes.
func Body(contentType, body string) Fault {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request, _ []string) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

// Dimensions gives vectors of another dimension.
func Dimensions(dimensions int) Fault {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, texts []string) {
		s.answer(w, s.vectors(texts, dimensions))
	}
}

// Element puts these bytes, such as NaN, null or 1e999, in place of the first number of each vector.
func Element(number string) Fault {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, texts []string) {
		all := s.vectors(texts, s.dimensions)
		for i, one := range all {
			_, rest, _ := strings.Cut(string(one.Embedding), ",")
			all[i].Embedding = json.RawMessage("[" + number + "," + rest)
		}
		s.answer(w, all)
	}
}

// Zeros gives vectors of zeros.
func Zeros() Fault {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, texts []string) {
		all := s.vectors(texts, s.dimensions)
		for i := range all {
			all[i].Embedding = json.RawMessage("[0" + strings.Repeat(",0", s.dimensions-1) + "]")
		}
		s.answer(w, all)
	}
}

// Missing leaves out the vector of one text.
func Missing() Fault {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, texts []string) {
		s.answer(w, s.vectors(texts, s.dimensions)[1:])
	}
}

// Only lets a fault happen to requests that hold a text with this part, and answers the others.
func Only(part string, f Fault) Fault {
	return When(func(texts []string) bool {
		for _, text := range texts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}, f)
}

// When lets a fault happen to requests whose texts are so, and answers the others.
func When(is func(texts []string) bool, f Fault) Fault {
	return func(s *Server, w http.ResponseWriter, r *http.Request, texts []string) {
		if is(texts) {
			f(s, w, r, texts)
			return
		}
		s.answer(w, s.vectors(texts, s.dimensions))
	}
}
