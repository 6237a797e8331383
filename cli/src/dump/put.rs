//! Writes text and JSON into a buffer, as fast as bytes can be copied.

use clap::ValueEnum;

/// How bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoding {
    /// As text; what is not UTF-8 becomes U+FFFD, and in JSON the whole becomes base64
    Utf8,
    /// Hexadecimal digits
    Hex,
    /// Base64, with padding
    Base64,
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf8",
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
        }
    }
}

/// Appends to a line.
pub(super) trait Put {
    fn text(&mut self, text: &str) -> &mut Self;
    fn number(&mut self, number: impl itoa::Integer) -> &mut Self;
    fn bool(&mut self, value: bool) -> &mut Self;
    /// Bytes in an encoding.
    fn encoded(&mut self, bytes: &[u8], encoding: Encoding) -> &mut Self;
    /// An optional number as Java prints it.
    fn optional_long(&mut self, number: Option<i64>) -> &mut Self;

    /// The next member of a JSON object.
    fn key(&mut self, name: &str) -> &mut Self;
    /// A comma, unless it would be the first thing in an object or array.
    fn comma(&mut self) -> &mut Self;
    /// A JSON string.
    fn string(&mut self, text: &str) -> &mut Self;
    /// A JSON number or null.
    fn number_or_null(&mut self, number: Option<impl itoa::Integer>) -> &mut Self;
    /// Two members of a JSON object: bytes as a string, and by which encoding. Null has none.
    fn bytes(&mut self, name: [&str; 2], bytes: Option<&[u8]>, encoding: Encoding) -> &mut Self;
}

impl Put for Vec<u8> {
    #[inline]
    fn text(&mut self, text: &str) -> &mut Self {
        self.extend_from_slice(text.as_bytes());
        self
    }

    #[inline]
    fn number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.text(itoa::Buffer::new().format(number))
    }

    fn bool(&mut self, value: bool) -> &mut Self {
        self.text(if value { "true" } else { "false" })
    }

    #[inline]
    fn encoded(&mut self, bytes: &[u8], encoding: Encoding) -> &mut Self {
        match encoding {
            Encoding::Utf8 => utf8(self, bytes),
            Encoding::Hex => hex(self, bytes),
            Encoding::Base64 => base64(self, bytes),
        }
        self
    }

    fn optional_long(&mut self, number: Option<i64>) -> &mut Self {
        match number {
            Some(number) => self.text("OptionalLong[").number(number).text("]"),
            None => self.text("OptionalLong.empty"),
        }
    }

    #[inline]
    fn key(&mut self, name: &str) -> &mut Self {
        self.comma().text("\"").text(name).text("\":")
    }

    #[inline]
    fn comma(&mut self) -> &mut Self {
        if !matches!(self.last(), Some(b'{' | b'[')) {
            self.push(b',');
        }
        self
    }

    fn string(&mut self, text: &str) -> &mut Self {
        // A vector takes everything.
        let written = serde_json::to_writer(&mut *self, text);
        debug_assert!(written.is_ok());
        self
    }

    fn number_or_null(&mut self, number: Option<impl itoa::Integer>) -> &mut Self {
        match number {
            Some(number) => self.number(number),
            None => self.text("null"),
        }
    }

    fn bytes(&mut self, [name, format]: [&str; 2], bytes: Option<&[u8]>, encoding: Encoding) -> &mut Self {
        let Some(bytes) = bytes else { return self.key(name).text("null") };
        let mut used = encoding;
        self.key(name);
        match std::str::from_utf8(bytes) {
            Ok(text) if encoding == Encoding::Utf8 => self.string(text),
            _ => {
                if encoding == Encoding::Utf8 {
                    used = Encoding::Base64;
                }
                self.text("\"").encoded(bytes, used).text("\"")
            }
        };
        self.key(format).text("\"").text(used.name()).text("\"")
    }
}

fn utf8(out: &mut Vec<u8>, bytes: &[u8]) {
    if std::str::from_utf8(bytes).is_ok() {
        return out.extend_from_slice(bytes);
    }
    for chunk in bytes.utf8_chunks() {
        out.text(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.text("\u{FFFD}");
        }
    }
}

fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]));
}

fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    use base64::Engine;
    /// A multiple of three, so that pieces can be written one after the other.
    const PIECE: usize = 768;
    let mut text = [0; PIECE / 3 * 4];
    for piece in bytes.chunks(PIECE) {
        let len = base64::engine::general_purpose::STANDARD.encode_slice(piece, &mut text).unwrap_or(0);
        out.extend_from_slice(&text[..len]);
    }
}
