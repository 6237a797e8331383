//! What several tests share.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Whether an emulator or a sanitizer makes a test of seconds one of many minutes: then a product of options and inputs that
/// is walked natively is sampled.
pub(crate) fn slow() -> bool {
    std::env::var_os("BATCHWISE_TEST_SLOW").is_some()
}

pub(crate) fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

pub(crate) fn read(path: &str) -> Vec<u8> {
    std::fs::read(data(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every file of batches below tests/data.
pub(crate) fn logs() -> Vec<PathBuf> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).expect("a directory of test data") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|e| e == "log" || e == "bin" || e == "checkpoint") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&data(""), &mut found);
    found.sort();
    assert!(found.len() > 5, "there is test data");
    found
}
