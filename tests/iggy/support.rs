//! Vector files and the edits of mutations.

use batchwise::iggy::Revision;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// The directory of the vectors. A fuller set can be named in the environment: the largest batch is not kept here.
pub(crate) fn root() -> PathBuf {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy");
    std::env::var_os("BATCHWISE_IGGY_VECTORS").map_or_else(|| here.into(), PathBuf::from)
}

/// A file of the vectors; `None` for the one that is too large to be kept.
pub(crate) fn file(name: &str) -> Option<Vec<u8>> {
    match fs::read(root().join(name)) {
        Ok(bytes) => Some(bytes),
        Err(e) if name == "batches/mixed_0_to_1MiB.bin" && e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => panic!("{name}: {e}"),
    }
}

pub(crate) fn batch(name: &str) -> Vec<u8> {
    file(&format!("batches/{name}")).expect("a batch that is kept")
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_slice(&fs::read(root().join(name)).expect("a JSON file")).expect("JSON")
}

pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("a list {key}"))
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("a text {key} in {value}"))
}

/// A number, written as one or as decimal digits.
pub(crate) fn number(value: &Value, key: &str) -> u64 {
    let found = &value[key];
    found.as_u64().or_else(|| found.as_str()?.parse().ok()).unwrap_or_else(|| panic!("a number {key} in {value}"))
}

/// A number in hexadecimal digits.
pub(crate) fn hex_number(value: &Value, key: &str) -> u128 {
    u128::from_str_radix(text(value, key), 16).expect("hexadecimal digits")
}

pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2));
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Applies edits, in order.
pub(crate) fn edit(bytes: &mut Vec<u8>, ops: &[Value]) {
    for op in ops {
        let at = || number(op, "at") as usize;
        let len = || number(op, "len") as usize;
        let hex = || unhex(text(op, "hex"));
        match text(op, "op") {
            "set" => bytes[at()..][..hex().len()].copy_from_slice(&hex()),
            "xor" => bytes[at()..].iter_mut().zip(hex()).for_each(|(b, x)| *b ^= x),
            "truncate" => bytes.truncate(len()),
            "append" => bytes.extend(hex()),
            "append_zeros" => bytes.resize(bytes.len() + len(), 0),
            "append_file" => bytes.extend(file(text(op, "file")).expect("a file that is kept")),
            "insert" => drop(bytes.splice(at()..at(), hex())),
            "delete" => drop(bytes.drain(at()..at() + len())),
            "fill" => bytes[at()..][..len()].fill(number(op, "byte") as u8),
            other => panic!("no edit {other}"),
        }
    }
}

pub(crate) const REVISIONS: [(&str, Revision); 2] = [("rev1", Revision::R1), ("rev2", Revision::R2)];

/// A SendMessages body around `batch`: stream 1, topic 2, balanced.
pub(crate) fn request(batch: &[u8], messages_count: u32) -> Vec<u8> {
    let mut body = vec![18, 0, 0, 0, 1, 4, 1, 0, 0, 0, 1, 4, 2, 0, 0, 0, 1, 0];
    body.extend(messages_count.to_le_bytes());
    body.extend(batch);
    body
}

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}
