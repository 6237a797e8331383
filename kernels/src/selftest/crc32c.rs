//! Cases of CRC-32C.

use super::{Answers, Cases, PATTERN, nothing};
use crate::crc32c::{advance, copy, many, patch, update};
use crate::dispatch::Kernel;

/// From RFC 3720 (iSCSI), appendix B.4, and the check value of the polynomial's catalogue entry.
static PUBLISHED: [(&[u8], u32); 7] = [
    (b"", 0),
    (b"123456789", 0xE306_9283),
    (&[0; 32], 0x8A91_36AA),
    (&[0xFF; 32], 0x62A8_AB43),
    (&INCREASING, 0x46DD_794E),
    (&DECREASING, 0x113F_DB5C),
    (&READ_COMMAND, 0xD996_3A56),
];

const INCREASING: [u8; 32] = {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
};

const DECREASING: [u8; 32] = {
    let mut bytes = INCREASING;
    let mut i = 0;
    while i < 32 {
        bytes[i] = 31 - i as u8;
        i += 1;
    }
    bytes
};

/// An iSCSI SCSI Read (10) command.
const READ_COMMAND: [u8; 48] = {
    let mut bytes = [0; 48];
    (bytes[0], bytes[1]) = (0x01, 0xC0);
    (bytes[16], bytes[22]) = (0x14, 0x04);
    (bytes[27], bytes[31], bytes[32]) = (0x14, 0x18, 0x28);
    bytes[40] = 0x02;
    bytes
};

/// The first bytes of the pattern, by an implementation that goes bit by bit.
static PATTERNED: [(usize, u32); 16] = [
    (1, 0x527D_5351),
    (7, 0x00C4_29F3),
    (15, 0xC338_C216),
    (63, 0xC8EA_75D1),
    (64, 0x0CA6_8500),
    (65, 0x2ED4_9FC3),
    (127, 0xA307_EFB6),
    (255, 0x0933_1468),
    (256, 0xDEB1_51BC),
    (511, 0xA2AE_E95F),
    (1023, 0xD6AD_6AF8),
    (1024, 0xB09E_BA57),
    (2047, 0x87FE_445C),
    (2048, 0x7F7A_1DD1),
    (4095, 0xB0DC_06B9),
    (4096, 0x08C9_02A8),
];

fn known() -> impl Iterator<Item = (&'static [u8], u32)> {
    PUBLISHED.into_iter().chain(PATTERNED.iter().map(|(len, crc)| (&PATTERN[..*len], *crc)))
}

pub(crate) const UPDATE: Cases<update::Function> = Cases {
    known: |kernel, answers| {
        for (data, crc) in known() {
            answers.expect(crc, update::with(kernel, 0, data));
        }
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let crc = rng.next() as u32;
        let data = input.bytes(&mut rng);
        words.push(update::with(kernel, crc, data));
        let (a, b) = data.split_at(rng.below(data.len() + 1));
        words.push(update::with(kernel, update::with(kernel, crc, a), b));
    },
};

/// Around the place that is copied to.
const GUARD: u8 = 0xA5;

pub(crate) const COPY: Cases<copy::Function> = Cases {
    known: |kernel, answers| {
        let mut place = [0; PATTERN.len()];
        for (data, crc) in known() {
            let place = &mut place[..data.len()];
            answers.expect(crc, copy::with(kernel, place, data));
            answers.expect(true, place == data);
        }
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let (from, to, len) = (rng.below(64), rng.below(64), input.len());
        let src = &input.data[from..from + len];
        let place = &mut input.scratch[..len + 64];
        place.fill(GUARD);
        words.push(copy::with(kernel, &mut place[to..to + len], src));
        let copied = &place[to..to + len];
        let differ = if copied == src { None } else { copied.iter().zip(src).position(|(a, b)| a != b) };
        words.push(differ.map_or(u64::MAX, |at| at as u64));
        let spilt = place[..to].iter().chain(&place[to + len..]).position(|b| *b != GUARD);
        words.push(spilt.map_or(u64::MAX, |at| at as u64));
    },
};

/// Frames that are checked together, at most.
const FRAMES: usize = 96;

pub(crate) const MANY: Cases<many::Function> = Cases {
    known: known_many,
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let count = rng.below(FRAMES + 1);
        let most = input.len() / count.max(1) * 2;
        let (mut frames, mut crcs) = ([&[][..]; FRAMES], [0xDEAD_BEEF; FRAMES]);
        frames[..count].fill_with(|| input.part(most, &mut rng));
        many::with(kernel, &frames[..count], &mut crcs[..count]);
        crcs.iter().for_each(|crc| words.push(*crc));
    },
};

fn known_many(kernel: &Kernel<many::Function>, answers: &mut Answers) {
    let (mut frames, mut crcs) = ([&[][..]; PUBLISHED.len() + PATTERNED.len()], [0; PUBLISHED.len() + PATTERNED.len()]);
    for (frame, (data, _)) in frames.iter_mut().zip(known()) {
        *frame = data;
    }
    many::with(kernel, &frames, &mut crcs);
    for ((_, crc), found) in known().zip(crcs) {
        answers.expect(crc, found);
    }
}

pub(crate) const PATCH: Cases<patch::Function> = Cases {
    known: |kernel, answers| {
        answers.expect(0x46DD_794E_u32, patch::with(kernel, 0x8A91_36AA, &[0; 32], &INCREASING, 0));
        answers.expect(0x113F_DB5C_u32, patch::with(kernel, 0x46DD_794E, &INCREASING, &DECREASING, 0));
        answers.expect(0x62A8_AB43_u32, patch::with(kernel, 0x8A91_36AA, &[0; 32], &[0xFF; 32], 0));
        // Bytes 100 to 140 of the pattern's first 2048 set to zero.
        answers.expect(0x28FA_C839_u32, patch::with(kernel, 0x7F7A_1DD1, &PATTERN[100..141], &[0; 41], 1907));
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let old = input.part(400, &mut rng);
        let from = rng.below(input.data.len() - old.len() + 1);
        let new = &input.data[from..from + old.len()];
        words.push(patch::with(kernel, rng.next() as u32, old, new, rng.number()));
    },
};

/// 1 moved over bytes: powers of x modulo the polynomial, the fifth of them the polynomial itself.
static POWERS: [(u64, u32); 11] = [
    (0, 0x8000_0000),
    (1, 0x0080_0000),
    (2, 0x0000_8000),
    (3, 0x0000_0080),
    (4, 0x82F6_3B78),
    (5, 0xFBC3_FAF9),
    (9, 0x1C08_B7D6),
    (255, 0x37EF_50EA),
    (256, 0x88E5_6F72),
    (1000, 0x443D_3EB3),
    (65_536, 0xFE77_40E6),
];

pub(crate) const ADVANCE: Cases<advance::Function> = Cases {
    known: |kernel, answers| {
        for (len, power) in POWERS {
            answers.expect(power, advance::with(kernel, 0x8000_0000, len));
        }
        answers.expect(0x7D03_C0A5_u32, advance::with(kernel, 0xDEAD_BEEF, 1234));
        answers.expect(0x60B3_F75B_u32, advance::with(kernel, 0xF63A_F4EE, 5));
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        for _ in 0..8 {
            words.push(advance::with(kernel, rng.next() as u32, rng.number()));
        }
    },
};
