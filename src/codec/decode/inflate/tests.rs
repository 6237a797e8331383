//! Against zlib-rs.

use super::*;
use alloc::{vec, vec::Vec};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// What is taken zlib-rs takes too, to the same content and end; what has no room has none there.
fn agree(stream: &[u8], room: usize) -> Result<Lengths, Not> {
    let (mut out, mut zlib_out) = (vec![0; room], vec![0; room]);
    let found = Inflate::default().inflate(stream, &mut out);
    let mut zlib = Decompress::new(false);
    let status = zlib.decompress(stream, &mut zlib_out, FlushDecompress::Finish).ok();
    match found {
        Ok(lengths) => {
            assert_eq!(status, Some(Status::StreamEnd));
            assert_eq!((lengths.read as u64, lengths.written as u64), (zlib.total_in(), zlib.total_out()));
            assert_eq!(out[..lengths.written], zlib_out[..lengths.written]);
        }
        Err(Not::Room) => {
            assert_eq!(status, Some(Status::BufError));
            assert_eq!(zlib.total_out(), room as u64);
            let rest = &stream[zlib.total_in() as usize..];
            assert!(zlib.decompress(rest, &mut [0], FlushDecompress::Finish).is_ok());
            assert_eq!(zlib.total_out(), room as u64 + 1);
        }
        Err(Not::Sure) => {}
    }
    found
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// `len` bytes: words from a dictionary of random ones, some of them long runs.
fn text(len: usize, random: &mut Random) -> Vec<u8> {
    let letters = 1 + random.below(256);
    let words: Vec<Vec<u8>> = (0..1 + random.below(200))
        .map(|_| match random.below(8) {
            0 => vec![random.below(256) as u8; random.below(600)],
            n => (0..n * n).map(|_| random.below(letters) as u8).collect(),
        })
        .collect();
    let mut text = vec![7];
    while text.len() < len {
        text.extend_from_slice(&words[random.below(words.len())]);
        text.push(random.below(letters) as u8);
    }
    text.truncate(len);
    text
}

fn deflate(text: &[u8], level: usize) -> Vec<u8> {
    let mut stream = Vec::with_capacity(text.len() * 2 + 1000);
    let mut compress = Compress::new(Compression::new(level as u32), false);
    assert_eq!(compress.compress_vec(text, &mut stream, FlushCompress::Finish).unwrap(), Status::StreamEnd);
    stream
}

#[test]
fn sound_streams_are_taken_here() {
    let mut random = Random(1);
    for i in 0..400 {
        let text = text(random.below(if i % 40 == 0 { 300_000 } else { 20_000 }), &mut random);
        let mut stream = deflate(&text, i % 10);
        let read = stream.len();
        let sound = Ok(Lengths { read, written: text.len() });
        // With nothing behind the stream the last symbols may not be looked up in pairs.
        assert!([sound, Err(Not::Sure)].contains(&agree(&stream, text.len())));
        stream.extend_from_slice(&[0xFF; 8]);
        assert_eq!(agree(&stream, text.len()), sound);
        assert_eq!(agree(&stream, text.len() + 1000), sound);
        if !text.is_empty() {
            assert_eq!(agree(&stream, random.below(text.len())), Err(Not::Room));
        }
        assert_eq!(agree(&stream[..random.below(read)], text.len()), Err(Not::Sure));
    }
}

#[test]
fn altered_streams_are_judged_as_zlib_judges_them() {
    let mut random = Random(2);
    let (mut taken, mut left) = (0, 0);
    for i in 0..100 {
        let text = text(random.below(3000), &mut random);
        let stream = deflate(&text, i % 10);
        for _ in 0..200 {
            let mut altered = stream.clone();
            for _ in 0..1 + random.below(3) {
                let within = if random.below(2) == 0 { altered.len() } else { altered.len().min(100) };
                altered[random.below(within)] ^= 1 << random.below(8);
            }
            altered.extend_from_slice(&[0; 8]);
            match agree(&altered, 5000) {
                Err(Not::Sure) => left += 1,
                _ => taken += 1,
            }
        }
    }
    assert!(taken > 1000 && left > 1000, "{taken} {left}");
}

/// Bits, the first one lowest; codes begin with their highest bit.
#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn number(mut self, value: usize, count: usize) -> Writer {
        self.0.extend((0..count).map(|i| value >> i & 1 != 0));
        self
    }

    fn code(mut self, value: usize, count: usize) -> Writer {
        self.0.extend((0..count).rev().map(|i| value >> i & 1 != 0));
        self
    }

    /// A last block that describes codes of these lengths, 0 to 15, in four bits each.
    fn described(self, symbols: &[usize], distances: &[usize]) -> Writer {
        let mut writer = self.number(1, 1).number(2, 2).number(symbols.len() - 257, 5);
        writer = writer.number(distances.len() - 1, 5).number(15, 4);
        for at in super::super::inflate_table::ORDER {
            writer = writer.number(if at < 16 { 4 } else { 0 }, 3);
        }
        symbols.iter().chain(distances).fold(writer, |writer, &len| writer.code(len, 4))
    }

    fn judge(&self) -> (bool, Result<usize, Not>) {
        let mut stream: Vec<u8> =
            self.0.chunks(8).map(|c| c.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect();
        stream.extend_from_slice(&[0; 40]);
        let mut out = [0; 2000];
        let status = Decompress::new(false).decompress(&stream, &mut out, FlushDecompress::Finish).ok();
        (status == Some(Status::StreamEnd), agree(&stream, 2000).map(|lengths| lengths.written))
    }
}

