//! Every mutation, and what Kafka itself says about it.

mod vectors;

use batchwise::{Conformance, Depth, ErrorKind, Finding, Options, Origin, Severity, Validator, kafka};
use serde_json::Value;
use std::collections::BTreeMap;
use vectors::{Mutation, mutations};

fn validate(bytes: &[u8], depth: Depth, origin: Origin) -> Vec<Finding> {
    let mut options = Options::default();
    (options.depth, options.origin, options.conformance) = (depth, origin, Conformance::Reference);
    Validator::new(&kafka::Log).options(options).validate(bytes).findings
}

fn is_torn(finding: &Finding) -> bool {
    matches!(finding.defect.error.kind(), ErrorKind::TornTail | ErrorKind::TrailingBytes)
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

#[derive(Default)]
struct Tally(BTreeMap<String, Vec<String>>);

impl Tally {
    fn check(&mut self, what: &str, mutation: &Mutation, accepts: bool, findings: &[Finding], kafka: &Value) {
        let error = first_error(findings);
        if accepts != error.is_none() {
            let ours = error.map(|f| f.defect.error.to_string());
            let line = format!("{}: ours {ours:?}, Kafka {kafka}", mutation.describe());
            self.0.entry(format!("{what} {}", mutation.case["kind"])).or_default().push(line);
        }
    }
}

#[test]
fn verdicts_are_kafkas() {
    let mut tally = Tally::default();
    let mutations = mutations();
    for m in &mutations {
        let verdict = &m.case["mem"];
        for (what, depth) in [("shallow", Depth::Checksums), ("deep", Depth::Records)] {
            let findings = validate(&m.bytes, depth, Origin::Stored);
            tally.check(what, m, kafka_accepts(verdict, depth), &findings, verdict);
            let torn = verdict["err"].is_null() && !verdict["left"].is_null();
            if torn && !findings.iter().any(is_torn) {
                tally.0.entry(format!("{what} torn")).or_default().push(m.describe());
            }
        }
        // The base offset of a produced batch was set to 0 before Kafka looked.
        let mut bytes = m.bytes.clone();
        let is_v2 = bytes.get(16) == Some(&2);
        if is_v2 {
            bytes[..8].fill(0);
        }
        let shallow = kafka_accepts(verdict, Depth::Checksums);
        let findings = validate(&bytes, Depth::Records, Origin::Client);
        tally.check("produce", m, shallow && m.case["produce"]["err"].is_null(), &findings, &m.case["produce"]);
    }
    let mut count = 0;
    for (kind, lines) in &tally.0 {
        println!("== {kind}: {}", lines.len());
        for line in lines.iter().take(3) {
            println!("   {}", &line[..line.len().min(600)]);
        }
        count += lines.len();
    }
    assert_eq!(count, 0, "of {} mutations", mutations.len());
}
