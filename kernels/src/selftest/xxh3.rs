//! Cases of XXH3.

use super::{Cases, Input, PATTERN, Rng, nothing};
use crate::xxh3::{SECRET_MIN_LEN, consume, many, many_ranges, oneshot};
use core::ops::Range;

/// Length, seed, and hash of the first bytes of the pattern, by another implementation (the crate twox-hash).
static HASHES: [(usize, u64, u64); 30] = [
    (0, 0, 0x2D06_8005_38D3_94C2),
    (1, 0, 0xC44B_DFF4_074E_ECDB),
    (3, 0, 0x67A4_CD1B_2F6A_DD25),
    (4, 0, 0x08ED_46AE_BAA2_4FCE),
    (8, 0, 0x579D_B41C_3751_F2F5),
    (9, 0, 0x8F9E_2146_888D_E351),
    (16, 0, 0x0A32_F11E_209E_E3B1),
    (17, 0, 0xA461_9C46_9146_1BD5),
    (32, 0, 0xD87E_87B2_D963_2B88),
    (64, 0, 0x51F9_8012_F9DC_88F8),
    (96, 0, 0x62B2_C743_3209_C2D1),
    (128, 0, 0x005F_4768_9A31_97B3),
    (129, 0, 0xD169_5F67_324C_8BEC),
    (192, 0, 0xBC9F_BB9A_18E9_43FA),
    (240, 0, 0xCB6F_355D_19D0_FF16),
    (241, 0, 0xE1B1_3E28_3F95_5891),
    (256, 0, 0xC017_3B15_F410_67B7),
    (512, 0, 0x2781_483B_32EE_83E6),
    (1024, 0, 0x7809_D9A5_6AD9_3DDF),
    (1025, 0, 0x2B6D_B209_1719_8AE5),
    (2048, 0, 0x96A7_C60A_F605_F5F1),
    (4096, 0, 0xECB1_D08E_49E5_16E4),
    (0, SEED, 0xA8A6_B918_B2F0_364A),
    (2, SEED, 0x29E3_C055_8A4A_7C85),
    (6, SEED, 0xA15A_D283_F66C_C339),
    (12, SEED, 0x8EF9_D423_F540_04F8),
    (100, SEED, 0x1DBA_EBCB_F2AA_25FC),
    (200, SEED, 0x51CB_43F0_D9B9_E47D),
    (300, SEED, 0xDF85_065B_29BF_F199),
    (4096, SEED, 0x07A7_E071_EC9D_B3CA),
];

/// The seed of some of them.
const SEED: u64 = 0x9E37_79B1_85EB_CA8D;
/// Those that the operations without a seed are put to.
const UNSEEDED: usize = 22;

pub(crate) const ONESHOT: Cases<oneshot::Function> = Cases {
    known: |kernel, answers| {
        for (len, seed, hash) in HASHES {
            answers.expect(hash, oneshot::with(kernel, &PATTERN[..len], seed));
        }
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let data = input.bytes(&mut rng);
        words.push(oneshot::with(kernel, data, 0));
        words.push(oneshot::with(kernel, data, rng.next()));
    },
};

/// The accumulators before the first stripe, from the specification.
const INITIAL: [u64; 8] = [
    0xC2B2_AE3D,
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x85EB_CA77,
    0x27D4_EB2F_1656_67C5,
    0x9E37_79B1,
];

/// A step over the first stripes of the pattern, with the bytes from 1000 on as the secret.
struct Step {
    secret: usize,
    position: usize,
    stripes: usize,
    after: usize,
    acc: [u64; 8],
}

/// By an implementation of the specification in another language.
static STEPS: [Step; 3] = [
    Step {
        secret: 192,
        position: 0,
        stripes: 20,
        after: 4,
        acc: [
            0x302D_D4AD_351F_BD15,
            0xF9AC_6243_864B_0265,
            0xF84C_821B_BB98_3CCF,
            0x994F_0DAA_0F15_FD72,
            0xC853_1213_A0D4_1FCC,
            0x7845_DE26_8A0F_EB93,
            0x2927_2F72_FA50_BCBE,
            0xCFD2_BDF7_A2BE_31C9,
        ],
    },
    Step {
        secret: 136,
        position: 4,
        stripes: 11,
        after: 6,
        acc: [
            0x4F53_4484_5F22_E4B6,
            0xEE45_CB4E_CB11_F88B,
            0xD7F6_A630_E32C_D265,
            0x2797_7840_7A7F_80D8,
            0x41C0_F1EE_79CF_0324,
            0x5F07_82A6_655B_73F6,
            0x7358_596C_2CB1_8415,
            0x8171_8F5E_9683_DC27,
        ],
    },
    Step {
        secret: 136,
        position: 0,
        stripes: 9,
        after: 0,
        acc: [
            0xCAA8_7474_2B49_11E1,
            0x0DB4_AF1C_307B_7AD6,
            0xE6F6_BA96_F573_7717,
            0xE76A_1CA0_9D5B_D124,
            0xEC50_4464_4672_8F39,
            0x04CE_DE2A_FCAA_B7D6,
            0x7AFC_C8E3_7E59_A61C,
            0x1A9D_DBB6_59CE_925E,
        ],
    },
];