fn lens<const N: usize>(some: &[(usize, usize)]) -> [usize; N] {
    let mut lens = [0; N];
    for &(at, len) in some {
        lens[at] = len;
    }
    lens
}

#[test]
fn odd_codes_are_left_to_zlib() {
    let fixed = |distance| {
        Writer::default().number(1, 1).number(1, 2).code(0x30 + 65, 8).code(1, 7).code(distance, 5).code(0, 7)
    };
    assert_eq!(fixed(0).judge(), (true, Ok(4)));
    for distance in [1, 29, 30, 31] {
        assert_eq!(fixed(distance).judge(), (false, Err(Not::Sure)));
    }
    for length in [6, 7] {
        let writer = Writer::default().number(1, 1).number(1, 2).code(0xC0 + length, 8).code(0, 5).code(0, 7);
        assert_eq!(writer.judge(), (false, Err(Not::Sure)));
    }
    assert_eq!(Writer::default().number(1, 1).number(3, 2).judge(), (false, Err(Not::Sure)));
    // The symbols 65 and 256, one bit each; two distances.
    let two = lens::<257>(&[(65, 1), (256, 1)]);
    let sound = |writer: Writer| writer.code(0, 1).code(0, 1).code(1, 1);
    assert_eq!(sound(Writer::default().described(&two, &[1, 1])).judge(), (true, Ok(2)));
    // Taken by zlib, but not here: codes with a gap that hold one symbol or none.
    assert_eq!(sound(Writer::default().described(&two, &[1])).judge(), (true, Err(Not::Sure)));
    assert_eq!(sound(Writer::default().described(&two, &[0])).judge(), (true, Err(Not::Sure)));
    // By neither: no end code, gaps, too many codes, too many symbols.
    for (symbols, distances) in [
        (&lens::<257>(&[(65, 1), (66, 1)])[..], &[1, 1][..]),
        (&lens::<257>(&[(65, 1), (256, 2)]), &[1, 1]),
        (&lens::<257>(&[(65, 1), (66, 1), (256, 1)]), &[1, 1]),
        (&two, &[1, 2]),
        (&two, &[1, 1, 1]),
        (&lens::<287>(&[(65, 1), (256, 1)]), &[1, 1]),
        (&two, &lens::<31>(&[(0, 1), (1, 1)])),
    ] {
        assert_eq!(sound(Writer::default().described(symbols, distances)).judge(), (false, Err(Not::Sure)));
    }
    // Codes of 15 bits, in subtables.
    let mut long = lens::<258>(&[(256, 15), (257, 15)]);
    (0..14).for_each(|i| long[65 + i] = i + 1);
    let mut back = lens::<16>(&[(14, 15), (15, 15)]);
    (0..14).for_each(|i| back[i] = i + 1);
    let writer = (0..400).fold(Writer::default().described(&long, &back), |w, _| w.code(0, 1));
    // Length 3, distance 129 plus no extra of six bits.
    let writer = writer.code(0x7FFF, 15).code(0x7FFE, 15).number(0, 6).code(0x7FFE, 15);
    assert_eq!(writer.judge(), (true, Ok(403)));
}
