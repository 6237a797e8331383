//! A tokio server that validates batches off the reactor: the threads that serve sockets never hash.
//!
//! `cargo run --example server` (starts, is sent a segment by eight connections, and ends)
//!
//! The protocol is of this example: a length (u32, big-endian) and as many bytes of batches; the answer is a length and a
//! text.

use batchwise::{Options, Origin, Severity, Validator, kafka};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

/// The longest request, bytes: what a length field may make the server allocate.
const MAX_REQUEST: u32 = 8 << 20;

/// Requests below this many bytes are validated where they arrive: a few microseconds, less than a hand-over costs.
const INLINE: usize = 16 << 10;

/// Checks batches as a follower does with what its leader sent.
fn validate(batches: &[u8]) -> String {
    let mut options = Options::default();
    options.origin = Origin::Replica;
    let report = Validator::new(&kafka::Log).options(options).validate(batches);
    match report.findings.iter().find(|f| f.defect.severity == Severity::Error) {
        Some(refused) => format!("refused: {}", refused.defect.error),
        None => format!("{} batches, {} records", report.totals.batches, report.totals.records),
    }
}

async fn serve(mut socket: TcpStream, cores: Arc<Semaphore>) -> io::Result<()> {
    loop {
        let len = match socket.read_u32().await {
            Ok(len) if len <= MAX_REQUEST => len as usize,
            Ok(_) => return Err(io::ErrorKind::InvalidData.into()),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        };
        let mut batches = vec![0; len];
        socket.read_exact(&mut batches).await?;
        let answer = if len < INLINE {
            validate(&batches)
        } else {
            // As many at a time as there are cores: others wait here, where waiting costs nothing.
            let permit = Arc::clone(&cores).acquire_owned().await.map_err(io::Error::other)?;
            spawn_blocking(move || {
                let _permit = permit;
                validate(&batches)
            })
            .await?
        };
        socket.write_u32(answer.len() as u32).await?;
        socket.write_all(answer.as_bytes()).await?;
    }
}

async fn ask(socket: &mut TcpStream, batches: &[u8]) -> io::Result<String> {
    socket.write_u32(batches.len() as u32).await?;
    socket.write_all(batches).await?;
    let mut answer = vec![0; socket.read_u32().await? as usize];
    socket.read_exact(&mut answer).await?;
    String::from_utf8(answer).map_err(io::Error::other)
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let cores = Arc::new(Semaphore::new(std::thread::available_parallelism()?.get()));
    let server = tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let cores = Arc::clone(&cores);
            tokio::spawn(async move {
                if let Err(e) = serve(socket, cores).await {
                    eprintln!("connection closed: {e}");
                }
            });
        }
    });

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka");
    let small = tokio::fs::read(format!("{folder}/two-records.bin")).await?;
    let large = tokio::fs::read(format!("{folder}/v2-none-10k/00000000000000005000.log")).await?;
    let mut damaged = large.clone();
    damaged[300_000] ^= 1;
    let requests = Arc::new([small, large, damaged]);
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        let requests = Arc::clone(&requests);
        clients.spawn(async move {
            let mut socket = TcpStream::connect(address).await?;
            let mut answers = Vec::new();
            for request in requests.iter() {
                answers.push(ask(&mut socket, request).await?);
            }
            io::Result::Ok(answers)
        });
    }
    let answers = clients.join_all().await.into_iter().collect::<io::Result<Vec<_>>>()?;
    server.abort();
    for answer in &answers[0] {
        println!("{answer}");
    }
    assert!(answers.iter().all(|a| *a == answers[0]));
    assert!(answers[0][1] == "1 batches, 10000 records" && answers[0][2].starts_with("refused: crc"));
    Ok(())
}
