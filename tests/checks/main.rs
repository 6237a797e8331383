//! Every check, by the one list of rules: an input that fails it, with the field, the byte and how bad it is at each place,
//! and its neighbour, the nearest input that does not.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod codecs;
mod control;
mod framing;
mod header;
mod legacy;
mod model;
mod mutate;
mod order;
mod produce;
mod producers;
mod records;
mod sides;
mod support;

use batchwise::kafka::{self, rules};
use batchwise::{Conformance, Defect, ErrorKind, Options, Origin, Severity, Within};
use std::collections::BTreeSet;
use support::validate;

/// How an input is checked.
type Run = Box<dyn Fn(&Options) -> Vec<Defect>>;

/// A failed check and its neighbour.
struct Case {
    /// As [`rules`] numbers it; the kind's name where there is no number.
    id: &'static str,
    kind: ErrorKind,
    what: &'static str,
    field: &'static str,
    offset: u64,
    within: Within,
    /// Severities for a client's input, a stored one, a replica's, by strict rules and by those of the reference: E error,
    /// W warning, I information, - not reported.
    verdicts: &'static str,
    fires: Run,
    neighbour: Run,
}

fn case(id: &'static str, kind: ErrorKind, what: &'static str) -> Case {
    let none = || Box::new(|_: &Options| -> Vec<Defect> { unreachable!("a case without an input") }) as Run;
    let (field, offset, within) = ("", 0, Within::Input);
    Case { id, kind, what, field, offset, within, verdicts: "", fires: none(), neighbour: none() }
}

impl Case {
    /// What is told, in bytes of the input, and how bad that is.
    fn at(self, field: &'static str, offset: u64, verdicts: &'static str) -> Self {
        Case { field, offset, verdicts, ..self }
    }

    /// The offset counts decompressed bytes.
    fn decompressed(self) -> Self {
        Case { within: Within::Decompressed, ..self }
    }

    /// Two logs.
    fn logs(self, fires: Vec<u8>, neighbour: Vec<u8>) -> Self {
        self.runs(move |o| validate(&fires, o), move |o| validate(&neighbour, o))
    }

    fn runs(
        self,
        fires: impl Fn(&Options) -> Vec<Defect> + 'static,
        neighbour: impl Fn(&Options) -> Vec<Defect> + 'static,
    ) -> Self {
        Case { fires: Box::new(fires), neighbour: Box::new(neighbour), ..self }
    }

    /// What differs from the expectation for the place number `place` of the verdicts.
    fn differs(&self, place: usize) -> Option<String> {
        let mut options = Options::default();
        options.origin = [Origin::Client, Origin::Stored, Origin::Replica][place % 3];
        options.conformance = [Conformance::Strict, Conformance::Reference][place / 3];
        options.max_decompressed = 1 << 20;
        let found = |run: &Run| run(&options).into_iter().find(|d| d.error.kind() == self.kind);
        let letters: Vec<char> = self.verdicts.chars().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(letters.len(), 6, "{}: {}", self.id, self.what);
        let wanted = (letters[place] != '-').then(|| (letters[place], self.field, self.offset, self.within));
        let got = found(&self.fires).map(|Defect { error, severity }| {
            let letter = match severity {
                Severity::Error => 'E',
                Severity::Warning => 'W',
                Severity::Info => 'I',
            };
            (letter, error.field(), error.offset(), error.counted_in())
        });
        let tag =
            || format!("{} {:?} ({}), {:?}, {:?}", self.id, self.kind, self.what, options.origin, options.conformance);
        if got != wanted {
            let all: Vec<_> = (self.fires)(&options).iter().map(|d| d.error.to_string()).collect();
            return Some(format!("{}: wanted {wanted:?}, got {got:?} of {all:?}", tag()));
        }
        found(&self.neighbour).map(|d| format!("{}: the neighbour fires it: {}", tag(), d.error))
    }
}

fn cases() -> Vec<Case> {
    let mut all = framing::cases();
    all.extend(header::cases());
    all.extend(records::cases());
    all.extend(control::cases());
    all.extend(legacy::cases());
    all.extend(order::cases());
    all.extend(produce::cases());
    all.extend(producers::cases());
    all.extend(codecs::cases());
    all.extend(sides::cases());
    all
}

/// Checks that no input of this test can fail, and why.
const EXEMPT: &[(&str, &str)] = &[("CodecUnsupported", "needs a build without the codec; this test wants all of them")];

#[test]
fn every_case_fires_and_its_neighbour_does_not() {
    let cases = cases();
    let wrong: Vec<_> = cases.iter().flat_map(|c| (0..6).filter_map(|place| c.differs(place))).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), 6 * cases.len(), wrong.join("\n"));
}

#[test]
fn sound_inputs_have_no_findings() {
    let sound = [
        support::batch(),
        support::message(0, 0),
        support::message(1, 0),
        support::wrapper(0, 2),
        support::wrapper(1, 2),
    ];
    for log in sound {
        for origin in [Origin::Client, Origin::Stored, Origin::Replica] {
            let mut options = Options::default();
            options.origin = origin;
            assert_eq!(validate(&log, &options), []);
        }
    }
}

/// The numbers and kinds of the list of rules.
fn listed() -> BTreeSet<(&'static str, &'static str)> {
    let name = |r: &kafka::Rule| if r.cases().count() == 0 { vec![r.kind().name()] } else { r.cases().collect() };
    rules().flat_map(|r| name(r).into_iter().map(|id| (id, r.kind().name()))).collect()
}

#[test]
fn every_rule_has_a_case() {
    let covered: BTreeSet<_> = cases().iter().map(|c| (c.id, c.kind.name())).collect();
    let listed = listed();
    let missing: Vec<_> =
        listed.difference(&covered).filter(|(id, _)| !EXEMPT.iter().any(|(exempt, _)| exempt == id)).collect();
    assert!(missing.is_empty(), "rules without a case: {missing:?}");
    let unknown: Vec<_> = covered.difference(&listed).collect();
    assert!(unknown.is_empty(), "cases without a rule: {unknown:?}");
}

/// Numbers of the checks that have no name of their own: they tell how Kafka writes messages anew, and fail for no input.
const WITHOUT_A_NAME: &[u32] = &[86, 88];

#[test]
fn every_number_is_listed() {
    let listed: BTreeSet<_> = listed().into_iter().map(|(id, _)| id).collect();
    let missing: Vec<_> = (1..=103)
        .filter(|n| !WITHOUT_A_NAME.contains(n))
        .map(|n| format!("K{n:02}"))
        .filter(|id| !listed.contains(id.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Strict rules let nothing pass that Kafka refuses; but a zero-filled tail is what a broker's preallocation leaves.
#[test]
fn strict_is_never_laxer_than_the_reference() {
    for rule in rules() {
        for origin in [Origin::Client, Origin::Stored, Origin::Replica] {
            let mut options = Options::default();
            options.origin = origin;
            let strict = rule.severity(&options);
            options.conformance = Conformance::Reference;
            let reference = rule.severity(&options);
            let is_preallocated = (rule.kind(), origin) == (ErrorKind::ZeroTail, Origin::Stored);
            assert!(strict >= reference || is_preallocated, "{:?} {origin:?}", rule.kind());
        }
    }
}
