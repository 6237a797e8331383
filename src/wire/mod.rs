//! Bytes to integers: headers written as the tables of their specifications, and a cursor.

mod reader;

pub(crate) use reader::Reader;

/// `LEN` bytes at `AT`; whether they lie inside is checked when compiling.
#[inline]
pub(crate) fn bytes_at<const AT: usize, const LEN: usize, const N: usize>(from: &[u8; N]) -> [u8; LEN] {
    const { assert!(AT + LEN <= N, "the field lies outside its header") };
    core::array::from_fn(|i| from[AT + i])
}

/// A value that a header can hold.
pub(crate) trait Field<const N: usize>: Sized {
    fn from_be(bytes: [u8; N]) -> Self;
    fn from_le(bytes: [u8; N]) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Field<{ size_of::<$ty>() }> for $ty {
            #[inline]
            fn from_be(bytes: [u8; size_of::<$ty>()]) -> Self {
                <$ty>::from_be_bytes(bytes)
            }

            #[inline]
            fn from_le(bytes: [u8; size_of::<$ty>()]) -> Self {
                <$ty>::from_le_bytes(bytes)
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128);

/// Bytes without a number's meaning: reserved ones.
impl<const N: usize> Field<N> for [u8; N] {
    #[inline]
    fn from_be(bytes: [u8; N]) -> Self {
        bytes
    }

    #[inline]
    fn from_le(bytes: [u8; N]) -> Self {
        bytes
    }
}

/// Start of the field of that name; for places in errors.
pub(crate) const fn start_of(fields: &[(&str, usize, usize)], name: &str) -> usize {
    let mut i = 0;
    while i < fields.len() {
        if same(fields[i].0.as_bytes(), name.as_bytes()) {
            return fields[i].1;
        }
        i += 1;
    }
    panic!("the header has no such field")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Whether fields of (name, start, length) lie side by side and fill `size` bytes.
pub(crate) const fn tiles(fields: &[(&str, usize, usize)], size: usize) -> bool {
    let mut end = 0;
    let mut i = 0;
    while i < fields.len() {
        if fields[i].1 != end {
            return false;
        }
        end += fields[i].2;
        i += 1;
    }
    end == size
}

/// A fixed-size header as its specification's table: `start name: type`. A gap or an overlap does not compile.
///
/// Besides a getter for each field the view has `AT`, a module-like type of constants with each field's start.
macro_rules! layout {
    ($(#[$meta:meta])* $vis:vis struct $name:ident: $size:literal bytes, $order:ident {
        $($(#[$fmeta:meta])* $at:literal $field:ident: $ty:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name<'a>(&'a [u8; $size]);

        const _: () = assert!(crate::wire::tiles($name::FIELDS, $size), "the fields do not tile the header");

        impl<'a> $name<'a> {
            /// Size in bytes.
            pub const SIZE: usize = $size;
            /// Name, start and length of each field, in order.
            pub const FIELDS: &'static [(&'static str, usize, usize)] =
                &[$((stringify!($field), $at, size_of::<$ty>())),*];

            /// The header at the start of `bytes`; `None` if they are too few.
            #[inline]
            #[must_use]
            pub fn new(bytes: &'a [u8]) -> Option<Self> {
                bytes.first_chunk().map($name)
            }

            /// The bytes of the header.
            #[inline]
            #[must_use]
            pub const fn as_bytes(self) -> &'a [u8; $size] {
                self.0
            }

            $(
                $(#[$fmeta])*
                #[inline]
                #[must_use]
                pub fn $field(self) -> $ty { layout!(@$order $ty, $at, $size, self.0) }
            )*
        }
    };
    (@big_endian $ty:ty, $at:literal, $size:literal, $h:expr) => {
        <$ty as crate::wire::Field<{ size_of::<$ty>() }>>::from_be(crate::wire::bytes_at::<$at, { size_of::<$ty>() }, $size>($h))
    };
    (@little_endian $ty:ty, $at:literal, $size:literal, $h:expr) => {
        <$ty as crate::wire::Field<{ size_of::<$ty>() }>>::from_le(crate::wire::bytes_at::<$at, { size_of::<$ty>() }, $size>($h))
    };
}
