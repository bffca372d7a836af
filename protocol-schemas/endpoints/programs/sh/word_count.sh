#!/bin/sh
# Lends one tool, `word_count`, in POSIX shell with jq. It speaks on standard input and output; to attach it to a hub that
# runs already: socat EXEC:./word_count.sh UNIX-CONNECT:<path of the hub's socket>

tool='{
  "name": "word_count",
  "title": "Count words",
  "description": "Counts the words of a text, which are separated by white space.",
  "inputSchema": {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "The text."}},
    "required": ["text"]
  },
  "readOnly": true
}'

# From a message: the messages to answer it with, one a line; and at the end `stop` if it was the last.
answers='
def line(message): {jsonrpc: "2.0"} + message;
def fail(code; text): line({id: .id, error: {code: code, message: text}});
def ok(result): line({id: .id, result: result});
if .method == null then
  if .error then "the hub refused the tool: \(.error.message)\n" | stderr | empty else empty end
elif .method == "closing" then "stop"
elif has("id") | not then empty # other notifications are ignored
elif .method == "initialize" then
  ok({protocolVersion: 1, role: "tools", endpointInfo: {name: "reference-sh", version: "1.0"}, capabilities: {}}),
  line({id: "register", method: "tools/register", params: {tools: [$tool]}})
elif .method == "tools/call" then
  if .params.name == "word_count" and (.params.arguments.text | type) == "string" then
    ([.params.arguments.text | match("\\S+"; "g")] | length) as $count
    | line({method: "log", params: {level: "info", message: "counted \($count) words"}}),
      ok({content: [{type: "text", text: "\($count)"}]})
  else fail(-32602; "call word_count with a text") end
elif .method == "ping" then ok({})
elif .method == "shutdown" then ok({}), "stop"
else fail(-32601; "no method \(.method)") end'

while IFS= read -r line || [ -n "$line" ]; do
    case $line in *[![:space:]]*) ;; *) continue ;; esac
    if ! said=$(printf '%s\n' "$line" | jq -c --argjson tool "$tool" "$answers"); then
        said='{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}'
    fi
    case $said in
    *'"stop"')
        printf '%s' "${said%'"stop"'}"
        exit 0
        ;;
    ?*) printf '%s\n' "$said" ;;
    esac
done
