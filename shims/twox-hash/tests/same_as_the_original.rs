//! Every item that is not the original itself, against the original.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

type Ours = twox_hash::XxHash3_64;
type Theirs = original::XxHash3_64;

fn data(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..600).chain((1000..1100).step_by(3)).chain([4096, 65_537])
}

#[test]
fn oneshot() {
    let bytes = data(70_000);
    let secrets = [&bytes[9..9 + 136], &bytes[9..9 + 137], &bytes[3..3 + 192], &bytes[..1000]];
    for len in lengths() {
        let input = &bytes[len % 61..][..len];
        assert_eq!(Ours::oneshot(input), Theirs::oneshot(input), "{len}");
        for seed in [0, 1, 0xDEAD_BEEF_0000_0001, u64::MAX] {
            let (ours, theirs) = (Ours::oneshot_with_seed(seed, input), Theirs::oneshot_with_seed(seed, input));
            assert_eq!(ours, theirs, "{len} {seed}");
            let ours = Ours::oneshot_with_seed_and_secret(seed, secrets[0], input).unwrap();
            assert_eq!(ours, Theirs::oneshot_with_seed_and_secret(seed, secrets[0], input).unwrap());
        }
        for secret in secrets {
            let (ours, theirs) = (Ours::oneshot_with_secret(secret, input), Theirs::oneshot_with_secret(secret, input));
            assert_eq!(ours.unwrap(), theirs.unwrap(), "{len} with a secret of {}", secret.len());
        }
    }
    let ours = Ours::oneshot_with_secret(&bytes[..135], b"x").unwrap_err();
    assert_eq!(ours.to_string(), Theirs::oneshot_with_secret(&bytes[..135], b"x").unwrap_err().to_string());
}

#[test]
fn streaming() {
    let bytes = data(70_000);
    let secret = bytes[..200].to_vec();
    for seed in [0, 42] {
        let pairs = [
            (Ours::with_seed(seed), Theirs::with_seed(seed)),
            (
                Ours::with_seed_and_secret(seed, secret.clone()).unwrap(),
                Theirs::with_seed_and_secret(seed, secret.clone()).unwrap(),
            ),
        ];
        for (mut ours, mut theirs) in pairs {
            for len in [0, 1, 8, 8, 8, 200, 31, 256, 257, 1024, 1025, 4000] {
                ours.write(&bytes[len..2 * len]);
                theirs.write(&bytes[len..2 * len]);
                ours.write_u64(len as u64);
                theirs.write_u64(len as u64);
                assert_eq!(ours.finish(), theirs.finish(), "{seed} {len}");
                assert_eq!(ours.clone().finish(), ours.finish());
            }
            assert_eq!(ours.into_secret(), theirs.into_secret());
        }
    }
    assert_eq!(Ours::new().finish(), Theirs::new().finish());
    assert_eq!(Ours::default().finish(), Theirs::default().finish());
    let short = vec![0; 135];
    assert!(Ours::with_seed_and_secret(1, short).is_err());
}

#[test]
fn as_the_hasher_of_a_map() {
    let mut map = HashMap::<u32, &str, BuildHasherDefault<Ours>>::default();
    map.insert(42, "the answer");
    assert_eq!(map.get(&42), Some(&"the answer"));
}

/// What is passed on is the very same, types included.
#[test]
fn the_rest() {
    let raw: original::xxhash3_64::RawHasher<_> =
        twox_hash::xxhash3_64::RawHasher::new(twox_hash::xxhash3_64::SecretBuffer::default());
    assert_eq!(raw.finish(), Ours::oneshot(b""));
    let hash32: original::XxHash32 = twox_hash::XxHash32::with_seed(1);
    let hash64: original::XxHash64 = twox_hash::XxHash64::with_seed(1);
    let hash128: original::XxHash3_128 = twox_hash::XxHash3_128::with_seed(1);
    assert_eq!(hash128.finish_128(), original::XxHash3_128::oneshot_with_seed(1, b""));
    assert_eq!(hash64.finish(), original::XxHash64::oneshot(1, b""));
    assert_eq!(hash32.finish_32(), original::XxHash32::oneshot(1, b""));
    let _: original::xxhash64::State = twox_hash::xxhash64::State::with_seed(1);
}
