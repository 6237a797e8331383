//! Time for a batch of 1 MiB.

use crate::Result;
use crate::adopters::{commitlog, kafka_protocol, rskafka};
use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;

/// Values of 64 KiB, where the checksum is most of the work, and of 1 KiB, where it is a part.
const SHAPES: [(i32, usize); 2] = [(16, 64 << 10), (1024, 1 << 10)];

/// Prints a line per operation: name, ns per batch; with the lines of an earlier run also that, and the ratio.
pub fn run(earlier: &str) -> Result {
    for (count, len) in SHAPES {
        let shape = format!("{count}x{}KiB", len >> 10);
        let records = kafka_protocol::records(count, len);
        let batch = kafka_protocol::encode(&records)?.freeze();
        let line = |name: &str, nanos: f64| print(&format!("{name}/{shape}"), nanos, earlier);

        line("kafka-protocol/encode", median(|| kafka_protocol::encode(black_box(&records)).map(|b| b.len()))?);
        line("kafka-protocol/decode", median(|| kafka_protocol::decode(black_box(batch.clone())).map(|s| s.len()))?);
        let decoded = rskafka::decode(&batch)?;
        line("rskafka/encode", median(|| rskafka::encode(black_box(&decoded)).map(|b| b.len()))?);
        line("rskafka/decode", median(|| rskafka::decode(black_box(&batch)).map(|b| b.last_offset_delta as usize))?);
        let set = Bytes::from(commitlog::message_set(count as usize, len)?);
        line("commitlog/open", median(|| commitlog::open(black_box(set.to_vec())))?);
    }
    Ok(())
}

fn print(name: &str, nanos: f64, earlier: &str) {
    let before = earlier.lines().find_map(|l| {
        let mut words = l.split_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse::<f64>().ok()).flatten()
    });
    match before {
        Some(before) => println!("{name:<34} {before:>10.0} {nanos:>10.0} {:>7.2}", before / nanos),
        None => println!("{name:<34} {nanos:>10.0}"),
    }
}

/// Median of 101 runs, ns.
fn median(mut run: impl FnMut() -> Result<usize>) -> Result<f64> {
    let mut nanos = Vec::new();
    for _ in 0..111 {
        let start = Instant::now();
        black_box(run()?);
        nanos.push(start.elapsed().as_nanos() as f64);
    }
    // The first runs warm caches and the allocator.
    let nanos = &mut nanos[10..];
    nanos.sort_by(f64::total_cmp);
    Ok(nanos[nanos.len() / 2])
}
