//! The checked-in header is the one that this crate makes.

use batchwise_capi::KINDS;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// `TornTail` as C spells it: `BATCHWISE_TORN_TAIL`.
fn constant(name: &str) -> String {
    let mut out = "BATCHWISE".to_owned();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

fn header() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut kinds = "\n/**\n * What is wrong: `kind` of a `batchwise_error`. Numbers never change; there may be more in later versions.\n */\n\
                     enum batchwise_kind {\n"
        .to_owned();
    for (number, kind) in KINDS {
        writeln!(kinds, "    /** {} */\n    {} = {number},", kind.meaning(), constant(kind.name())).unwrap();
    }
    kinds.push_str("};\n");
    let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    let versions = ["MAJOR", "MINOR", "PATCH"].iter().zip(version).fold(String::new(), |mut all, (part, number)| {
        writeln!(all, "#define BATCHWISE_VERSION_{part} {number}").unwrap();
        all
    });
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.after_includes = Some(format!("\n{versions}{kinds}"));
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate().unwrap();
    let mut out = Vec::new();
    bindings.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn header_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/batchwise.h");
    let made = header();
    if env::var_os("BATCHWISE_UPDATE_HEADER").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let line = made.lines().zip(stored.lines()).position(|(a, b)| a != b);
    assert!(made == stored, "include/batchwise.h is stale from line {line:?} (see its first line for the command)");
}

#[test]
fn every_kind_has_a_number_of_its_own() {
    let numbers: BTreeSet<i32> = KINDS.iter().map(|(n, _)| *n).collect();
    assert_eq!(numbers.len(), KINDS.len(), "a number is used twice");
    assert!(numbers.first().is_some_and(|n| *n > 0));
    let missing: Vec<_> =
        batchwise::ErrorKind::ALL.iter().filter(|k| batchwise_capi::kind_number(**k) <= 0).map(|k| k.name()).collect();
    assert!(missing.is_empty(), "kinds without a number, to be added at the end of src/kinds.rs: {missing:?}");
    let names: BTreeSet<String> = KINDS.iter().map(|(_, k)| constant(k.name())).collect();
    assert_eq!(names.len(), KINDS.len(), "two kinds have one name in C");
}
