//! The files beside a log, each kind, alone and compared with a log.
#![no_main]

use batchwise::segment::{Job, SideFile, SideKind, verify_all};
use batchwise::{Format, Report, Validator, iggy, kafka};
use libfuzzer_sys::fuzz_target;
use std::io;
use std::ops::ControlFlow;

/// A log that owns its bytes.
struct Owned(Box<[u8]>);

impl batchwise::segment::ReadAt for Owned {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

fn sound(report: &Report, len: usize) {
    for finding in &report.findings {
        assert!(finding.defect.error.offset() <= len as u64, "{}", finding.defect.error);
    }
}

fuzz_target!(|input: (u8, u16, u32, &[u8])| {
    let (kind, cut, base, data) = input;
    let kind = SideKind::ALL[usize::from(kind) % SideKind::ALL.len()];
    let (bytes, log) = data.split_at(usize::from(cut).min(data.len()));
    let side = SideFile { kind, base_offset: base.into(), bytes: bytes.to_vec() };
    sound(&side.check(), bytes.len());
    let entries = side.offset_entries().count() + side.time_entries().count();
    assert!(entries + side.aborted_transactions().count() + side.producers().count() <= bytes.len());
    let format: &'static dyn Format = if kind == SideKind::IggyIndex { &iggy::Batches::R2 } else { &kafka::Log };
    let open = |_| -> io::Result<_> {
        let validator = Validator::new(format).base_offset(Some(base.into()));
        Ok(Job { source: Owned(log.into()), validator, sides: vec![side.clone()] })
    };
    verify_all(1, 1, &open, &mut |_, verified| {
        let verified = verified.expect("no I/O");
        assert_eq!(verified.log.totals.bytes, log.len() as u64);
        sound(&verified.sides[0], bytes.len());
        ControlFlow::Continue(())
    });
});
