//! One file per adopter: `check` on real segments, `time` on a batch of 1 MiB.

pub mod commitlog;
pub mod kafka_protocol;
pub mod okaywal;
pub mod rskafka;
