import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as a provider program needs: maps, lists, strings, and numbers and words as they were written. */
final class Json {
    /** A number, true, false or null, as it was written. */
    record Word(String text) {}

    /** What was read is no JSON. */
    @SuppressWarnings("serial")
    static final class Broken extends Exception {}

    private static final int DEEPEST = 500;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value that a text holds, and nothing but it. */
    static Object parse(String text) throws Broken {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.blanks();
        reader.demand(reader.at == text.length());
        return value;
    }

    static String write(Object value) {
        if (value instanceof Word word) {
            return word.text();
        }
        if (value instanceof Map<?, ?> members) {
            List<String> parts = new ArrayList<>();
            members.forEach((name, held) -> parts.add(quoted(name.toString()) + ":" + write(held)));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof List<?> items) {
            return "[" + String.join(",", items.stream().map(Json::write).toList()) + "]";
        }
        return value instanceof String string ? quoted(string) : String.valueOf(value);
    }

    private static String quoted(String string) {
        StringBuilder out = new StringBuilder("\"");
        for (char letter : string.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ' || Character.isSurrogate(letter)) {
                out.append(String.format("\\u%04x", (int) letter));
            } else {
                out.append(letter);
            }
        }
        return out.append('"').toString();
    }

    private Object value(int depth) throws Broken {
        blanks();
        demand(at < text.length() && depth <= DEEPEST);
        return switch (text.charAt(at)) {
            case '"' -> string();
            case '{' -> object(depth);
            case '[' -> array(depth);
            default -> word();
        };
    }

    private Map<String, Object> object(int depth) throws Broken {
        Map<String, Object> members = new LinkedHashMap<>();
        demand(take('{'));
        if (take('}')) {
            return members;
        }
        do {
            blanks();
            String name = string();
            demand(take(':'));
            members.put(name, value(depth + 1));
        } while (take(','));
        demand(take('}'));
        return members;
    }

    private List<Object> array(int depth) throws Broken {
        List<Object> items = new ArrayList<>();
        demand(take('['));
        if (take(']')) {
            return items;
        }
        do {
            items.add(value(depth + 1));
        } while (take(','));
        demand(take(']'));
        return items;
    }

    private Word word() throws Broken {
        int start = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        demand(word.matches("true|false|null|-?\\d+(\\.\\d+)?([eE][-+]?\\d+)?"));
        return new Word(word);
    }

    private String string() throws Broken {
        demand(at < text.length() && text.charAt(at) == '"');
        StringBuilder out = new StringBuilder();
        for (at++; at < text.length(); at++) {
            char letter = text.charAt(at);
            if (letter == '"') {
                at++;
                return out.toString();
            }
            out.append(letter == '\\' ? escape() : letter);
        }
        throw new Broken();
    }

    private char escape() throws Broken {
        demand(++at < text.length());
        char letter = text.charAt(at);
        int simple = "bfnrt".indexOf(letter);
        if (simple >= 0) {
            return "\b\f\n\r\t".charAt(simple);
        }
        if (letter != 'u') {
            demand("\"\\/".indexOf(letter) >= 0);
            return letter;
        }
        demand(at + 4 < text.length());
        String digits = text.substring(at + 1, at + 5);
        demand(digits.matches("[0-9a-fA-F]{4}"));
        at += 4;
        return (char) Integer.parseInt(digits, 16);
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean take(char sign) {
        blanks();
        boolean found = at < text.length() && text.charAt(at) == sign;
        at += found ? 1 : 0;
        return found;
    }

    private void demand(boolean right) throws Broken {
        if (!right) {
            throw new Broken();
        }
    }
}
