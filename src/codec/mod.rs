//! Compression codecs and the containers that brokers put them in.
//!
//! Each codec is a cargo feature; [`Codec::is_supported`] tells which this build has.

mod encode;

pub use encode::Compressor;

use core::fmt;

/// A compression codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not compressed.
    #[default]
    None,
    /// Gzip members (RFC 1952).
    Gzip,
    /// Snappy: blocks in the framing of xerial's `SnappyOutputStream`, or one raw block.
    Snappy,
    /// An LZ4 frame.
    Lz4,
    /// Zstandard frames (RFC 8878).
    Zstd,
}

impl Codec {
    /// Every codec, in the order of their numbers.
    pub const ALL: &'static [Codec] = &[Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

    /// The codec of a number, as in the attributes of batches; `None` if it is undefined.
    ///
    /// ```
    /// use batchwise::codec::Codec;
    /// assert_eq!(Codec::from_id(4), Some(Codec::Zstd));
    /// assert_eq!(Codec::from_id(5), None);
    /// ```
    #[must_use]
    pub fn from_id(id: u8) -> Option<Codec> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// Its number: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    #[inline]
    #[must_use]
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Its name in Kafka's configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Gzip => "gzip",
            Codec::Snappy => "snappy",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }

    /// Whether this build has the codec.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        match self {
            Codec::None => true,
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
