//! The switchboard. One test, because the cap is process-wide.

use batchwise_kernels::{OPERATIONS, crc32c, dispatch};
use dispatch::Level;

#[test]
fn caps_choose_rows_and_rows_are_well_formed() {
    assert_eq!(Level::from_name("portable"), Some(Level::PORTABLE));
    assert_eq!(Level::from_name("no such level"), None);
    let names: std::collections::BTreeSet<_> = OPERATIONS.iter().map(|o| o.name()).collect();
    assert_eq!(names.len(), OPERATIONS.len(), "operations have distinct names");
    assert!(names.contains("crc32c::update"), "{names:?}");

    // What `.ci/levels` holds against the rows that the other tests ran.
    for operation in OPERATIONS {
        operation.rows(&mut |row| println!("table: {} {}", operation.name(), row.name));
    }

    for level in Level::all() {
        dispatch::set_cap(level);
        assert_eq!(dispatch::cap(), level);
        for operation in OPERATIONS {
            let mut rows = Vec::new();
            operation.rows(&mut |row| rows.push(row));
            let expected = rows
                .iter()
                .find(|r| r.available && r.suits && r.level <= level)
                .expect("the portable row fits any cap");
            assert_eq!(operation.chosen(), expected.name, "{} under {level}", operation.name());
            let last = rows.last().expect("every operation has a portable row");
            assert!(last.features.is_empty() && last.level == Level::PORTABLE);
            let distinct: std::collections::BTreeSet<_> = rows.iter().map(|r| r.name).collect();
            assert_eq!(distinct.len(), rows.len(), "kernel names of {} are distinct", operation.name());
        }
        assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283, "under {level}");
    }
    dispatch::set_cap(Level::highest());
}
