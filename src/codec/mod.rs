//! Compression codecs and the containers that brokers put them in.
//!
//! The containers are read as the Java clients and brokers read them, which differs from what the codecs' own tools do:
//! bytes behind an LZ4 frame are ignored, bytes behind a zstd frame are not.
//!
//! Each codec is a cargo feature; [`Codec::is_available`] tells which this build has.

mod decode;
mod encode;

pub use decode::{Decoded, Decoder, Failure, Notes};
pub use encode::Compressor;

use core::fmt;

/// A compression codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// RFC 1952 members.
    Gzip,
    /// A raw block, or chunks of them in the framing of snappy-java.
    Snappy,
    /// An LZ4 frame.
    Lz4,
    /// Zstandard frames.
    Zstd,
}

impl Codec {
    /// Every codec, in the order of their numbers on the wire, from 1.
    pub const ALL: &'static [Codec] = &[Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

    /// The codec of a number from 1 to 4.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Codec> {
        Codec::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Name, which is also that of the crate's feature: `gzip`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Snappy => "snappy",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }

    /// Whether this build has it.
    #[must_use]
    pub const fn is_available(self) -> bool {
        match self {
            Codec::Gzip => cfg!(feature = "gzip"),
            Codec::Snappy => cfg!(feature = "snappy"),
            Codec::Lz4 => cfg!(feature = "lz4"),
            Codec::Zstd => cfg!(feature = "zstd"),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
