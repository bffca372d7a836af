#!/bin/sh
# The reference model, in POSIX shell with awk.
#
# JSON is never decoded: texts travel from the request to the answer as they were written, quotes and escapes
# included. awk finds the values that are needed and prints one a line; JSON has no line breaks inside a value.

LC_ALL=C
export LC_ALL
models='[{"id":"reference","name":"Reference","contextWindow":8192}]'
session=
waiting=' ' # ids of chats that are never answered unless they are cancelled, each with blanks around it

# From a request: method, id, params.requestId, number of messages, and role and content of the last; `-` for none.
# Prints nothing when the line is no JSON object.
fields() {
    printf '%s\n' "$1" | awk '
    function blanks() { sub(/^[ \t\r]+/, "", rest) }
    # Take the value that stands next: `taken` is its text as written. Returns 0 when there is none.
    function value() {
        blanks()
        if (match(rest, /^"([^"\\]|\\.)*"/) || match(rest, /^[-0-9tfn][-+.0-9a-zA-Z]*/)) {
            taken = substr(rest, 1, RLENGTH); rest = substr(rest, RLENGTH + 1)
            return 1
        }
        if (rest ~ /^{/) return container(1, "}", rest)
        if (rest ~ /^\[/) return container(0, "]", rest)
        return 0
    }
    # Take the object or array that stands next; `all` is the text that it begins.
    function container(object, close_, all) {
        rest = substr(rest, 2); blanks()
        if (substr(rest, 1, 1) != close_) {
            do {
                blanks()
                if (object && !name()) return 0
                if (!value()) return 0
                blanks()
            } while (sub(/^,/, "", rest))
            if (substr(rest, 1, 1) != close_) return 0
        }
        rest = substr(rest, 2)
        taken = substr(all, 1, length(all) - length(rest))
        return 1
    }
    # Take the name of a member, with its colon.
    function name() {
        if (rest !~ /^"/ || !value()) return 0
        blanks()
        return sub(/^:/, "", rest)
    }
    # The value of a member of an object, or the last element of an array (then `count` says how many there are).
    function member(text, key,   found, named, object) {
        found = "-"; count = 0
        if (text !~ /^[[{]/) return found
        object = substr(text, 1, 1) == "{"; rest = substr(text, 2); blanks()
        while (rest !~ /^[]}]/) {
            named = ""
            if (object) { value(); named = taken; blanks(); sub(/^:/, "", rest) }
            value(); count++
            if (named == key) found = taken
            blanks(); sub(/^,/, "", rest); blanks()
        }
        return found
    }
    {
        rest = $0
        if (!value()) exit
        message = taken; blanks()
        if (rest != "" || message !~ /^{/) exit
        params = member(message, "\"params\"")
        messages = member(params, "\"messages\"")
        print member(message, "\"method\""); print member(message, "\"id\""); print member(params, "\"requestId\"")
        last = "-"; total = 0
        if (messages ~ /^\[/) { last = member(messages, ""); total = count }
        print total; print member(last, "\"role\""); print member(last, "\"content\"")
    }'
}

write() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
fail() { write "\"id\":$1,\"error\":{\"code\":$2,\"message\":\"$3\"${4:+,\"data\":$4}}"; }
delta() { # a one-shot host wants nothing but the answer
    [ -z "$session" ] || write "\"method\":\"chat/delta\",\"params\":{\"requestId\":$id,\"type\":\"$1\",$2}"
}
result() {
    write "\"id\":$id,\"result\":{$1,\"usage\":{\"input_tokens\":$count,\"output_tokens\":1},\"stopReason\":\"$2\"}"
}
say() { # what stands before the text, and the text, as written in JSON
    [ -z "$1" ] || delta text "\"text\":\"$1\""
    delta text "\"text\":\"$2\""
    result "\"content\":\"$1$2\"$3" end
}

chat() {
    case $content in
    \"*) text=${content#\"} text=${text%\"} ;;
    *) fail "$id" -32602 'messages must be an array of messages' && return ;;
    esac
    if [ "$role" = '"tool"' ]; then
        say 'tool said: ' "$text"
        return
    fi
    case $text in
    'call '*' '*)
        text=${text#call }
        call="\"id\":\"call-1\",\"name\":\"${text%% *}\",\"arguments\":\"${text#* }\""
        delta tool_call "\"index\":0,$call"
        result "\"content\":\"\",\"tool_calls\":[{$call}]" tool_calls
        ;;
    'think '*)
        delta thought '"text":"thinking"'
        say '' "${text#think }" ',"reasoning":"thinking"'
        ;;
    fail) fail "$id" -31002 'try again later' '{"retryAfter":7}' ;;
    wait) waiting="$waiting$id " ;;
    *) say 'echo: ' "$text" ;;
    esac
}

cancel() {
    case $waiting in
    *" $1 "*)
        waiting="${waiting%%" $1 "*} ${waiting#*" $1 "}"
        fail "$1" -32800 cancelled
        ;;
    esac
}

answer() {
    case $method in
    '"initialize"')
        session=yes
        can='{"streaming":true,"tools":true,"vision":false,"thinking":true}'
        write "\"id\":$id,\"result\":{\"protocolVersion\":1,\"pluginInfo\":{\"name\":\"reference-sh\",\"version\":\"1.0\"},\"capabilities\":$can,\"models\":$models}"
        ;;
    '"models/list"') write "\"id\":$id,\"result\":{\"models\":$models}" ;;
    '"shutdown"') write "\"id\":$id,\"result\":{}" ;;
    '"chat"') chat ;;
    *) fail "$id" -32601 'no such method' ;;
    esac
}

while IFS= read -r line || [ -n "$line" ]; do
    case $line in *[![:space:]]*) ;; *) continue ;; esac
    parsed=$(fields "$line")
    if [ -z "$parsed" ]; then
        fail null -32700 'not JSON'
        continue
    fi
    {
        IFS= read -r method
        IFS= read -r id
        IFS= read -r wanted
        IFS= read -r count
        IFS= read -r role
        IFS= read -r content
    } <<END
$parsed
END
    if [ "$method" = '"$/cancel_request"' ]; then
        cancel "$wanted"
    elif [ "$id" != - ]; then # other notifications are ignored
        answer
    fi
    [ "$method" != '"shutdown"' ] || exit 0
done
