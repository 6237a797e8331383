//! The tables of README.md, held against the code. `UPDATE_DOCS=1 cargo test --test docs` rewrites them.

use batchwise::formats;
use batchwise::kernels::OPERATIONS;
use std::fmt::Write;
use std::path::Path;

/// The lines between `<!-- name -->` and `<!-- /name -->`.
fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("<!-- {name} -->\n")).unwrap_or_else(|| panic!("README.md has {name}"));
    rest.split_once(&format!("<!-- /{name} -->")).unwrap_or_else(|| panic!("README.md ends {name}")).0
}

fn check(name: &str, want: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).expect("README.md");
    let have = section(&text, name);
    if have != want && std::env::var_os("UPDATE_DOCS").is_some() {
        let start = have.as_ptr().addr() - text.as_ptr().addr();
        let (before, after) = (&text[..start], &text[start + have.len()..]);
        std::fs::write(&path, format!("{before}{want}{after}")).expect("README.md is writable");
        return;
    }
    assert_eq!(have, want, "the table {name} of README.md is stale; UPDATE_DOCS=1 cargo test --test docs mends it");
}

#[test]
fn kernels_table_is_current() {
    // Rows of other architectures are not compiled in, so each architecture keeps a table of its own.
    let arch = std::env::consts::ARCH;
    if !["x86_64", "aarch64"].contains(&arch) {
        return;
    }
    let mut want = String::from("| operation | kernels, best first |\n|---|---|\n");
    for operation in OPERATIONS {
        let mut names = Vec::new();
        operation.rows(&mut |row| {
            names.push(match row.features {
                [] => row.name.to_owned(),
                features => format!("{} ({})", row.name, features.join(", ")),
            });
        });
        writeln!(want, "| `{}` | {} |", operation.name(), names.join("; ")).expect("a string");
    }
    check(&format!("kernels {arch}"), &want);
}

#[test]
fn formats_table_names_every_format() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md");
    let table = section(&readme, "formats");
    for format in formats::ALL {
        assert!(table.contains(&format!("| `{}` |", format.name())), "README.md names {}", format.name());
    }
    assert_eq!(table.lines().filter(|l| l.starts_with("| `")).count(), formats::ALL.len());
}

#[test]
fn readme_begins_with_the_name_and_each_table_stands_once() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md");
    assert!(readme.starts_with("# Batchwise\n\nBatchwise verifies"), "{:?}", readme.lines().next());
    for name in ["formats", "kernels x86_64", "kernels aarch64", "performance"] {
        assert_eq!(readme.matches(&format!("<!-- {name} -->")).count(), 1, "{name}");
        assert_eq!(readme.matches(&format!("<!-- /{name} -->")).count(), 1, "{name}");
    }
    assert_eq!(readme.matches("| operation | kernels, best first |").count(), 2);
}
