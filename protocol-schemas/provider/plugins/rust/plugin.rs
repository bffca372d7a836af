//! The reference model, in Rust: nothing but the standard library.

mod json;

use json::{parse, quoted, Json};
use std::io::{self, BufRead, Write};

const RATE_LIMITED: i32 = -31002;
const CANCELLED: i32 = -32800;
const PARSE_ERROR: i32 = -32700;
const NO_METHOD: i32 = -32601;
const BAD_PARAMS: i32 = -32602;
const MODELS: &str = r#"[{"id":"reference","name":"Reference","contextWindow":8192}]"#;

enum Answer {
    Result(String),
    Error(i32, String, &'static str),
    /// A chat that is never answered unless it is cancelled.
    Never,
}

#[derive(Default)]
struct Plugin {
    in_session: bool,
    waiting: Vec<String>,
}

impl Plugin {
    fn write(&self, members: &str) {
        let mut out = io::stdout().lock();
        // the host may be gone; then there is nobody to tell
        let _ = writeln!(out, r#"{{"jsonrpc":"2.0",{members}}}"#).and_then(|()| out.flush());
    }

    fn error(&self, id: &str, code: i32, message: &str, data: &str) {
        let more = if data.is_empty() { String::new() } else { format!(r#","data":{data}"#) };
        self.write(&format!(r#""id":{id},"error":{{"code":{code},"message":{}{more}}}"#, quoted(message)));
    }

    fn delta(&self, id: &str, kind: &str, piece: &str) {
        if self.in_session {
            // a one-shot host wants nothing but the answer
            self.write(&format!(r#""method":"chat/delta","params":{{"requestId":{id},"type":"{kind}",{piece}}}"#));
        }
    }

    fn say(&self, id: &str, pieces: &[&str], more: &str) -> Answer {
        for piece in pieces {
            self.delta(id, "text", &format!(r#""text":{}"#, quoted(piece)));
        }
        let content = quoted(&pieces.concat());
        Answer::Result(format!(r#"{{"content":{content},"stopReason":"end",{more}}}"#))
    }

    fn chat(&mut self, id: &str, params: &Json) -> Answer {
        let messages = params.get("messages").and_then(Json::array).unwrap_or(&[]);
        let last = messages.last();
        let text = match last.and_then(|last| last.get("content")).and_then(Json::text) {
            Some(text) => text,
            None => return Answer::Error(BAD_PARAMS, "messages must be an array of messages".into(), ""),
        };
        let usage = format!(r#""usage":{{"input_tokens":{},"output_tokens":1}}"#, messages.len());
        if last.and_then(|last| last.get("role")).and_then(Json::text) == Some("tool") {
            return self.say(id, &["tool said: ", text], &usage);
        }
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        if let ["call", name, arguments] = words[..] {
            let call = format!(r#""id":"call-1","name":{},"arguments":{}"#, quoted(name), quoted(arguments));
            self.delta(id, "tool_call", &format!(r#""index":0,{call}"#));
            return Answer::Result(format!(
                r#"{{"content":"","tool_calls":[{{{call}}}],"stopReason":"tool_calls",{usage}}}"#
            ));
        }
        if let Some(rest) = text.strip_prefix("think ") {
            self.delta(id, "thought", r#""text":"thinking""#);
            return self.say(id, &[rest], &format!(r#""reasoning":"thinking",{usage}"#));
        }
        match text {
            "fail" => Answer::Error(RATE_LIMITED, "try again later".into(), r#"{"retryAfter":7}"#),
            "wait" => {
                self.waiting.push(id.to_string());
                Answer::Never
            }
            _ => self.say(id, &["echo: ", text], &usage),
        }
    }

    fn answer(&mut self, method: &str, id: &str, params: &Json) -> Answer {
        match method {
            "initialize" => {
                self.in_session = true;
                let party = r#"{"name":"reference-rust","version":"1.0"}"#;
                let can = r#"{"streaming":true,"tools":true,"vision":false,"thinking":true}"#;
                Answer::Result(format!(
                    r#"{{"protocolVersion":1,"pluginInfo":{party},"capabilities":{can},"models":{MODELS}}}"#
                ))
            }
            "models/list" => Answer::Result(format!(r#"{{"models":{MODELS}}}"#)),
            "shutdown" => Answer::Result("{}".into()),
            "chat" => self.chat(id, params),
            _ => Answer::Error(NO_METHOD, format!("no method {method}"), ""),
        }
    }

    /// Take one message; whether it was the last.
    fn take(&mut self, message: &Json) -> bool {
        let nothing = Json::Object(Vec::new());
        let method = message.get("method").and_then(Json::text).unwrap_or("");
        let params = message.get("params").unwrap_or(&nothing);
        if method == "$/cancel_request" {
            let wanted = params.get("requestId").and_then(Json::id).unwrap_or_default();
            if let Some(index) = self.waiting.iter().position(|id| *id == wanted) {
                self.waiting.remove(index);
                self.error(&wanted, CANCELLED, "cancelled", "");
            }
        } else if let Some(id) = message.get("id").and_then(Json::id) {
            // other notifications are ignored
            match self.answer(method, &id, params) {
                Answer::Result(result) => self.write(&format!(r#""id":{id},"result":{result}"#)),
                Answer::Error(code, message, data) => self.error(&id, code, &message, data),
                Answer::Never => {}
            }
        }
        method == "shutdown"
    }
}

fn main() {
    let mut plugin = Plugin::default();
    for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        match parse(&text) {
            Some(message) => {
                if plugin.take(&message) {
                    return;
                }
            }
            None => plugin.error("null", PARSE_ERROR, "not JSON", ""),
        }
    }
}
