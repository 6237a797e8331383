//! `batchwise cpu`: which kernels there are, which run here, and what the cap leaves.

mod common;

use batchwise::kernels::OPERATIONS;
use common::{Ran, command, ran};

/// With a cap, or without.
fn cpu(cap: Option<&str>, args: &[&str]) -> Ran {
    let mut command = command();
    command.arg("cpu").args(args).envs(cap.map(|cap| ("BATCHWISE_KERNEL", cap)));
    ran(command.output().expect("it runs"))
}

#[test]
fn every_operation_is_told_with_its_kernels() {
    // As this process has it, which says what is chosen.
    let cap = std::env::var("BATCHWISE_KERNEL").ok();
    let told = cpu(cap.as_deref(), &["--json"]);
    let (lines, table) = (told.json(), cpu(cap.as_deref(), &[]));
    assert_eq!((told.code, table.code, lines.len()), (0, 0, OPERATIONS.len()), "{told:?} {table:?}");
    for (line, operation) in lines.iter().zip(OPERATIONS) {
        assert_eq!(line["operation"], operation.name());
        assert_eq!(line["kernel"], operation.chosen());
        let available = line["available"].as_array().expect("names");
        let has = |name: &str| available.iter().any(|n| n == name);
        assert!(has("portable") && has(operation.chosen()), "{line}");
        let row = table.out.lines().find(|l| l.split_whitespace().next() == Some(operation.name()));
        let kernel = row.and_then(|row| row.split_whitespace().nth(1));
        assert_eq!(kernel, Some(operation.chosen()), "{}", table.out);
    }
}

#[test]
fn the_cap_is_kept_and_an_unknown_one_is_told() {
    for line in cpu(Some("portable"), &["--json"]).json() {
        assert_eq!(line["kernel"], "portable", "{line}");
    }
    let table = cpu(Some("portable"), &[]).out;
    let cap = table.lines().find_map(|l| l.strip_prefix("cap"));
    assert_eq!(cap.map(str::trim), Some("portable"), "{table}");

    assert_eq!(cpu(Some(""), &[]).code, 0, "an empty cap is none");

    let unknown = cpu(Some("avx1024"), &["--json"]);
    assert_eq!((unknown.code, unknown.json().len()), (2, OPERATIONS.len()), "it is ignored: {unknown:?}");
    assert!(unknown.err.contains("avx1024") && unknown.err.contains("portable"), "{}", unknown.err);
}
