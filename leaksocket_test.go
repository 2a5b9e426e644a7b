package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// sockets sends on WebSockets what is no operation, or that of somebody unknown.
func (v *provoker) sockets() {
	v.t.Helper()
	for _, frames := range [][]string{
		{clientMark}, {`{"type":"` + clientMark + `"}`}, {`{"type":"connection_init","payload":{"authorization":["` + clientMark + `"]}}`},
		{`{"type":"connection_init","payload":{"authorization":"Bearer ` + clientMark + `"}}`},
		{v.hello(), clientMark}, {v.hello(), `{"type":"` + clientMark + `"}`}, {v.hello(), `{"type":"subscribe","id":"` + clientMark + `","payload":"` + clientMark + `"}`},
		{v.hello(), subscribing("{" + clientMark + "}")}, {v.hello(), subscribing("subscription{messageAppended(sessions:[\"" + clientMark + "\"]){hash}}")},
	} {
		v.socket(frames...)
	}
}

// hello is what a WebSocket begins with.
func (v *provoker) hello() string {
	return fmt.Sprintf(`{"type":"connection_init","payload":{"authorization":"Bearer %s"}}`, v.token)
}

func subscribing(query string) string {
	text, _ := json.Marshal(object{"type": "subscribe", "id": clientMark, "payload": object{"query": query, "variables": object{clientMark: clientMark}}})
	return string(text)
}

// socket sends messages, and reads until an operation has ended or the socket has.
func (v *provoker) socket(frames ...string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), 30*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(v.p.URL, "http", "ws", 1)+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	for _, frame := range frames {
		if err := conn.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
			break // it has ended: reading says how
		}
	}
	for {
		_, text, err := conn.Read(ctx)
		if ctx.Err() != nil {
			v.t.Errorf("a WebSocket says nothing for half a minute after %.100s", frames[len(frames)-1])
			return
		} else if err != nil {
			v.look("a WebSocket's end", err.Error())
			return
		}
		v.look("a WebSocket", string(text))
		if strings.Contains(string(text), `"type":"complete"`) || strings.Contains(string(text), `"type":"error"`) {
			return
		}
	}
}