pub(crate) const CONSUME: Cases<consume::Function> = Cases {
    known: |kernel, answers| {
        for step in &STEPS {
            let (stripes, _) = PATTERN.as_chunks();
            let (mut acc, secret) = (INITIAL, &PATTERN[1000..][..step.secret]);
            let after = consume::with(kernel, &mut acc, step.position, &stripes[..step.stripes], secret);
            answers.expect(step.after as u64, after as u64);
            step.acc.iter().zip(acc).for_each(|(expected, found)| answers.expect(*expected, found));
        }
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let mut secret = [0; 256];
        let len = SECRET_MIN_LEN + rng.below(secret.len() - SECRET_MIN_LEN + 1);
        rng.fill(&mut secret[..len]);
        let mut acc = [(); 8].map(|()| rng.next());
        let position = rng.below((len - 64) / 8);
        let (stripes, _) = input.bytes(&mut rng).as_chunks();
        words.push(consume::with(kernel, &mut acc, position, stripes, &secret[..len]) as u64);
        acc.iter().for_each(|word| words.push(*word));
    },
};

/// Frames that are hashed together, at most.
const FRAMES: usize = 96;

fn known_frames() -> impl Iterator<Item = (Range<usize>, u64)> {
    HASHES[..UNSEEDED].iter().map(|(len, _, hash)| (0..*len, *hash))
}

pub(crate) const MANY: Cases<many::Function> = Cases {
    known: |kernel, answers| {
        let (mut frames, mut hashes) = ([&[][..]; UNSEEDED], [0; UNSEEDED]);
        frames.iter_mut().zip(known_frames()).for_each(|(frame, (range, _))| *frame = &PATTERN[range]);
        many::with(kernel, &frames, &mut hashes);
        known_frames().zip(hashes).for_each(|((_, hash), found)| answers.expect(hash, found));
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let count = rng.below(FRAMES + 1);
        let most = longest_frame(input, count);
        let (mut frames, mut hashes) = ([&[][..]; FRAMES], [1; FRAMES]);
        frames[..count].fill_with(|| input.part(most, &mut rng));
        many::with(kernel, &frames[..count], &mut hashes[..count]);
        hashes.iter().for_each(|hash| words.push(*hash));
    },
};

pub(crate) const MANY_RANGES: Cases<many_ranges::Function> = Cases {
    known: |kernel, answers| {
        let (mut ranges, mut hashes) = ([const { 0..0 }; UNSEEDED], [0; UNSEEDED]);
        ranges.iter_mut().zip(known_frames()).for_each(|(range, (known, _))| *range = known);
        many_ranges::with(kernel, &PATTERN, &ranges, &mut hashes);
        known_frames().zip(hashes).for_each(|((_, hash), found)| answers.expect(hash, found));
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let count = rng.below(FRAMES + 1);
        let most = longest_frame(input, count);
        let (mut ranges, mut hashes) = ([const { 0..0 }; FRAMES], [1; FRAMES]);
        ranges[..count].fill_with(|| range(input.data.len(), most, &mut rng));
        many_ranges::with(kernel, input.data, &ranges[..count], &mut hashes[..count]);
        hashes.iter().for_each(|hash| words.push(*hash));
    },
};

/// So that all frames together are about as long as the case.
fn longest_frame(input: &Input<'_>, count: usize) -> usize {
    input.len() / count.max(1) * 2
}

fn range(total: usize, most: usize, rng: &mut Rng) -> Range<usize> {
    let len = rng.below(most.min(total) + 1);
    let from = rng.below(total - len + 1);
    from..from + len
}
