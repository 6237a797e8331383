//! The Kafka vectors: bytes from Kafka's own classes and from independent clients, with what Kafka says about them.
//!
//! `tests/data/kafka/java.tar.zst` and `clients.tar.zst` hold most of them. `BATCHWISE_KAFKA_VECTORS` may name a directory
//! that holds the whole sets as `java/` and `clients/`.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod read;

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io::Read};

/// Files by their path below the set's directory.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The files of a set, `java` or `clients`.
pub fn files(set: &str) -> Files {
    match env::var_os("BATCHWISE_KAFKA_VECTORS") {
        Some(directory) => {
            let root = PathBuf::from(directory).join(set);
            let mut files = Files::new();
            collect(&root, &root, &mut files);
            files
        }
        // From the root package, or from one beside it.
        None => [".", ".."]
            .map(|root| {
                Path::new(env!("CARGO_MANIFEST_DIR")).join(root).join(format!("tests/data/kafka/{set}.tar.zst"))
            })
            .iter()
            .find(|path| path.exists())
            .map_or_else(|| panic!("no vectors"), |path| unpack(path)),
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Files) {
    for entry in fs::read_dir(directory).expect("a directory of vectors") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            files.insert(name, fs::read(&path).expect("a vector"));
        }
    }
}

/// Reads a ustar archive: blocks of 512 bytes, a header with name and octal size, then the content.
fn unpack(path: &Path) -> Files {
    let packed = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut decoder = zstd::stream::Decoder::new(&packed[..]).expect("a zstd stream");
    decoder.window_log_max(27).expect("the window that the archive was made with");
    let mut tar = Vec::new();
    decoder.read_to_end(&mut tar).expect("an archive");
    let mut files = Files::new();
    let mut rest = &tar[..];
    while let Some((header, behind)) = rest.split_first_chunk::<512>() {
        let text = |field: &[u8]| {
            let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
            String::from_utf8(field[..end].to_vec()).expect("a name")
        };
        let name = text(&header[..100]);
        if name.is_empty() {
            break;
        }
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).expect("a size");
        if header[156] == b'0' {
            files.insert(name, behind[..size].to_vec());
        }
        rest = &behind[size.next_multiple_of(512)..];
    }
    files
}

pub fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

pub fn json_lines(bytes: &[u8]) -> Vec<Value> {
    bytes.split(|&b| b == b'\n').filter(|l| !l.is_empty()).map(json).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    let digit = |b: u8| (b as char).to_digit(16).expect("a hexadecimal digit") as u8;
    text.as_bytes().chunks_exact(2).map(|p| digit(p[0]) << 4 | digit(p[1])).collect()
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A mutation: what was done, the bytes, and Kafka's verdicts.
pub struct Mutation {
    pub file: String,
    pub case: Value,
    pub bytes: Vec<u8>,
}

impl Mutation {
    pub fn id(&self) -> u64 {
        self.case["id"].as_u64().expect("an id")
    }

    pub fn describe(&self) -> String {
        format!("{} {} {} ({})", self.id(), self.case["base"], self.case["kind"], self.case["note"])
    }
}

/// Every mutation of the Java set, and the bases themselves under id 0.
pub fn mutations() -> Vec<Mutation> {
    let files = files("java");
    let base = |name: &Value| &files[&format!("bases/{}.bin", name.as_str().expect("a base"))];
    let mut out = Vec::new();
    for (name, content) in &files {
        let is_bases = name == "bases.jsonl";
        if !(is_bases || name.starts_with("mutations-") && name.ends_with(".jsonl")) {
            continue;
        }
        for mut case in json_lines(content) {
            let mut bytes;
            if let Some(hex) = case["hex"].as_str() {
                bytes = unhex(hex);
            } else {
                bytes = base(&case["base"]).clone();
                if let Some(len) = case["len"].as_u64() {
                    bytes.resize(len as usize, 0);
                }
                for edit in case["edits"].as_array().into_iter().flatten() {
                    let at = edit[0].as_u64().expect("an offset") as usize;
                    let patch = unhex(edit[1].as_str().expect("hexadecimal"));
                    bytes[at..at + patch.len()].copy_from_slice(&patch);
                }
            }
            if is_bases {
                case["id"] = 0.into();
            }
            out.push(Mutation { file: name.clone(), case, bytes });
        }
    }
    assert!(out.len() > 5000, "{} mutations", out.len());
    out
}
