//! Place by place.

use super::Pattern;

pub(super) fn find(bytes: &[u8], pattern: &Pattern) -> Option<usize> {
    let places = (bytes.len() + 1).checked_sub(pattern.span)?;
    let [(at, most), ..] = pattern.limits;
    let mut from = 0;
    while from < places {
        // The rarest limit alone goes through most of the bytes.
        from += bytes[from + at..places + at].iter().position(|&b| b <= most)?;
        if pattern.matches(&bytes[from..]) {
            return Some(from);
        }
        from += 1;
    }
    None
}
