//! As much JSON as a provider program needs: any value is read, texts are written.

use std::fmt::Write;

pub enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Text(String),
    /// Numbers, true, false and null, as they were written.
    Other(String),
}

impl Json {
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// An id as it is sent back: a text in quotes, a number as it came.
    pub fn id(&self) -> Option<String> {
        match self {
            Json::Text(text) => Some(quoted(text)),
            Json::Other(word) => Some(word.clone()),
            _ => None,
        }
    }
}

pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => write!(out, "\\u{:04x}", letter as u32).unwrap(),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// The value that `text` holds, and nothing but it.
pub fn parse(text: &str) -> Option<Json> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    (reader.at == text.len()).then_some(value)
}

const DEEPEST: usize = 500;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.blanks();
        self.rest().starts_with(sign).then(|| self.at += sign.len_utf8())
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.blanks();
        match self.rest().chars().next()? {
            _ if depth > DEEPEST => None,
            '"' => Some(Json::Text(self.string()?)),
            '{' => self.object(depth),
            '[' => self.array(depth),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members = Vec::new();
        self.take('{')?;
        if self.take('}').is_some() {
            return Some(Json::Object(members));
        }
        loop {
            self.blanks();
            let name = self.string()?;
            self.take(':')?;
            members.push((name, self.value(depth + 1)?));
            if self.take(',').is_none() {
                self.take('}')?;
                return Some(Json::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.take('[')?;
        if self.take(']').is_some() {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(',').is_none() {
                self.take(']')?;
                return Some(Json::Array(items));
            }
        }
    }

    fn word(&mut self) -> Option<Json> {
        let rest = self.rest();
        let length = rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
        let word = rest[..length].to_string();
        let known = matches!(word.as_str(), "true" | "false" | "null") || word.parse::<f64>().is_ok();
        self.at += length;
        known.then_some(Json::Other(word))
    }

    fn string(&mut self) -> Option<String> {
        if !self.rest().starts_with('"') {
            return None;
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let length = rest.find(['"', '\\'])?;
            out.push_str(&rest[..length]);
            self.at += length + 1;
            if self.text.as_bytes()[self.at - 1] == b'"' {
                return Some(out);
            }
            out.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let sign = self.rest().chars().next()?;
        self.at += sign.len_utf8();
        Some(match sign {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            '"' | '\\' | '/' => sign,
            _ => return None,
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            self.at = before;
        }
        Some(char::from_u32(first).unwrap_or('\u{fffd}')) // half a pair is no character
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(value)
    }
}
