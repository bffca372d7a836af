import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The reference model, in Java 17: nothing but the standard library. */
public final class Plugin {
    private static final int RATE_LIMITED = -31002;
    private static final int CANCELLED = -32800;
    private static final int PARSE_ERROR = -32700;
    private static final int NO_METHOD = -32601;
    private static final int BAD_PARAMS = -32602;
    private static final Json.Word NULL = new Json.Word("null");
    private static final List<Object> MODELS =
            List.of(object("id", "reference", "name", "Reference", "contextWindow", 8192));

    @SuppressWarnings("serial")
    private static final class Failure extends Exception {
        final Map<String, Object> error;

        Failure(int code, String message, Object... data) {
            error = object("code", code, "message", message);
            if (data.length > 0) {
                error.put("data", object(data));
            }
        }
    }

    private final PrintStream out = new PrintStream(System.out, false, UTF_8);
    private final Set<Object> waiting = new HashSet<>(); // ids of chats that are never answered unless cancelled
    private boolean inSession;

    public static void main(String[] arguments) throws IOException {
        new Plugin().serve(new BufferedReader(new InputStreamReader(System.in, UTF_8)));
    }

    private static Map<String, Object> object(Object... members) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int index = 0; index < members.length; index += 2) {
            made.put((String) members[index], members[index + 1]);
        }
        return made;
    }

    private static Map<?, ?> objectOf(Object value) {
        return value instanceof Map<?, ?> members ? members : Map.of();
    }

    private void write(Object... members) {
        Map<String, Object> message = object("jsonrpc", "2.0");
        message.putAll(object(members));
        out.print(Json.write(message) + "\n");
        out.flush();
    }

    private void delta(Object id, String type, Object... piece) {
        if (inSession) { // a one-shot host wants nothing but the answer
            Map<String, Object> params = object("requestId", id, "type", type);
            params.putAll(object(piece));
            write("method", "chat/delta", "params", params);
        }
    }

    private void serve(BufferedReader lines) throws IOException {
        for (String line; (line = lines.readLine()) != null; ) {
            if (line.isBlank()) {
                continue;
            }
            try {
                if (take(objectOf(Json.parse(line)))) {
                    return;
                }
            } catch (Json.Broken broken) {
                write("id", NULL, "error", object("code", PARSE_ERROR, "message", "not JSON"));
            }
        }
    }

    /** Take one message; whether it was the last. */
    private boolean take(Map<?, ?> message) {
        Object method = message.get("method");
        Object id = message.get("id");
        Map<?, ?> params = objectOf(message.get("params"));
        if ("$/cancel_request".equals(method)) {
            Object wanted = params.get("requestId");
            if (waiting.remove(wanted)) {
                write("id", wanted, "error", object("code", CANCELLED, "message", "cancelled"));
            }
        } else if (id != null) { // other notifications are ignored
            try {
                Map<String, Object> result = answer(String.valueOf(method), id, params);
                if (result != null) {
                    write("id", id, "result", result);
                }
            } catch (Failure failure) {
                write("id", id, "error", failure.error);
            }
        }
        return "shutdown".equals(method);
    }

    private Map<String, Object> answer(String method, Object id, Map<?, ?> params) throws Failure {
        switch (method) {
            case "initialize":
                inSession = true;
                return object(
                        "protocolVersion", 1,
                        "pluginInfo", object("name", "reference-java", "version", "1.0"),
                        "capabilities",
                        object("streaming", true, "tools", true, "vision", false, "thinking", true),
                        "models", MODELS);
            case "models/list":
                return object("models", MODELS);
            case "shutdown":
                return object();
            case "chat":
                return chat(id, params);
            default:
                throw new Failure(NO_METHOD, "no method " + method);
        }
    }

    private Map<String, Object> chat(Object id, Map<?, ?> params) throws Failure {
        List<?> messages = params.get("messages") instanceof List<?> list ? list : List.of();
        Map<?, ?> last = messages.isEmpty() ? Map.of() : objectOf(messages.get(messages.size() - 1));
        if (!(last.get("content") instanceof String text)) {
            throw new Failure(BAD_PARAMS, "messages must be an array of messages");
        }
        Map<String, Object> usage = object("input_tokens", messages.size(), "output_tokens", 1);
        String[] words = text.split(" ", 3);
        if ("tool".equals(last.get("role"))) {
            return say(id, usage, "tool said: ", text);
        }
        if (words[0].equals("call") && words.length == 3) {
            delta(id, "tool_call", "index", 0, "id", "call-1", "name", words[1], "arguments", words[2]);
            Map<String, Object> call = object("id", "call-1", "name", words[1], "arguments", words[2]);
            return object("content", "", "tool_calls", List.of(call), "usage", usage, "stopReason", "tool_calls");
        }
        if (text.startsWith("think ")) {
            delta(id, "thought", "text", "thinking");
            Map<String, Object> result = say(id, usage, text.substring("think ".length()));
            result.put("reasoning", "thinking");
            return result;
        }
        if (text.equals("fail")) {
            throw new Failure(RATE_LIMITED, "try again later", "retryAfter", 7);
        }
        if (text.equals("wait")) {
            waiting.add(id);
            return null;
        }
        return say(id, usage, "echo: ", text);
    }

    private Map<String, Object> say(Object id, Map<String, Object> usage, String... pieces) {
        for (String piece : pieces) {
            delta(id, "text", "text", piece);
        }
        return object("content", String.join("", pieces), "usage", usage, "stopReason", "end");
    }
}
