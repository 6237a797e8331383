//! What an Iggy server answers.

use crate::{Error, ErrorKind};

macro_rules! server_errors {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        /// An error of an Iggy server or client, by its name and code there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ServerError { $(#[doc = $meaning] $name,)* }

        impl ServerError {
            /// Name in the reference.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ServerError::$name => stringify!($name)),* }
            }

            /// Status code on the wire.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $(ServerError::$name => $code),* }
            }
        }
    };
}

server_errors! {
    InvalidCommand = 3, "Everything about a request or a batch that has no name of its own.";
    InvalidNumberEncoding = 82, "A poll reply too short for its head.";
    InvalidMessagesCount = 4009, "A batch of no messages in a log from a peer.";
    CannotAppendMessage = 4010, "A replicated batch that does not come next.";
    InvalidHeaderKey = 4018, "A user header's key that has not the size of its kind.";
    InvalidHeaderValue = 4019, "A user header's value that has not the size of its kind.";
    InvalidMessagePayloadLength = 4025, "A poll reply that a client cannot walk.";
    InvalidMessageChecksum = 4027, "A message whose checksum differs.";
    InvalidMessageTimestampDelta = 4038, "Messages whose times lie too far apart.";
    InvalidBatchChecksum = 4039, "A batch whose checksum differs.";
    InvalidHeaderKind = 4040, "A user header of an unknown kind.";
}

impl ServerError {
    /// What a server that refuses a batch or a request for `error` calls it.
    ///
    /// Admission drops such a request without an answer, so a client never sees most of these.
    ///
    /// ```
    /// use batchwise::iggy::{Batch, Revision, ServerError};
    /// let error = Batch::parse_exact(&[0; 256], 0, Revision::R2).unwrap_err();
    /// assert_eq!(ServerError::of(&error), ServerError::InvalidCommand);
    /// assert_eq!(ServerError::of(&error).code(), 3);
    /// ```
    #[must_use]
    pub fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::MessageChecksumMismatch => ServerError::InvalidMessageChecksum,
            ErrorKind::BatchChecksumMismatch => ServerError::InvalidBatchChecksum,
            ErrorKind::OffsetsNotContiguous => ServerError::CannotAppendMessage,
            ErrorKind::ReplyTruncated => ServerError::InvalidNumberEncoding,
            ErrorKind::TimestampDeltaTooLarge => ServerError::InvalidMessageTimestampDelta,
            ErrorKind::UserHeaderKindUnknown => ServerError::InvalidHeaderKind,
            ErrorKind::UserHeaderKeySize => ServerError::InvalidHeaderKey,
            ErrorKind::UserHeaderValueSize => ServerError::InvalidHeaderValue,
            _ => ServerError::InvalidCommand,
        }
    }
}
