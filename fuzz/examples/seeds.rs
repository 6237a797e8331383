//! Writes seeds for the targets, made of the tests' data: whole frames and what is in them, behind the numbers that a
//! target takes first.
//!
//! usage: seeds DIRECTORY

use batchwise::codec::{Codec, Decoder};
use batchwise::{Validator, kafka, segment};
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs, io};

/// Longer ones slow a target down more than they teach it.
const LONGEST: usize = 4000;
/// Of one kind for one target.
const MOST: usize = 60;

/// Where seeds go; how many there are of a kind.
struct Seeds<'a>(&'a Path, BTreeMap<String, usize>);

impl Seeds<'_> {
    fn add(&mut self, target: &str, kind: &str, head: &[u8], data: &[u8]) -> io::Result<()> {
        let n = self.1.entry(format!("{target}/{kind}")).or_default();
        if data.len() > LONGEST || *n == MOST {
            return Ok(());
        }
        *n += 1;
        fs::create_dir_all(self.0.join(target))?;
        fs::write(self.0.join(format!("{target}/{kind}-{n}")), [head, data].concat())
    }

    fn kafka_batch(&mut self, frame: &[u8]) -> io::Result<()> {
        let Ok(batch) = kafka::RecordBatch::parse(frame, 0) else { return Ok(()) };
        let codec = Codec::from_number(batch.codec());
        let kind = codec.map_or("plain", Codec::name);
        for choice in [0x00, 0xCE, 0x56, 0xA2, 0xFA] {
            self.add("kafka_batch", &format!("{kind}-{choice}"), &[choice], frame)?;
        }
        let count = batch.header().records_count().clamp(0, 255) as u8;
        match codec {
            None => self.records(count, batch.payload()),
            Some(codec) => {
                for choice in [0x14, 0x34] {
                    self.add(codec.name(), &format!("{choice}"), &[choice], batch.payload())?;
                }
                let decoded = Decoder::default().decode(codec, batch.payload()).map(|d| d.bytes.to_vec());
                decoded.map_or(Ok(()), |bytes| self.records(count, &bytes))
            }
        }
    }

    fn records(&mut self, count: u8, payload: &[u8]) -> io::Result<()> {
        let payload = &payload[..payload.len().min(300)];
        self.add("records", "one", &[count, 0], payload)?;
        self.add("records", "many", &[count, 0xFB, 40, 20, 10], payload)?;
        self.add("varint", "records", &[count], payload)
    }

    fn frame(&mut self, format: &str, frame: &[u8]) -> io::Result<()> {
        for choice in [0x02, 0x0A, 0x1E] {
            self.add("check", &format!("{format}-{choice}"), &[choice], frame)?;
        }
        for head in [[0x40; 14], [0x10; 14], [0x30; 14], [0xB0; 14]] {
            // The slice comes last, without its length.
            let mut head = head[..13].to_vec();
            head[1..5].copy_from_slice(&[0, 2, 0, 0xFF]);
            self.add("capi", &format!("{format}-{}", head[0]), &head, frame)?;
        }
        match (format, frame.get(16)) {
            ("kafka", Some(2)) => self.kafka_batch(frame)?,
            ("kafka", _) => {
                let cut = (frame.len().saturating_sub(26) as u16).to_le_bytes();
                for choice in [0x00, 0x82, 0xE2, 0xFE] {
                    self.add("kafka_legacy", &format!("{choice}"), &[choice, cut[0], cut[1]], frame)?;
                }
                if let Some(Ok(message)) = kafka::MessageSet::new(frame, 0).next()
                    && let Some(codec) = Codec::from_number(message.codec())
                    && let Ok(content) = message.content()
                {
                    self.add(codec.name(), "legacy", &[0x14], content.value.unwrap_or_default())?;
                }
            }
            ("iggy", _) => {
                for choice in [0x00, 0x82, 0xE2, 0x23] {
                    self.add("iggy_batch", &format!("{choice}"), &[choice, 3, 0, 0, 0], frame)?;
                }
                self.add("iggy_request", "bare", &[0], frame)?;
                let head = [&[0], &[0; 16][..]].concat();
                self.add("iggy_request", "reply", &head, frame)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn log(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let head = &bytes[..bytes.len().min(LONGEST)];
        let number = batchwise::formats::ALL.len() as u8;
        for choice in [number, number | 0x40] {
            self.add("segment", &format!("{choice}"), &[9, choice], head)?;
        }
        let report = Validator::detecting().list_batches(true).validate(bytes);
        for batch in report.batches {
            let frame = &bytes[batch.offset as usize..][..batch.len as usize];
            self.frame(batch.format.name(), frame)?;
        }
        if name.contains("iggy") {
            self.add("iggy_log", "alone", &[0, 0, 0, 0, 1], head)?;
        }
        Ok(())
    }

    fn side(&mut self, name: &str, bytes: &[u8], log: &[u8]) -> io::Result<()> {
        let bytes = &bytes[..bytes.len().min(1200)];
        let data = [bytes, &log[..log.len().min(LONGEST - bytes.len())]].concat();
        let cut = (bytes.len() as u16).to_le_bytes();
        for (number, kind) in segment::SideKind::ALL.iter().enumerate() {
            if name.ends_with(kind.extension()) {
                self.add("sides", kind.name(), &[number as u8, cut[0], cut[1], 0, 0, 0, 0], &data)?;
            }
        }
        if name.contains("iggy") {
            self.add("iggy_log", "index", &[0, 0, cut[0], cut[1], 1], &data)?;
        }
        Ok(())
    }
}

/// The files of a ustar archive: blocks of 512 bytes, a header with name and octal size, then the content.
fn unpack(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut rest = tar;
    while let Some((header, behind)) = rest.split_first_chunk::<512>() {
        let text =
            |field: &[u8]| String::from_utf8_lossy(field.split(|b| *b == 0).next().unwrap_or_default()).into_owned();
        let Ok(size) = usize::from_str_radix(text(&header[124..136]).trim(), 8) else { break };
        files.push((text(&header[..100]), behind[..size].to_vec()));
        rest = &behind[size.next_multiple_of(512)..];
    }
    files
}

fn collect(directory: &Path, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut paths = fs::read_dir(directory)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push((path.to_string_lossy().into_owned(), fs::read(&path)?));
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let directory = env::args_os().nth(1).expect("usage: seeds DIRECTORY");
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data"), &mut files)?;
    let mut decoder = Decoder::new(256 << 20);
    for (name, bytes) in files.clone() {
        if name.ends_with(".tar.zst") {
            files.extend(unpack(decoder.decode(Codec::Zstd, &bytes).expect("an archive").bytes));
        }
    }
    let mut seeds = Seeds(Path::new(&directory), BTreeMap::new());
    for (name, bytes) in &files {
        let log = Path::new(name).with_extension("log");
        match Path::new(name).extension().and_then(|e| e.to_str()) {
            Some("log" | "bin" | "checkpoint") => seeds.log(name, bytes)?,
            Some("send_messages_body") => seeds.add("iggy_request", "body", &[7], bytes)?,
            Some(_) => {
                let log = files.iter().find(|(name, _)| Path::new(name) == log);
                seeds.side(name, bytes, log.map_or(&[], |(_, bytes)| bytes))?;
            }
            None => {}
        }
    }
    for (kind, n) in &seeds.1 {
        println!("{n:3} {kind}");
    }
    Ok(())
}
