//! Bytes to integers: headers written as the tables of their specifications, and a cursor.

mod reader;

pub(crate) use reader::Reader;

/// `LEN` bytes at `AT`; whether they lie inside is checked when compiling.
#[inline]
pub(crate) fn bytes_at<const AT: usize, const LEN: usize, const N: usize>(from: &[u8; N]) -> [u8; LEN] {
    const { assert!(AT + LEN <= N, "the field lies outside its header") };
    core::array::from_fn(|i| from[AT + i])
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
        <$ty>::from_be_bytes(crate::wire::bytes_at::<$at, { size_of::<$ty>() }, $size>($h))
    };
    (@little_endian $ty:ty, $at:literal, $size:literal, $h:expr) => {
        <$ty>::from_le_bytes(crate::wire::bytes_at::<$at, { size_of::<$ty>() }, $size>($h))
    };
}
