//! Every mutation, and what Kafka itself says about it.

mod vectors;

use batchwise::codec::Decoder;
use batchwise::{Conformance, Depth, ErrorKind, Finding, Options, Origin, Scratch, Severity, Validator, kafka};
use serde_json::Value;
use std::collections::BTreeMap;
use vectors::read::{digest, records};
use vectors::{Mutation, mutations};

fn validate(bytes: &[u8], depth: Depth, origin: Origin) -> Vec<Finding> {
    let mut options = Options::default();
    (options.depth, options.origin, options.conformance) = (depth, origin, Conformance::Reference);
    Validator::new(&kafka::Log).options(options).validate(bytes).findings
}

fn is_torn(finding: &Finding) -> bool {
    matches!(
        finding.defect.error.kind(),
        ErrorKind::TornTail | ErrorKind::TrailingBytes | ErrorKind::BatchLengthPastEnd
    )
}

fn first_error(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|f| f.defect.severity == Severity::Error && !is_torn(f))
}

/// Whether Kafka reads all of it, looking at checksums or at records, in memory or as a file.
fn kafka_accepts(verdict: &Value, depth: Depth) -> bool {
    verdict["err"].is_null()
        && verdict["batches"]
            .as_array()
            .expect("batches")
            .iter()
            .all(|batch| batch["shallow"] == "ok" && (depth < Depth::Records || batch["deep"]["err"].is_null()))
}

/// Verdicts that differ, by what was looked at and the kind of mutation.
#[derive(Default)]
struct Tally(BTreeMap<String, Vec<String>>);

impl Tally {
    fn assert_none(&self, of: usize) {
        for (kind, lines) in &self.0 {
            println!("== {kind}: {}", lines.len());
            lines.iter().take(3).for_each(|line| println!("   {}", &line[..line.len().min(600)]));
        }
        let count: usize = self.0.values().map(Vec::len).sum();
        assert_eq!(count, 0, "verdicts differ, of {of} mutations");
    }

    fn check(&mut self, what: &str, mutation: &Mutation, accepts: bool, findings: &[Finding], kafka: &Value) {
        let error = first_error(findings);
        if accepts != error.is_none() {
            let ours = error.map(|f| f.defect.error.to_string());
            let line = format!("{}: ours {ours:?}, Kafka {kafka}", mutation.describe());
            self.0.entry(format!("{what} {}", mutation.case["kind"])).or_default().push(line);
        }
    }
}

/// A file's reader passes over this many bytes at the end without a look at them.
const FILE_TAIL: u64 = 17;

#[test]
fn verdicts_are_kafkas() {
    let mut tally = Tally::default();
    let mutations = mutations();
    for m in &mutations {
        for (origin, verdict) in [(Origin::Replica, &m.case["mem"]), (Origin::Stored, stored_verdict(&m.case))] {
            for depth in [Depth::Checksums, Depth::Records] {
                let what = format!("{origin:?} {depth:?}");
                let findings = validate(&m.bytes, depth, origin);
                let accepts = kafka_accepts(verdict, depth);
                tally.check(&what, m, accepts, &findings, verdict);
                let torn = accepts && !verdict["left"].is_null();
                if torn != (accepts && findings.iter().any(is_torn)) {
                    tally.0.entry(format!("{what} torn")).or_default().push(m.describe());
                }
            }
        }
        // Kafka set the base offset of a produced batch to 0 before it looked.
        let mut bytes = m.bytes.clone();
        if bytes.get(16) == Some(&2) {
            bytes[..8].fill(0);
        }
        let accepts = m.case["produce"]["err"].is_null() && has_sound_checksums(&m.case["mem"]);
        let findings = validate(&bytes, Depth::Records, Origin::Client);
        tally.check("Client", m, accepts, &findings, &m.case["produce"]);
        let findings = produced(&bytes, 2);
        tally.check("Produce", m, accepts, &findings, &m.case["produce"]);
        let same = &m.case["produceSameMagic"];
        if !same.is_null() {
            let accepts = same["err"].is_null() && has_sound_checksums(&m.case["mem"]);
            let magic = m.case["base"].as_str().and_then(|base| base[1..2].parse().ok()).unwrap_or(0);
            tally.check("Produce as sent", m, accepts, &produced(&bytes, magic), same);
        }
    }
    tally.assert_none(mutations.len());
}

/// What a broker finds in a request, for a topic of this message format.
fn produced(bytes: &[u8], message_format: i8) -> Vec<Finding> {
    let (mut options, mut produce, mut found) = (Options::default(), kafka::Produce::default(), Vec::new());
    options.conformance = Conformance::Reference;
    produce.message_format = message_format;
    produce.check(bytes, &options, &mut Scratch::default(), &mut |defect| {
        found.push(Finding::outside(defect));
    });
    found
}

/// How Kafka reads the input as a file. Where that differs from memory only because a file's reader takes an unknown
/// magic for a known one, memory counts.
fn stored_verdict(case: &Value) -> &Value {
    let (mem, file) = (&case["mem"], &case["file"]);
    let is_tail = mem["left"].as_u64().is_some_and(|left| left <= FILE_TAIL);
    if is_tail && !file.is_null() { file } else { mem }
}

/// The broker looks at the checksums of all batches before it looks at anything else.
fn has_sound_checksums(verdict: &Value) -> bool {
    verdict["batches"].as_array().expect("batches").iter().all(|batch| batch["shallow"] == "ok")
}

/// What can be read has the content that Kafka read.
#[test]
fn contents_are_kafkas() {
    let mut decoder = Decoder::default();
    let mut read = 0;
    for m in mutations() {
        for batch in m.case["mem"]["batches"].as_array().expect("batches") {
            if batch["shallow"] != "ok" || !batch["deep"]["err"].is_null() {
                continue;
            }
            let at = |field: &str| batch[field].as_u64().expect("a number") as usize;
            let bytes = &m.bytes[at("pos")..at("pos") + at("size")];
            let records = records(bytes, 0, &mut decoder).unwrap_or_else(|e| panic!("{}: {e}", m.describe()));
            assert_eq!(batch["deep"]["n"], records.len(), "{}", m.describe());
            // Java puts another number of replacement characters in the place of bytes that are no UTF-8.
            let is_utf8 = records.iter().flat_map(|r| &r.headers).all(|(key, _)| std::str::from_utf8(key).is_ok());
            if let Some(sha) = batch["deep"]["sha"].as_str().filter(|_| is_utf8) {
                assert_eq!(digest(&records)[..16], *sha, "{}", m.describe());
            }
            read += 1;
        }
    }
    assert!(read > 3000, "{read} batches");
}
