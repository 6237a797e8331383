//! Apache Iggy: message batches.
//!
//! A batch is a header of 256 bytes and messages of 48 bytes and more behind it, each with an XXH3-64 of its own; the batch
//! checksum covers the header's numbers and those checksums. Behaviour is that of the Iggy server: [`decode`] is the routine
//! through which every batch goes there, and the other functions are named for where the server calls it.
//!
//! | where | here |
//! | --- | --- |
//! | admission of a producer's request | [`admit`], then [`stamp`] |
//! | append | [`stamp`] with the frames of the admission |
//! | a replicated batch | [`decode_exact`] |
//! | a poll | [`Batch::check_layout`] or [`decode`], [`poll_slice`] |
//! | a segment from a peer | [`check_log`] |
//! | start-up | [`recover_log`] |
//! | a client | [`encode`], [`PollReply`], [`UserHeaders`] |
//!
//! [`ServerError::of`] has the server's name and code for an error. [`Batches`] joins the format to the validator, where
//! [`Conformance::Strict`](crate::Conformance) asks what the server asks of a segment from a peer, and warns of what nobody
//! checks; [`Conformance::Reference`](crate::Conformance) at [`Origin::Stored`](crate::Origin) asks what a poll asks.

mod batch;
mod build;
mod check;
mod format;
mod frames;
mod header;
mod index;
mod legacy;
mod log;
mod message;
mod reply;
mod request;
mod search;
mod server;
mod stamp;
mod user_headers;

pub use batch::{Batch, Failure, decode, decode_all, decode_exact};
pub use build::{MAX_BATCH_LENGTH, NewMessage, encode};
pub use format::Batches;
pub use frames::FrameList;
pub use header::{BatchHeader, HeaderFields, Producer, Revision};
pub use index::{IndexCheck, IndexEntry, index_entries, write_index_entry};
pub use legacy::{BatchHeader24, Generation, Messages24, Messages56, Messages64, StoredMessage, StoredMessageHeader};
pub use log::{LogError, LogSummary, LogWalk, Recovered, check_log, recover_log};
pub use message::{Message, MessageHeader, Messages};
pub use reply::{PollReply, PolledMessages};
pub use request::{Admitted, Identifier, Partitioning, SendMessages, admit};
pub use server::ServerError;
pub use stamp::{ChecksumMode, PollFrom, PollSlice, Stamp, poll_slice, stamp};
pub use user_headers::{Field, UserHeaders, Value, write_user_headers};
