//! Every public item, against the crate that it stands in for.

use std::hash::Hasher;
use std::io::{self, Cursor, Read, Write};

fn data(len: usize) -> Vec<u8> {
    let mut state = len as u64 ^ 0x9E37_79B9_7F4A_7C15;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

#[test]
fn functions() {
    let bytes = data(70_000);
    for len in (0..1200).chain([4095, 4096, 16 << 10, 65_537]) {
        for start in [0, 1, 7, 33] {
            let piece = &bytes[start..start + len];
            assert_eq!(crc32c::crc32c(piece), original::crc32c(piece), "{start}+{len}");
            for crc in [1, 0xFFFF_FFFF, 0x89AB_CDEF] {
                assert_eq!(crc32c::crc32c_append(crc, piece), original::crc32c_append(crc, piece), "{crc:x} {len}");
            }
        }
    }
}

#[test]
fn combination() {
    for len in (0..300).chain([4096, 1 << 20, (1 << 31) - 1, 1 << 31, usize::MAX >> 1, usize::MAX]) {
        // Also CRCs that no data of that length can have: an empty piece whose CRC is not 0.
        for (a, b) in [(0, 0), (1, 2), (0xE306_9283, 0x8A91_36AA), (u32::MAX, u32::MAX), (7, 0)] {
            let (ours, theirs) = (crc32c::crc32c_combine(a, b, len), original::crc32c_combine(a, b, len));
            assert_eq!(ours, theirs, "{a:x} {b:x} {len}");
        }
    }
}

#[test]
fn hasher() {
    let bytes = data(5000);
    for seed in [0, 1, 0xDEAD_BEEF] {
        let (mut ours, mut theirs) = (crc32c::Crc32cHasher::new(seed), original::Crc32cHasher::new(seed));
        let mut rest = &bytes[..];
        for step in (0..90).chain([700]) {
            let (piece, after) = rest.split_at(step.min(rest.len()));
            ours.write(piece);
            theirs.write(piece);
            ours.write_u64(step as u64);
            theirs.write_u64(step as u64);
            ours.write_u8(3);
            theirs.write_u8(3);
            assert_eq!(ours.finish(), theirs.finish(), "{step}");
            rest = after;
        }
    }
    assert_eq!(crc32c::Crc32cHasher::default().finish(), original::Crc32cHasher::default().finish());
}

/// Gives and takes at most three bytes at a time, and fails now and then.
struct Dribble<T>(T, u32);

impl<T> Dribble<T> {
    fn turn(&mut self) -> io::Result<()> {
        self.1 += 1;
        if self.1.is_multiple_of(5) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

impl<T: Read> Read for Dribble<T> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.turn()?;
        let len = buf.len().min(3);
        self.0.read(&mut buf[..len])
    }
}

impl<T: Write> Write for Dribble<T> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.turn()?;
        self.0.write(&buf[..buf.len().min(3)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn reader() {
    let bytes = data(1000);
    for seed in [0, 0x1234_5678] {
        let mut ours = crc32c::Crc32cReader::new_with_seed(Dribble(Cursor::new(&bytes), 0), seed);
        let mut theirs = original::Crc32cReader::new_with_seed(Dribble(Cursor::new(&bytes), 0), seed);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        ours.read_to_end(&mut a).unwrap();
        theirs.read_to_end(&mut b).unwrap();
        assert_eq!((a, ours.crc32c()), (b, theirs.crc32c()));
        assert_eq!(ours.into_inner().0.position(), theirs.into_inner().0.position());
    }
    assert_eq!(crc32c::Crc32cReader::new(&bytes[..]).crc32c(), 0);
}

#[test]
fn writer() {
    let bytes = data(1000);
    for seed in [0, 0x1234_5678] {
        let mut ours = crc32c::Crc32cWriter::new_with_seed(Dribble(Vec::new(), 0), seed);
        let mut theirs = original::Crc32cWriter::new_with_seed(Dribble(Vec::new(), 0), seed);
        ours.write_all(&bytes).unwrap();
        theirs.write_all(&bytes).unwrap();
        ours.flush().unwrap();
        theirs.flush().unwrap();
        assert_eq!(ours.crc32c(), theirs.crc32c());
        assert_eq!(ours.into_inner().0, theirs.into_inner().0);
    }
    assert_eq!(crc32c::Crc32cWriter::new(Vec::new()).crc32c(), 0);
}
