//! A consumer's fetch path: from the bytes of a response to keys and values that share its memory. The records are read
//! as columns; what was compressed is copied once, as a whole.
//!
//! `cargo run --example fetch`

use batchwise::codec::Decoder;
use batchwise::kafka::{RecordBatch, RecordColumns};
use batchwise::{Error, ErrorKind};
use bytes::Bytes;

/// A record as an application keeps it. `Bytes` are counted references into the response.
struct Fetched {
    offset: i64,
    key: Option<Bytes>,
    value: Option<Bytes>,
}

/// What is kept from batch to batch: memory for columns, and for what decompresses.
struct Reader {
    columns: RecordColumns,
    decoder: Decoder,
}

/// The records of `response` from `position` on, and where to fetch next.
fn records(response: &Bytes, mut position: i64, reader: &mut Reader) -> Result<(Vec<Fetched>, i64), Error> {
    let Reader { columns, decoder } = reader;
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let batch = match RecordBatch::parse(&response[at..], at as u64) {
            Ok(batch) => batch,
            // A broker cuts the last batch where the response is full.
            Err(e) if e.kind() == ErrorKind::TornTail => return Ok((out, position)),
            Err(e) => return Err(e),
        };
        batch.verify_checksum()?;
        let base = batch.header().base_offset();
        if !batch.attributes().is_control() {
            let bytes = columns.fill_decoded(&batch, decoder)?;
            // Those of a plain batch lie in the response, others in the decoder, until the next batch.
            let bytes = if batch.codec() == 0 { response.slice_ref(bytes) } else { Bytes::copy_from_slice(bytes) };
            for (i, &delta) in columns.offset_deltas().iter().enumerate() {
                let offset = base + i64::from(delta);
                if offset >= position {
                    let keep = |range| bytes.slice(range);
                    out.push(Fetched { offset, key: columns.key(i).map(keep), value: columns.value(i).map(keep) });
                }
            }
        }
        position = batch.last_offset() + 1;
        at += batch.bytes().len();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // No batch may decompress to more.
    let mut reader = Reader { columns: RecordColumns::new(), decoder: Decoder::new(64 << 20) };
    for name in ["v2-none-keys-values", "v2-zstd-counts"] {
        let folder = format!("{}/tests/data/kafka/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut bytes = std::fs::read(format!("{folder}/00000000000000000000.log"))?;
        bytes.truncate(bytes.len() - 5); // as a response that was full

        let response = Bytes::from(bytes);
        let (fetched, next) = records(&response, 1, &mut reader)?;
        let shared = |part: &&Bytes| response.as_ptr_range().contains(&part.as_ptr());
        let values: Vec<&Bytes> = fetched.iter().filter_map(|r| r.value.as_ref()).filter(|v| !v.is_empty()).collect();
        let keys = fetched.iter().filter(|r| r.key.is_some()).count();
        println!(
            "{name}: {} records ({keys} with a key), {} of {} values share the memory of the response, next fetch at {next}",
            fetched.len(),
            values.iter().copied().filter(shared).count(),
            values.len(),
        );
        assert!(fetched.first().is_some_and(|r| r.offset >= 1) && fetched.last().is_some_and(|r| r.offset < next));
    }
    Ok(())
}
