package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// event is what a stream gave: a reply, or how it ended.
type event struct {
	reply
	end string // an HTTP status, or that a WebSocket was closed with; "complete"
}

// stream reads a subscription. Of messages, two that everybody sees who may subscribe come with one of the shared session
// between them, which comes or not.
func (s *stage) stream(events <-chan event, at string) string {
	s.t.Helper()
	ticker := time.NewTicker(30 * time.Millisecond)
	defer ticker.Stop()
	limit, watched, outcome := time.After(time.Minute), 0, "empty"
	for {
		select {
		case e := <-events:
			if message, ok := e.Data["messageAppended"].(map[string]any); ok {
				if message["content"] != "watched" {
					return "ok"
				}
				if watched++; watched == 3 {
					return "empty"
				}
				continue
			}
			switch {
			case e.code() != "":
				return e.code()
			case e.end == "complete":
				return outcome
			case e.end != "":
				return e.end
			}
			outcome = outcomeOf(e.reply, at)
		case <-ticker.C:
			if at == "messageAppended" {
				news, watched := says(ana, "shared", "news", ben), says(fay, "watched", "watched", ana, ben, cleo, dan, playerOf("admin"))
				news.ThreadHash, watched.ThreadHash = s.message.ThreadHash, ptr(sumOf("thread:watched"))
				s.append(news)
				s.append(watched)
			}
		case <-limit:
			s.t.Fatal("a stream says nothing for a minute")
		}
	}
}

// events subscribes by server-sent events.
func (s *stage) events(token string, request object) <-chan event {
	s.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	identify(r.Header, token)
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cancel(); _ = response.Body.Close() })
	out := make(chan event, 100)
	if response.StatusCode != http.StatusOK {
		out <- event{end: strconv.Itoa(response.StatusCode)}
		return out
	}
	go func() {
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e event
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e.reply) == nil {
				out <- e
			}
			if strings.HasPrefix(lines.Text(), "event: complete") {
				out <- event{end: "complete"}
			}
		}
	}()
	return out
}

// frames subscribes on a WebSocket, which says who it is in its first message.
func (s *stage) frames(token string, request object) <-chan event {
	s.t.Helper()
	ctx := s.t.Context()
	options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{}}
	hello := object{"type": "connection_init"}
	if strings.HasPrefix(token, cookieMark) {
		identify(options.HTTPHeader, token)
	} else if token != "" {
		hello["payload"] = object{"authorization": "Bearer " + token}
	}
	conn, _, err := websocket.Dial(ctx, strings.Replace(s.url, "http", "ws", 1)+"/graphql", options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	for _, frame := range []object{hello, {"type": "subscribe", "id": "1", "payload": request}} {
		if err := wsjson.Write(ctx, conn, frame); err != nil {
			break // it is closed: reading says why
		}
	}
	out := make(chan event, 100)
	go func() {
		for {
			var frame struct {
				Type    string
				Payload json.RawMessage
			}
			if err := wsjson.Read(ctx, conn, &frame); err != nil {
				out <- event{end: strconv.Itoa(int(websocket.CloseStatus(err)))}
				return
			}
			var e event
			switch frame.Type {
			case "next":
				_ = json.Unmarshal(frame.Payload, &e.reply)
			case "error":
				_ = json.Unmarshal(frame.Payload, &e.Errors)
			case "complete":
				e.end = "complete"
			default:
				continue
			}
			out <- e
		}
	}()
	return out
}
