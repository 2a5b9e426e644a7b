package memory

import (
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestCheckTurn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Quiero ver zapatillas",
		"¿Alguna marca en particular?",
		"He llamado a la tool_calls de ayer",                             // talk about them is talk
		`{"name":"Camiseta","price":19.99}`,                              // JSON that somebody says
		`{"cart_items":[12,45],"checkout_step":"address"}`,               //
		`{"model":"Mondeo","year":2019}`,                                 //
		`{"messages":"3 nuevos"}`,                                        //
		`{"choices":["rojo","azul"]}`,                                    //
		`{"type":"message","content":"hola"}`,                            //
		`[1, 2, 3]`, `"hola"`, `{`, `{"tool_calls":[`, "data: 3 de mayo", //
		"Mira:\n```json\n{\"tool_calls\":[]}\n```\n¿Qué significa?",       // a question about such a thing is a question
		`The log says {"role":"tool","content":"ok"}, what does it mean?`, //
	} {
		if err := CheckTurn("user", text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, why := range map[string]string{
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`: toolRun,
		`{"type":"function","function":{"name":"buscar"}}`:                                                                         toolRun,
		`{"role":"tool","content":"3 productos"}`:                                                                                  toolRun,
		`{"tool_call_id":"call_1","content":"ok"}`:                                                                                 toolRun,
		`{"name":"get_product","arguments":"{\"id\":3}"}`:                                                                          toolRun,
		`{"name":"get_product","arguments":{"id":3}}`:                                                                              toolRun,
		`[{"type":"tool_use","id":"1","name":"f","input":{}}]`:                                                                     toolRun,
		`{"type":"tool_result","tool_use_id":"1","content":"x"}`:                                                                   toolRun,
		`{"tool":"search","args":{"q":"x"}}`:                                                                                       toolRun,
		`{"functionCall":{"name":"f","args":{}}}`:                                                                                  toolRun,
		"```json\n{\"function_call\":{\"name\":\"f\"}}\n```":                                                                       toolRun,
		`{"answer":{"raw":[{"role":"function","content":"x"}]}}`:                                                                   toolRun,
		`{"model":"m","messages":[{"role":"user","content":"hola"}]}`:                                                              request,
		` {"messages":[{"role":"system","content":"Eres…"}],"temperature":0.2} `:                                                   request,
		`{"model":"m","input":"hola"}`:                                                                                             request,
		`{"model":"m","prompt":"hola","stream":true}`:                                                                              request,
		`{"contents":[{"role":"user","parts":[{"text":"hola"}]}]}`:                                                                 request,
		`{"id":"x","object":"chat.completion","choices":[{"message":{"content":"hola"}}]}`:                                         response,
		`{"choices":[{"delta":{"content":"ho"}}]}`:                                                                                 response,
		`{"choices":[{"text":"hola","finish_reason":"stop"}]}`:                                                                     response,
		`{"object":"response","output":[]}`:                                                                                        response,
		`{"type":"message","role":"assistant","content":[{"type":"text"}],"stop_reason":"end_turn"}`:                               response,
		`{"candidates":[{"content":{"parts":[]}}]}`:                                                                                response,
		"data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: [DONE]\n":                                            response,
	} {
		err := CheckTurn("assistant", text)
		if fault.CodeOf(err) != fault.ContentRejected || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", text, err, why)
		}
	}
	// A hostile text takes no longer than another of its length.
	for _, text := range []string{strings.Repeat("[", MaxTurnBytes/2) + strings.Repeat("]", MaxTurnBytes/2), strings.Repeat(`[`, 9_999) + `"` + strings.Repeat("x", MaxTurnBytes-30_000) + `"` + strings.Repeat("]", 9_999)} {
		if err := CheckTurn("user", text); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if err := CheckTurn("assistant", "event: message_start\ndata: {\"type\":\"content_block_delta\",\"delta\":{}}\n"); fault.CodeOf(err) != fault.ContentRejected {
		t.Errorf("a stream of events: %v", err)
	}
	for _, text := range []string{"", " \n", strings.Repeat("x", MaxTurnBytes+1), "a\x00b", "\xff"} {
		if err := CheckTurn("user", text); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
