// The reference model, in Go: nothing but the standard library.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const (
	rateLimited = -31002
	cancelled   = -32800
	parseError  = -32700
	noMethod    = -32601
	badParams   = -32602
)

type object map[string]any

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    object `json:"data,omitempty"`
}

type request struct {
	ID     json.RawMessage `json:"id"` // sent back as it came; nil in a notification
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type chatParams struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

var (
	out       = bufio.NewWriter(os.Stdout)
	inSession = false
	waiting   = map[string]bool{} // ids of chats that are never answered unless they are cancelled
	models    = []object{{"id": "reference", "name": "Reference", "contextWindow": 8192}}
)

func write(message object) {
	message["jsonrpc"] = "2.0"
	encoder := json.NewEncoder(out) // ends each message with a line break
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	out.Flush()
}

func delta(id json.RawMessage, kind string, piece object) {
	if !inSession {
		return // a one-shot host wants nothing but the answer
	}
	piece["requestId"], piece["type"] = id, kind
	write(object{"method": "chat/delta", "params": piece})
}

func say(id json.RawMessage, usage object, pieces ...string) object {
	for _, piece := range pieces {
		delta(id, "text", object{"text": piece})
	}
	return object{"content": strings.Join(pieces, ""), "usage": usage, "stopReason": "end"}
}

func chat(id, raw json.RawMessage) (object, *failure) {
	var params chatParams
	if err := json.Unmarshal(raw, &params); err != nil || len(params.Messages) == 0 {
		return nil, &failure{badParams, "messages must be an array of messages", nil}
	}
	last := params.Messages[len(params.Messages)-1]
	text, words := last.Content, strings.SplitN(last.Content, " ", 3)
	usage := object{"input_tokens": len(params.Messages), "output_tokens": 1}
	switch {
	case last.Role == "tool":
		return say(id, usage, "tool said: ", text), nil
	case words[0] == "call" && len(words) == 3:
		call := object{"id": "call-1", "name": words[1], "arguments": words[2]}
		delta(id, "tool_call", object{"index": 0, "id": "call-1", "name": words[1], "arguments": words[2]})
		return object{"content": "", "tool_calls": []object{call}, "usage": usage, "stopReason": "tool_calls"}, nil
	case strings.HasPrefix(text, "think "):
		delta(id, "thought", object{"text": "thinking"})
		result := say(id, usage, strings.TrimPrefix(text, "think "))
		result["reasoning"] = "thinking"
		return result, nil
	case text == "fail":
		return nil, &failure{rateLimited, "try again later", object{"retryAfter": 7}}
	case text == "wait":
		waiting[string(id)] = true
		return nil, nil
	}
	return say(id, usage, "echo: ", text), nil
}

func answer(request request) (object, *failure) {
	switch request.Method {
	case "initialize":
		inSession = true
		return object{
			"protocolVersion": 1,
			"pluginInfo":      object{"name": "reference-go", "version": "1.0"},
			"capabilities":    object{"streaming": true, "tools": true, "vision": false, "thinking": true},
			"models":          models,
		}, nil
	case "models/list":
		return object{"models": models}, nil
	case "shutdown":
		return object{}, nil
	case "chat":
		return chat(request.ID, request.Params)
	}
	return nil, &failure{noMethod, "no method " + request.Method, nil}
}

func cancel(raw json.RawMessage) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(raw, &params) == nil && waiting[string(params.RequestID)] {
		delete(waiting, string(params.RequestID))
		write(object{"id": params.RequestID, "error": failure{cancelled, "cancelled", nil}})
	}
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var request request
			if json.Unmarshal(line, &request) != nil {
				write(object{"id": nil, "error": failure{parseError, "not JSON", nil}})
			} else if request.Method == "$/cancel_request" {
				cancel(request.Params)
			} else if request.ID != nil { // other notifications are ignored
				if result, failed := answer(request); failed != nil {
					write(object{"id": request.ID, "error": failed})
				} else if result != nil {
					write(object{"id": request.ID, "result": result})
				}
			}
			if request.Method == "shutdown" {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
