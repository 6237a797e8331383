//! In the steady state no batch costs an allocation: ten times as many batches cost no more than some do.

mod inputs;

use allocation_counter::measure;
use batchwise::{Format, Item, Report, Validator, formats, kafka};

/// A segment of small batches, and the same ten times over with no regard to offsets.
fn segments() -> [Vec<u8>; 2] {
    let some = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    [some.clone(), some.repeat(10)]
}

fn items(segment: &[u8]) -> Vec<Item<'_>> {
    let (mut items, mut rest) = (Vec::new(), segment);
    while !rest.is_empty() {
        let len = kafka::Log.frame_len(rest, 0).expect("a sound segment") as usize;
        items.push(Item { format: Some(formats::ALL[4]), bytes: &rest[..len] });
        rest = &rest[len..];
    }
    items
}

#[test]
fn one_thread_allocates_for_an_input_and_not_for_a_batch() {
    let [some, many] = segments();
    // Findings take memory: the first time the report grows, from then on it uses that again.
    let validator = Validator::new(&kafka::Log).max_findings(10);
    let mut report = Report::default();
    let mut count = |input: &[u8]| {
        validator.validate_into(input, &mut report);
        assert!(report.totals.batches >= 100, "{:?}", report.totals);
        measure(|| validator.validate_into(input, &mut report)).count_total
    };
    let (few, more) = (count(&some), count(&many));
    assert_eq!(few, more, "allocations for one segment, and for ten");
}

#[test]
fn lists_allocate_for_an_input_and_not_for_a_batch() {
    let [some, many] = segments();
    let (some, many) = (items(&some), items(&many));
    let validator = Validator::new(&kafka::Log).max_findings(10);
    let mut report = Report::default();
    let mut count = |items: &[Item<'_>]| {
        validator.validate_list_into(items, &mut report);
        assert!(report.totals.is_valid() && report.totals.batches >= 100, "{:?}", report.totals);
        measure(|| validator.validate_list_into(items, &mut report)).count_total
    };
    assert_eq!(count(&some), count(&many), "allocations for one list, and for ten times as many batches");
}
