//! How a head is taken apart: the table of shuffles by continuation bits.

/// Continuation bits that choose a shuffle: the record's length and all fields up to the key's length lie in this
/// many bytes.
const PATTERN_BITS: usize = 10;
/// Those bits in a mask of bytes of which the first is the one before the record.
pub(super) const PATTERN: usize = ((1 << PATTERN_BITS) - 1) << 1;

/// Where each field goes in a shuffled head: the deltas and the key's length, least significant byte first.
const TIMESTAMP: usize = 0;
const OFFSET: usize = 4;
const KEY: usize = 8;
/// The attributes, the last byte of the record before, and the record's length.
const ATTRIBUTES: usize = 12;
const TAIL: usize = 13;
const LENGTH: usize = 14;

#[repr(align(64))]
pub(super) struct Shuffles(pub(super) [[u8; 8]; 2 << PATTERN_BITS]);

/// The shuffles, in halves: that of a [`PATTERN`] begins at the half of that number, which is even.
pub(super) static SHUFFLES: Shuffles = Shuffles({
    let mut all = [[0; 8]; 2 << PATTERN_BITS];
    let mut half = 0;
    while half < all.len() {
        let control = shuffle(half / 2);
        let mut i = 0;
        while i < 8 {
            all[half][i] = control[i];
            all[half + 1][i] = control[i + 8];
            i += 1;
        }
        half += 2;
    }
    all
});

const fn shuffle(pattern: usize) -> [u8; 16] {
    // Fields in the order of the wire, and how many bytes they may take here.
    const FIELDS: [(usize, usize); 5] = [(LENGTH, 2), (ATTRIBUTES, 1), (TIMESTAMP, 4), (OFFSET, 4), (KEY, 4)];
    const NOTHING: [u8; 16] = {
        let mut control = [0x80; 16];
        control[TAIL] = 0;
        control
    };
    let mut control = NOTHING;
    let mut from = 1;
    let mut field = 0;
    while field < FIELDS.len() {
        let (to, longest) = FIELDS[field];
        let mut len = 0;
        loop {
            if len == longest || from > PATTERN_BITS {
                // Not of the common form. Some byte has a continuation bit: as attributes it gives the record away.
                control = NOTHING;
                control[ATTRIBUTES] = 1 + pattern.trailing_zeros() as u8;
                return control;
            }
            control[to + len] = from as u8;
            let continued = pattern >> (from - 1) & 1 == 1;
            (len, from) = (len + 1, from + 1);
            if !continued || to == ATTRIBUTES {
                break;
            }
        }
        field += 1;
    }
    control
}
