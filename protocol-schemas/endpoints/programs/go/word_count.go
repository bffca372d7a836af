// Lends one tool, word_count: nothing but Go's standard library.
//
// Started by claw-acp it speaks on standard input and output; with the path of a hub's socket it attaches there.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

const tool = `{
	"name": "word_count",
	"title": "Count words",
	"description": "Counts the words of a text, which are separated by white space.",
	"inputSchema": {
		"type": "object",
		"properties": {"text": {"type": "string", "description": "The text."}},
		"required": ["text"]
	},
	"readOnly": true
}`

const (
	parseError = -32700
	noMethod   = -32601
	badParams  = -32602
)

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type object map[string]any

var output io.Writer = os.Stdout

func write(sent message) {
	sent.Version = "2.0"
	line, err := json.Marshal(sent)
	if err != nil {
		panic(err)
	}
	if _, err := output.Write(append(line, '\n')); err != nil {
		os.Exit(0) // the hub is gone
	}
}

func raw(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func call(params json.RawMessage) (any, *failure) {
	var asked struct {
		Name      string
		Arguments struct{ Text *string }
	}
	err := json.Unmarshal(params, &asked)
	if err != nil || asked.Name != "word_count" || asked.Arguments.Text == nil {
		return nil, &failure{badParams, "call word_count with a text"}
	}
	count := len(strings.Fields(*asked.Arguments.Text))
	write(message{Method: "log", Params: raw(object{"level": "info", "message": fmt.Sprintf("counted %d words", count)})})
	return object{"content": []object{{"type": "text", "text": fmt.Sprint(count)}}}, nil
}

func answer(received message) (any, *failure) {
	switch received.Method {
	case "initialize":
		return object{
			"protocolVersion": 1,
			"role":            "tools",
			"endpointInfo":    object{"name": "reference-go", "version": "1.0"},
			"capabilities":    object{},
		}, nil
	case "tools/call":
		return call(received.Params)
	case "ping", "shutdown":
		return object{}, nil
	}
	return nil, &failure{noMethod, "no method " + received.Method}
}

// take handles one message; false when it was the last.
func take(received message) bool {
	if received.Method == "" {
		if received.Error != nil {
			fmt.Fprintln(os.Stderr, "the hub refused the tool:", received.Error.Message)
		}
		return true
	}
	if received.Method == "closing" {
		fmt.Fprintln(os.Stderr, string(received.Params))
		return false
	}
	if received.ID == nil { // other notifications are ignored
		return true
	}
	result, failed := answer(received)
	write(message{ID: received.ID, Result: result, Error: failed})
	if received.Method == "initialize" {
		params := raw(object{"tools": []json.RawMessage{json.RawMessage(tool)}})
		write(message{ID: raw("register"), Method: "tools/register", Params: params})
	}
	return received.Method != "shutdown"
}

func main() {
	var input io.Reader = os.Stdin
	if len(os.Args) > 1 {
		hub, err := net.Dial("unix", os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		input, output = hub, hub
	}
	lines := bufio.NewReader(input)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var received message
			if json.Unmarshal(line, &received) != nil {
				write(message{ID: json.RawMessage("null"), Error: &failure{parseError, "not JSON"}})
			} else if !take(received) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
