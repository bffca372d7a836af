/* The reference model, in C99: nothing but the standard library.
 *
 * JSON is never decoded: texts travel from the request to the answer as they were written, quotes and escapes
 * included, and numbers as well. All that is needed is to find a value and where it ends. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_LIMITED = -31002, CANCELLED = -32800, PARSE_ERROR = -32700, NO_METHOD = -32601, BAD_PARAMS = -32602 };
enum { MOST_WAITING = 256, DEEPEST = 500, ID_SIZE = 256 };

#define MODELS "[{\"id\":\"reference\",\"name\":\"Reference\",\"contextWindow\":8192}]"

/* A part of the line; `at` is NULL where there is none. */
typedef struct {
    const char *at;
    size_t length;
} Span;

static const Span NOTHING = {NULL, 0};
static bool in_session = false;
static char waiting[MOST_WAITING][ID_SIZE]; /* ids of chats that are never answered unless they are cancelled */

/* ---------------------------------------------------------------- JSON */

static const char *blanks(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at)) at++;
    return at;
}

/* Behind the text that begins at `at`; NULL when it is none. */
static const char *skip_text(const char *at, const char *end) {
    if (at >= end || *at != '"') return NULL;
    for (at++; at < end; at++) {
        if (*at == '"') return at + 1;
        if (*at == '\\') at++;
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth);

/* Behind an object or array. */
static const char *skip_container(const char *at, const char *end, int depth) {
    const bool object = *at == '{';
    const char close = object ? '}' : ']';
    at = blanks(at + 1, end);
    if (at < end && *at == close) return at + 1;
    while (at) {
        if (object) {
            at = skip_text(blanks(at, end), end);
            if (!at) return NULL;
            at = blanks(at, end);
            if (at >= end || *at != ':') return NULL;
            at++;
        }
        at = skip_value(at, end, depth + 1);
        if (!at) return NULL;
        at = blanks(at, end);
        if (at < end && *at == close) return at + 1;
        if (at >= end || *at != ',') return NULL;
        at++;
    }
    return NULL;
}

/* Behind the value that begins at `at`; NULL when it is none. */
static const char *skip_value(const char *at, const char *end, int depth) {
    at = blanks(at, end);
    if (at >= end || depth > DEEPEST) return NULL;
    if (*at == '"') return skip_text(at, end);
    if (*at == '{' || *at == '[') return skip_container(at, end, depth);
    const char *start = at;
    while (at < end && !strchr(",]} \t\r\n", *at)) at++;
    return at > start && strchr("-0123456789tfn", *start) ? at : NULL;
}

static Span value_at(const char *at, const char *end) {
    at = blanks(at, end);
    const char *behind = skip_value(at, end, 0);
    return behind ? (Span){at, (size_t)(behind - at)} : NOTHING;
}

static bool is(Span span, const char *text) {
    return span.at && span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

static bool starts(Span span, const char *text) {
    return span.at && span.length >= strlen(text) && memcmp(span.at, text, strlen(text)) == 0;
}

/* The value of a member. `key` is written with its quotes. */
static Span member(Span object, const char *key) {
    if (!object.at || *object.at != '{') return NOTHING;
    const char *end = object.at + object.length, *at = blanks(object.at + 1, end);
    while (at < end && *at == '"') {
        const Span name = value_at(at, end);
        at = blanks(name.at + name.length, end) + 1; /* behind the colon */
        const Span value = value_at(at, end);
        if (is(name, key)) return value;
        at = blanks(value.at + value.length, end);
        if (at < end && *at == ',') at = blanks(at + 1, end);
    }
    return NOTHING;
}

/* The last element of an array, and how many there are. */
static Span last_of(Span array, int *count) {
    Span last = NOTHING;
    *count = 0;
    if (!array.at || *array.at != '[') return NOTHING;
    const char *end = array.at + array.length - 1, *at = blanks(array.at + 1, end);
    while (at < end) {
        last = value_at(at, end);
        ++*count;
        at = blanks(last.at + last.length, end) + 1;
    }
    return last;
}

/* ---------------------------------------------------------------- writing */

static void put(const char *text) { fputs(text, stdout); }
static void put_span(Span span) { fwrite(span.at, 1, span.length, stdout); }

static void begin(Span id) {
    put("{\"jsonrpc\":\"2.0\",\"id\":");
    put_span(id);
}

static void finish(void) {
    put("}\n");
    fflush(stdout);
}

static void error(Span id, int code, const char *message, const char *more) {
    begin(id);
    printf(",\"error\":{\"code\":%d,\"message\":\"%s\"%s}", code, message, more);
    finish();
}

/* What follows are the members of the piece, then finish_delta. False: a one-shot host wants nothing but the answer. */
static bool begin_delta(Span id, const char *type) {
    if (!in_session) return false;
    put("{\"jsonrpc\":\"2.0\",\"method\":\"chat/delta\",\"params\":{\"requestId\":");
    put_span(id);
    printf(",\"type\":\"%s\"", type);
    return true;
}

static void finish_delta(void) {
    put("}");
    finish();
}

static void finish_result(int messages, const char *stop) {
    printf(",\"usage\":{\"input_tokens\":%d,\"output_tokens\":1},\"stopReason\":\"%s\"}", messages, stop);
    finish();
}

/* ---------------------------------------------------------------- the model */

/* Say `before`, then `text`: the inside of a text of the request, as it was written. */
static void say(Span id, const char *before, Span text, int messages, const char *more) {
    if (*before && begin_delta(id, "text")) {
        printf(",\"text\":\"%s\"", before);
        finish_delta();
    }
    if (begin_delta(id, "text")) {
        put(",\"text\":\"");
        put_span(text);
        put("\"");
        finish_delta();
    }
    begin(id);
    printf(",\"result\":{\"content\":\"%s", before);
    put_span(text);
    printf("\"%s", more);
    finish_result(messages, "end");
}

static void put_call(Span name, Span arguments) {
    put("\"id\":\"call-1\",\"name\":\"");
    put_span(name);
    put("\",\"arguments\":\"");
    put_span(arguments);
    put("\"");
}

static void call(Span id, Span name, Span arguments, int messages) {
    if (begin_delta(id, "tool_call")) {
        put(",\"index\":0,");
        put_call(name, arguments);
        finish_delta();
    }
    begin(id);
    put(",\"result\":{\"content\":\"\",\"tool_calls\":[{");
    put_call(name, arguments);
    put("}]");
    finish_result(messages, "tool_calls");
}

static void keep_waiting(Span id) {
    for (int slot = 0; slot < MOST_WAITING; slot++) {
        if (!*waiting[slot] && id.length < ID_SIZE) {
            memcpy(waiting[slot], id.at, id.length);
            waiting[slot][id.length] = '\0';
            return;
        }
    }
    error(id, RATE_LIMITED, "too many chats are waiting", "");
}

static void chat(Span id, Span params) {
    int messages;
    const Span last = last_of(member(params, "\"messages\""), &messages);
    const Span content = member(last, "\"content\"");
    if (!content.at || *content.at != '"') {
        error(id, BAD_PARAMS, "messages must be an array of messages", "");
        return;
    }
    const Span text = {content.at + 1, content.length - 2};
    const char *end = text.at + text.length;
    if (is(member(last, "\"role\""), "\"tool\"")) {
        say(id, "tool said: ", text, messages, "");
        return;
    }
    if (starts(text, "call ")) {
        const char *name = text.at + strlen("call "), *space = memchr(name, ' ', (size_t)(end - name));
        if (space) {
            const Span arguments = {space + 1, (size_t)(end - space - 1)};
            call(id, (Span){name, (size_t)(space - name)}, arguments, messages);
            return;
        }
    }
    if (starts(text, "think ")) {
        if (begin_delta(id, "thought")) {
            put(",\"text\":\"thinking\"");
            finish_delta();
        }
        const Span rest = {text.at + strlen("think "), text.length - strlen("think ")};
        say(id, "", rest, messages, ",\"reasoning\":\"thinking\"");
    } else if (is(text, "fail")) {
        error(id, RATE_LIMITED, "try again later", ",\"data\":{\"retryAfter\":7}");
    } else if (is(text, "wait")) {
        keep_waiting(id);
    } else {
        say(id, "echo: ", text, messages, "");
    }
}

/* ---------------------------------------------------------------- the protocol */

static void cancel(Span id) {
    for (int slot = 0; id.at && slot < MOST_WAITING; slot++) {
        if (*waiting[slot] && is(id, waiting[slot])) {
            *waiting[slot] = '\0';
            error(id, CANCELLED, "cancelled", "");
        }
    }
}

static void answer(Span method, Span id, Span params) {
    if (is(method, "\"chat\"")) {
        chat(id, params);
        return;
    }
    const char *result = NULL;
    if (is(method, "\"initialize\"")) {
        in_session = true;
        result = "{\"protocolVersion\":1,\"pluginInfo\":{\"name\":\"reference-c\",\"version\":\"1.0\"},"
                 "\"capabilities\":{\"streaming\":true,\"tools\":true,\"vision\":false,\"thinking\":true},"
                 "\"models\":" MODELS "}";
    } else if (is(method, "\"models/list\"")) {
        result = "{\"models\":" MODELS "}";
    } else if (is(method, "\"shutdown\"")) {
        result = "{}";
    }
    if (!result) {
        error(id, NO_METHOD, "no such method", "");
        return;
    }
    begin(id);
    printf(",\"result\":%s", result);
    finish();
}

/* Take one line; whether it was the last. */
static bool take(const char *line, size_t length) {
    const char *end = line + length;
    if (blanks(line, end) == end) return false;
    const Span message = value_at(line, end);
    if (!message.at || blanks(message.at + message.length, end) != end || *message.at != '{') {
        error((Span){"null", 4}, PARSE_ERROR, "not JSON", "");
        return false;
    }
    const Span method = member(message, "\"method\""), id = member(message, "\"id\"");
    if (is(method, "\"$/cancel_request\"")) {
        cancel(member(member(message, "\"params\""), "\"requestId\""));
    } else if (id.at) { /* other notifications are ignored */
        answer(method, id, member(message, "\"params\""));
    }
    return is(method, "\"shutdown\"");
}

int main(void) {
    size_t size = 65536, used = 0;
    char *line = malloc(size);
    for (int letter; line && (letter = getchar()) != EOF;) {
        if (letter == '\n') {
            if (take(line, used)) break;
            used = 0;
            continue;
        }
        if (used == size) {
            char *larger = realloc(line, size *= 2);
            if (!larger) break;
            line = larger;
        }
        line[used++] = (char)letter;
    }
    if (line && used > 0) take(line, used);
    free(line);
    return 0;
}
