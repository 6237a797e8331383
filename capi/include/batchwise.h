#ifndef BATCHWISE_H
#define BATCHWISE_H

/* Made by cbindgen; to renew it: BATCHWISE_UPDATE_HEADER=1 cargo test -p batchwise-capi --test header */

#include <stddef.h>
#include <stdint.h>

#define BATCHWISE_VERSION_MAJOR 0
#define BATCHWISE_VERSION_MINOR 1
#define BATCHWISE_VERSION_PATCH 0

/**
 * What is wrong: `kind` of a `batchwise_error`. Numbers never change; there may be more in later versions.
 */
enum batchwise_kind {
    /** the last entry is incomplete */
    BATCHWISE_TORN_TAIL = 1,
    /** bytes are left that are too few for an entry */
    BATCHWISE_TRAILING_BYTES = 2,
    /** the input ends in zeros */
    BATCHWISE_ZERO_TAIL = 3,
    /** the length is below that of any entry */
    BATCHWISE_BATCH_LENGTH_TOO_SMALL = 4,
    /** the length is below that of the header */
    BATCHWISE_BATCH_LENGTH_BELOW_HEADER = 5,
    /** the length is above what an entry can have */
    BATCHWISE_BATCH_LENGTH_OVERFLOW = 6,
    /** the batch is larger than the broker takes */
    BATCHWISE_BATCH_TOO_LARGE = 7,
    /** the batches are larger than a segment */
    BATCHWISE_BATCH_EXCEEDS_SEGMENT = 8,
    /** the magic is none of the known ones */
    BATCHWISE_MAGIC_UNKNOWN = 9,
    /** the magic is not allowed here */
    BATCHWISE_MAGIC_NOT_ALLOWED = 10,
    /** the magic differs from that of the first entry */
    BATCHWISE_MAGIC_MIXED = 11,
    /** there is no whole batch */
    BATCHWISE_NO_BATCH = 12,
    /** there is more than one batch */
    BATCHWISE_BATCH_COUNT_NOT_ONE = 13,
    /** bytes that belong to no entry */
    BATCHWISE_UNREADABLE_BYTES = 14,
    /** the stored checksum is not that of the bytes */
    BATCHWISE_CRC_MISMATCH = 15,
    /** the stored checksum of a message is not that of its bytes */
    BATCHWISE_INNER_CRC_MISMATCH = 16,
    /** the compression codec is none of the known ones */
    BATCHWISE_CODEC_UNKNOWN = 17,
    /** this build was made without the compression codec */
    BATCHWISE_CODEC_UNSUPPORTED = 18,
    /** the codec has no such compression level */
    BATCHWISE_CODEC_LEVEL_INVALID = 19,
    /** the compression codec is not allowed here */
    BATCHWISE_CODEC_NOT_ALLOWED = 20,
    /** attribute bits are set that have no meaning */
    BATCHWISE_ATTRIBUTES_RESERVED_BITS = 21,
    /** a producer set the timestamp type that is the broker's to set */
    BATCHWISE_TIMESTAMP_TYPE_FROM_CLIENT = 22,
    /** a producer sent a control batch */
    BATCHWISE_CONTROL_BATCH_FROM_CLIENT = 23,
    /** a producer set a delete horizon */
    BATCHWISE_DELETE_HORIZON_FROM_CLIENT = 24,
    /** a delete horizon cannot be set here */
    BATCHWISE_DELETE_HORIZON_NOT_ALLOWED = 25,
    /** a transactional batch has no producer id */
    BATCHWISE_TRANSACTIONAL_WITHOUT_PRODUCER_ID = 26,
    /** the format has no producer ids and no transactions */
    BATCHWISE_FORMAT_UNSUPPORTED = 27,
    /** a batch of no records names a codec */
    BATCHWISE_EMPTY_BATCH_COMPRESSED = 28,
    /** a producer sent a base offset other than 0 */
    BATCHWISE_BASE_OFFSET_NOT_ZERO = 29,
    /** the offsets go past the greatest or below 0 */
    BATCHWISE_OFFSET_OUT_OF_RANGE = 30,
    /** the last offset delta is negative */
    BATCHWISE_LAST_OFFSET_DELTA_NEGATIVE = 31,
    /** the number of records is negative */
    BATCHWISE_RECORDS_COUNT_NEGATIVE = 32,
    /** the batch has no records */
    BATCHWISE_EMPTY_BATCH = 33,
    /** a batch of no records has bytes behind its header */
    BATCHWISE_EMPTY_BATCH_WITH_PAYLOAD = 34,
    /** the number of records is not that of the offsets */
    BATCHWISE_RECORDS_COUNT_MISMATCH = 35,
    /** there are more records than offsets */
    BATCHWISE_RECORDS_COUNT_EXCEEDS_RANGE = 36,
    /** the records end before all of them were read */
    BATCHWISE_RECORDS_TRUNCATED = 37,
    /** bytes are left behind the last record */
    BATCHWISE_TRAILING_RECORD_BYTES = 38,
    /** the offset deltas are not 0, 1, 2 and so on */
    BATCHWISE_OFFSET_DELTA_NOT_SEQUENTIAL = 39,
    /** an offset delta is not above the one before */
    BATCHWISE_OFFSET_DELTA_NOT_INCREASING = 40,
    /** an offset delta is negative or above the last */
    BATCHWISE_OFFSET_DELTA_OUT_OF_RANGE = 41,
    /** the record's fields do not fill its length */
    BATCHWISE_RECORD_LENGTH_MISMATCH = 42,
    /** the record's length is negative */
    BATCHWISE_RECORD_LENGTH_NEGATIVE = 43,
    /** the record's length goes past the end */
    BATCHWISE_RECORD_LENGTH_TOO_LARGE = 44,
    /** a varint is longer than its width allows */
    BATCHWISE_VARINT_TOO_LONG = 45,
    /** a varint is cut off */
    BATCHWISE_VARINT_TRUNCATED = 46,
    /** a varint is longer than its value needs */
    BATCHWISE_VARINT_NOT_MINIMAL = 47,
    /** a varint has bits beyond its width */
    BATCHWISE_VARINT_OVERFLOW_BITS = 48,
    /** a length is below -1, which also reads as null */
    BATCHWISE_LENGTH_BELOW_MINUS_ONE = 49,
    /** a key goes past the end */
    BATCHWISE_KEY_LENGTH_TOO_LARGE = 50,
    /** a value goes past the end */
    BATCHWISE_VALUE_LENGTH_TOO_LARGE = 51,
    /** a record header goes past the end */
    BATCHWISE_HEADER_LENGTH_TOO_LARGE = 52,
    /** the number of record headers is negative */
    BATCHWISE_HEADERS_COUNT_NEGATIVE = 53,
    /** more record headers than bytes */
    BATCHWISE_HEADERS_COUNT_TOO_LARGE = 54,
    /** a record header has no key */
    BATCHWISE_HEADER_KEY_NULL = 55,
    /** the key of a record header is not UTF-8 */
    BATCHWISE_HEADER_KEY_NOT_UTF8 = 56,
    /** record attributes are set, which have no meaning */
    BATCHWISE_RECORD_ATTRIBUTES_NON_ZERO = 57,
    /** a record of a compacted topic has no key */
    BATCHWISE_KEY_MISSING_ON_COMPACTED_TOPIC = 58,
    /** a producer id without a sequence number */
    BATCHWISE_BASE_SEQUENCE_MISSING = 59,
    /** the producer id is below -1 */
    BATCHWISE_PRODUCER_ID_INVALID = 60,
    /** a producer id with a negative epoch */
    BATCHWISE_PRODUCER_EPOCH_INVALID = 61,
    /** an epoch or a sequence number without a producer id */
    BATCHWISE_PRODUCER_FIELDS_INCONSISTENT = 62,
    /** the batch was appended before */
    BATCHWISE_DUPLICATE_SEQUENCE = 63,
    /** the sequence numbers do not follow those before */
    BATCHWISE_SEQUENCE_OUT_OF_ORDER = 64,
    /** the producer's epoch is below one seen before */
    BATCHWISE_PRODUCER_FENCED = 65,
    /** the batch does not fit the state of the producer's transaction */
    BATCHWISE_TRANSACTION_STATE_INVALID = 66,
    /** the coordinator's epoch is below one seen before */
    BATCHWISE_COORDINATOR_FENCED = 67,
    /** a timestamp is outside what the topic allows */
    BATCHWISE_TIMESTAMP_OUT_OF_RANGE = 68,
    /** a timestamp is below -1 */
    BATCHWISE_TIMESTAMP_NEGATIVE = 69,
    /** the greatest timestamp is not that of the records */
    BATCHWISE_MAX_TIMESTAMP_MISMATCH = 70,
    /** a timestamp is beyond 64 bits */
    BATCHWISE_TIMESTAMP_OVERFLOW = 71,
    /** the first timestamp is not the base timestamp */
    BATCHWISE_FIRST_DELTA_NOT_ZERO = 72,
    /** reserved bytes of the header are not zero */
    BATCHWISE_HEADER_RESERVED_NONZERO = 73,
    /** the producer's fields break their rules */
    BATCHWISE_PRODUCER_MALFORMED = 74,
    /** the messages do not fill the batch as it says */
    BATCHWISE_FRAMES_NOT_FILLING = 75,
    /** the stored checksum is not that of the message */
    BATCHWISE_MESSAGE_CHECKSUM_MISMATCH = 76,
    /** the stored checksum is not that of the batch */
    BATCHWISE_BATCH_CHECKSUM_MISMATCH = 77,
    /** the batch holds no message */
    BATCHWISE_BATCH_EMPTY = 78,
    /** the batch is not as long as what holds it */
    BATCHWISE_BATCH_LENGTH_MISMATCH = 79,
    /** the offsets pass the end of the offset space */
    BATCHWISE_OFFSET_OVERFLOW = 80,
    /** the first offset is not the one that comes next */
    BATCHWISE_OFFSETS_NOT_CONTIGUOUS = 81,
    /** the first offset is not the one in the name */
    BATCHWISE_BASE_OFFSET_MISMATCH = 82,
    /** there is no batch */
    BATCHWISE_LOG_EMPTY = 83,
    /** the batch is of another partition */
    BATCHWISE_PARTITION_MISMATCH = 84,
    /** the offset delta is not the message's place in the batch */
    BATCHWISE_OFFSET_DELTA_UNEXPECTED = 85,
    /** the batch's time is not that of its earliest message */
    BATCHWISE_ORIGIN_TIMESTAMP_UNEXPECTED = 86,
    /** a field that the server sets is not zero */
    BATCHWISE_SERVER_FIELD_SET = 87,
    /** the message is larger than clients make them */
    BATCHWISE_MESSAGE_OVERSIZED = 88,
    /** written by an older generation of the server */
    BATCHWISE_GENERATION_OLD = 89,
    /** the kind of a user header's key or value is zero */
    BATCHWISE_USER_HEADER_KIND_ZERO = 90,
    /** the length of a user header's key or value is not 1 to 255 */
    BATCHWISE_USER_HEADER_LENGTH = 91,
    /** the user headers are cut off */
    BATCHWISE_USER_HEADER_TRUNCATED = 92,
    /** a user header's key has no value */
    BATCHWISE_USER_HEADER_UNPAIRED = 93,
    /** the kind of a user header's key or value is unknown */
    BATCHWISE_USER_HEADER_KIND_UNKNOWN = 94,
    /** a user header's key has not the size of its kind */
    BATCHWISE_USER_HEADER_KEY_SIZE = 95,
    /** a user header's value has not the size of its kind */
    BATCHWISE_USER_HEADER_VALUE_SIZE = 96,
    /** the request is cut off */
    BATCHWISE_REQUEST_TRUNCATED = 97,
    /** the metadata do not parse or do not fill their length */
    BATCHWISE_METADATA_MALFORMED = 98,
    /** the request and its batch differ in the number of messages */
    BATCHWISE_MESSAGES_COUNT_MISMATCH = 99,
    /** the reply is cut off */
    BATCHWISE_REPLY_TRUNCATED = 100,
    /** the times of the messages lie too far apart */
    BATCHWISE_TIMESTAMP_DELTA_TOO_LARGE = 101,
    /** the offsets do not come after those of the entry before */
    BATCHWISE_OFFSET_OVERLAP = 102,
    /** offsets are missing between two entries */
    BATCHWISE_OFFSET_GAP = 103,
    /** an offset is too far from the segment's first */
    BATCHWISE_RELATIVE_OFFSET_OVERFLOW = 104,
    /** an offset is below the segment's first */
    BATCHWISE_OFFSET_BELOW_SEGMENT_BASE = 105,
    /** the leader epoch is below that of the entry before */
    BATCHWISE_LEADER_EPOCH_REGRESSION = 106,
    /** the segment is empty */
    BATCHWISE_EMPTY_SEGMENT = 107,
    /** entries follow the damaged bytes */
    BATCHWISE_RESUMABLE_AFTER_CORRUPTION = 108,
    /** the segment is larger than can be opened */
    BATCHWISE_SEGMENT_TOO_LARGE = 109,
    /** the key of a control record is missing, short or of a negative version */
    BATCHWISE_CONTROL_KEY_INVALID = 110,
    /** the type of a control record is none of the known ones */
    BATCHWISE_CONTROL_TYPE_UNKNOWN = 111,
    /** the value of a control record does not have the fields of its type */
    BATCHWISE_CONTROL_VALUE_INVALID = 112,
    /** a transaction marker is not as the coordinator writes it */
    BATCHWISE_END_TXN_MARKER_INVALID = 113,
    /** a transaction is not ended */
    BATCHWISE_OPEN_TRANSACTION = 114,
    /** the message is shorter than its header */
    BATCHWISE_ENTRY_SIZE_TOO_SMALL = 115,
    /** bytes are left in the message behind its value */
    BATCHWISE_ENTRY_TRAILING_BYTES = 116,
    /** a compressed message has no value */
    BATCHWISE_WRAPPER_VALUE_NULL = 117,
    /** a compressed message holds no messages */
    BATCHWISE_INNER_SET_EMPTY = 118,
    /** a message within a compressed message is compressed itself */
    BATCHWISE_INNER_COMPRESSED = 119,
    /** the last message within a compressed message is cut off */
    BATCHWISE_INNER_ENTRY_TRUNCATED = 120,
    /** the magic of a message differs from that of the message around it */
    BATCHWISE_INNER_MAGIC_MISMATCH = 121,
    /** the offset of a compressed message is below that of its last message */
    BATCHWISE_WRAPPER_OFFSET_INVALID = 122,
    /** a compressed message has a key */
    BATCHWISE_WRAPPER_KEY_NOT_NULL = 123,
    /** the header of the compressed stream is invalid */
    BATCHWISE_CODEC_HEADER_INVALID = 124,
    /** the compressed stream is corrupt or cut off */
    BATCHWISE_DECOMPRESS_FAILED = 125,
    /** a checksum or size within the compressed stream is not that of its content */
    BATCHWISE_CODEC_CHECKSUM_MISMATCH = 126,
    /** bytes are left behind the compressed stream */
    BATCHWISE_CODEC_TRAILING_BYTES = 127,
    /** the codec's library could not compress */
    BATCHWISE_COMPRESS_FAILED = 128,
    /** the records decompress to more than the limit */
    BATCHWISE_DECOMPRESSED_TOO_LARGE = 129,
    /** the size is not a multiple of that of an entry */
    BATCHWISE_INDEX_SIZE_INVALID = 130,
    /** the entries do not increase */
    BATCHWISE_INDEX_NOT_MONOTONIC = 131,
    /** the position is not the start of a batch */
    BATCHWISE_INDEX_POSITION_INVALID = 132,
    /** the offset is not that of the batch at the position */
    BATCHWISE_INDEX_OFFSET_MISMATCH = 133,
    /** timestamps or offsets decrease */
    BATCHWISE_TIME_INDEX_NOT_MONOTONIC = 134,
    /** the timestamp or offset is not that of the log */
    BATCHWISE_TIME_INDEX_MISMATCH = 135,
    /** the entry of an aborted transaction is invalid */
    BATCHWISE_TXN_INDEX_INVALID = 136,
    /** the snapshot of producers is corrupt */
    BATCHWISE_PRODUCER_SNAPSHOT_CORRUPT = 137,
    /** there is no log to the index */
    BATCHWISE_ORPHAN_INDEX = 138,
    /** the length goes past the end of the input, and more entries follow */
    BATCHWISE_BATCH_LENGTH_PAST_END = 139,
    /** a control record outside a control batch */
    BATCHWISE_CONTROL_RECORD_MISPLACED = 140,
};


/**
 * `fields`: write `base_offset`.
 */
#define BATCHWISE_KAFKA_BASE_OFFSET 1

/**
 * `fields`: write `partition_leader_epoch`.
 */
#define BATCHWISE_KAFKA_LEADER_EPOCH 2

/**
 * `fields`: for a topic of LogAppendTime, write that type and `max_timestamp`.
 */
#define BATCHWISE_KAFKA_LOG_APPEND_TIME 4

/**
 * `fields`: for a topic of CreateTime, write that type and `max_timestamp`.
 */
#define BATCHWISE_KAFKA_CREATE_TIME 8

/**
 * `fields`: write `producer_id`, `producer_epoch` and `base_sequence`.
 */
#define BATCHWISE_KAFKA_PRODUCER 16

/**
 * `fields`: write `delete_horizon`.
 */
#define BATCHWISE_KAFKA_DELETE_HORIZON 32

/**
 * `fields`: write `partition_id`.
 */
#define BATCHWISE_IGGY_PARTITION_ID 1

/**
 * `fields`: write `base_offset`.
 */
#define BATCHWISE_IGGY_BASE_OFFSET 2

/**
 * `fields`: write `base_timestamp`.
 */
#define BATCHWISE_IGGY_BASE_TIMESTAMP 4

/**
 * `fields`: write 0 for the batch checksum: the batch is stamped again before anybody reads it.
 */
#define BATCHWISE_IGGY_SKIP_CHECKSUM 8

/**
 * All is well.
 */
#define BATCHWISE_OK 0

/**
 * The input is bad; the `batchwise_error` says what and where.
 */
#define BATCHWISE_DEFECT 1

/**
 * An argument is null, or holds a value that has no meaning.
 */
#define BATCHWISE_INVALID_ARGUMENT -1

/**
 * The system refused to read; the `batchwise_error` has its message, and its number in `first`.
 */
#define BATCHWISE_IO -2

/**
 * A callback asked to stop.
 */
#define BATCHWISE_STOPPED -3

/**
 * A mistake in the library itself.
 */
#define BATCHWISE_INTERNAL -4

/**
 * `depth`: lengths, checksums and every record. The default.
 */
#define BATCHWISE_DEPTH_RECORDS 0

/**
 * `depth`: lengths and checksums.
 */
#define BATCHWISE_DEPTH_CHECKSUMS 1

/**
 * `depth`: lengths and the order of batches.
 */
#define BATCHWISE_DEPTH_FRAMES 2

/**
 * `origin`: the input lies in a segment file. The default.
 */
#define BATCHWISE_ORIGIN_STORED 0

/**
 * `origin`: a producer sent it.
 */
#define BATCHWISE_ORIGIN_CLIENT 1

/**
 * `origin`: a broker sent it, to a follower or to a consumer.
 */
#define BATCHWISE_ORIGIN_REPLICA 2

/**
 * `conformance`: errors are also what the reference implementation lets pass only because it does not look. The
 * default.
 */
#define BATCHWISE_CONFORMANCE_STRICT 0

/**
 * `conformance`: errors are exactly what the reference implementation refuses at that origin.
 */
#define BATCHWISE_CONFORMANCE_REFERENCE 1

/**
 * `severity`: legal, and worth knowing.
 */
#define BATCHWISE_INFO 0

/**
 * `severity`: odd, and readable all the same.
 */
#define BATCHWISE_WARNING 1

/**
 * `severity`: the input is invalid.
 */
#define BATCHWISE_ERROR 2

/**
 * `detail`: `first` and `second` mean nothing.
 */
#define BATCHWISE_DETAIL_NONE 0

/**
 * `detail`: `first` is the checksum as stored, `second` as computed.
 */
#define BATCHWISE_DETAIL_CHECKSUM 1

/**
 * `detail`: `first` is the number of bytes needed, `second` of those there.
 */
#define BATCHWISE_DETAIL_LENGTH 2

/**
 * `detail`: `first` is the value found, as `int64_t`.
 */
#define BATCHWISE_DETAIL_VALUE 3

/**
 * `detail`: `first` is the number as stored, `second` as counted, as `int64_t`.
 */
#define BATCHWISE_DETAIL_MISMATCH 4

/**
 * `detail`: `first` is the number that was expected, `second` the one found.
 */
#define BATCHWISE_DETAIL_EXPECTED 5

/**
 * `detail`: `first` is a number of bytes.
 */
#define BATCHWISE_DETAIL_BYTES 6

/**
 * `detail`: `first` is the first of the offsets that are missing, `second` the last.
 */
#define BATCHWISE_DETAIL_OFFSETS 7

/**
 * Where there is no batch or no offset.
 */
#define BATCHWISE_NONE UINT64_MAX

/**
 * Where the messages of an Iggy batch lie and what their checksums are: found by `batchwise_iggy_verify`, used by
 * `batchwise_iggy_stamp`.
 */
typedef struct batchwise_iggy_frames batchwise_iggy_frames;

/**
 * Memory that checks use again and again, so that in the steady state they allocate nothing.
 */
typedef struct batchwise_scratch batchwise_scratch;

/**
 * XXH3-64 of input that comes in pieces.
 */
typedef struct batchwise_xxh3 batchwise_xxh3;

/**
 * What to check and by whose rules. All zero is the default of each.
 */
typedef struct batchwise_options {
    /**
     * `BATCHWISE_DEPTH_...`
     */
    int32_t depth;
    /**
     * `BATCHWISE_ORIGIN_...`
     */
    int32_t origin;
    /**
     * `BATCHWISE_CONFORMANCE_...`
     */
    int32_t conformance;
    /**
     * 0.
     */
    int32_t reserved;
    /**
     * The most bytes that the records of one batch may decompress to; 0 for 64 MiB.
     */
    uint64_t max_decompressed;
} batchwise_options;

/**
 * What a batch holds, as far as its header and the depth tell.
 */
typedef struct batchwise_summary {
    /**
     * Length of the whole batch in bytes: the next one starts behind it.
     */
    uint64_t length;
    /**
     * Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the header claims.
     */
    uint64_t records;
    /**
     * First offset, or `BATCHWISE_NONE`.
     */
    uint64_t first_offset;
    /**
     * The offset after the last, or `BATCHWISE_NONE`.
     */
    uint64_t next_offset;
} batchwise_summary;

/**
 * One broken promise of the input.
 */
typedef struct batchwise_error {
    /**
     * `batchwise_kind`: what is wrong. 0 where the input is not at fault.
     */
    int32_t kind;
    /**
     * `BATCHWISE_INFO`, `BATCHWISE_WARNING` or `BATCHWISE_ERROR`.
     */
    int32_t severity;
    /**
     * Where the field stands, in bytes from the start of the input.
     */
    uint64_t offset;
    /**
     * Not 0 if `offset` counts the decompressed bytes of a batch.
     */
    int32_t decompressed;
    /**
     * `BATCHWISE_DETAIL_...`: what the next two are. There may be more in later versions.
     */
    int32_t detail;
    /**
     * As `detail` says.
     */
    uint64_t first;
    /**
     * As `detail` says.
     */
    uint64_t second;
    /**
     * The field as the format's specification spells it; ends in a zero byte.
     */
    char field[48];
    /**
     * All of it in words; ends in a zero byte.
     */
    char message[208];
} batchwise_error;

/**
 * A piece of memory.
 */
typedef struct batchwise_slice {
    /**
     * Its first byte.
     */
    const void *data;
    /**
     * Its length in bytes.
     */
    size_t len;
} batchwise_slice;

/**
 * A defect, and the batch that it was found in.
 */
typedef struct batchwise_finding {
    /**
     * What, where, how bad.
     */
    struct batchwise_error error;
    /**
     * Number of the batch in its input, from 0; `BATCHWISE_NONE` for bytes outside any batch.
     */
    uint64_t batch;
    /**
     * First offset of that batch, or `BATCHWISE_NONE`.
     */
    uint64_t first_offset;
} batchwise_finding;

/**
 * Called for each defect, in the order of their places; not 0 stops the walk. It has to return: no exception, no `longjmp`.
 */
typedef int32_t (*batchwise_on_finding)(void *context, const struct batchwise_finding *finding);

/**
 * A batch that a walk found, sound or not.
 */
typedef struct batchwise_batch {
    /**
     * Its number in the input, from 0.
     */
    uint64_t number;
    /**
     * Where it starts in the input, bytes.
     */
    uint64_t offset;
    /**
     * Its length in bytes.
     */
    uint64_t length;
    /**
     * Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the header claims.
     */
    uint64_t records;
    /**
     * First offset, or `BATCHWISE_NONE`.
     */
    uint64_t first_offset;
    /**
     * The offset after the last, or `BATCHWISE_NONE`.
     */
    uint64_t next_offset;
    /**
     * Findings of severity error in it.
     */
    uint32_t errors;
    /**
     * Findings of severity warning in it.
     */
    uint32_t warnings;
} batchwise_batch;

/**
 * Called for each batch, sound or not, after its defects; as `batchwise_on_finding`.
 */
typedef int32_t (*batchwise_on_batch)(void *context, const struct batchwise_batch *batch);

/**
 * Who is told what a walk finds. Each callback may be null.
 */
typedef struct batchwise_sink {
    /**
     * For each defect.
     */
    batchwise_on_finding on_finding;
    /**
     * For each batch.
     */
    batchwise_on_batch on_batch;
    /**
     * Handed to both.
     */
    void *context;
} batchwise_sink;

/**
 * What was read of an input.
 */
typedef struct batchwise_totals {
    /**
     * Bytes looked at.
     */
    uint64_t bytes;
    /**
     * Batches found whole.
     */
    uint64_t batches;
    /**
     * Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the headers claim.
     */
    uint64_t records;
    /**
     * Findings of severity error: the input is valid if there is none.
     */
    uint64_t errors;
    /**
     * Findings of severity warning.
     */
    uint64_t warnings;
} batchwise_totals;

/**
 * Changes to the header of a record batch, magic 2.
 */
typedef struct batchwise_kafka_patch {
    /**
     * Which of the following to write: `BATCHWISE_KAFKA_...`, added up.
     */
    uint32_t fields;
    /**
     * Epoch of the leader that appends.
     */
    int32_t partition_leader_epoch;
    /**
     * Offset of the first record.
     */
    int64_t base_offset;
    /**
     * Greatest timestamp of the records, or time of the append, ms.
     */
    int64_t max_timestamp;
    /**
     * Time from which tombstones in the batch may be dropped, ms.
     */
    int64_t delete_horizon;
    /**
     * Id of the producer; -1 for none.
     */
    int64_t producer_id;
    /**
     * Epoch of the producer; -1 for none.
     */
    int16_t producer_epoch;
    /**
     * 0.
     */
    int16_t reserved;
    /**
     * Sequence number of the first record; -1 for none.
     */
    int32_t base_sequence;
} batchwise_kafka_patch;

/**
 * Changes to the header of an Iggy batch.
 */
typedef struct batchwise_iggy_patch {
    /**
     * Which of the following to write: `BATCHWISE_IGGY_...`, added up.
     */
    uint32_t fields;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Partition, written at admission.
     */
    uint64_t partition_id;
    /**
     * The next offset of the partition, written at append.
     */
    uint64_t base_offset;
    /**
     * Time of the append, µs, written at append.
     */
    uint64_t base_timestamp;
} batchwise_iggy_patch;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Memory for checks. Freed by `batchwise_scratch_free`.
 */
struct batchwise_scratch *batchwise_scratch_new(void);

/**
 * Frees a handle; null is ignored.
 *
 * # Safety
 * `scratch` came from `batchwise_scratch_new` and is not used again, or is null.
 */
void batchwise_scratch_free(struct batchwise_scratch *scratch);

/**
 * Checks the Kafka batch at the start of `input`, of any magic; more may follow it.
 *
 * Returns `BATCHWISE_OK`; `BATCHWISE_DEFECT` with the first defect of severity error in `error`, whose kind is
 * `BATCHWISE_TORN_TAIL` if `input` ends before the batch; or `BATCHWISE_INVALID_ARGUMENT`. `summary.length` is the length
 * of the batch whenever its header tells it, else 0.
 *
 * `options`, `scratch`, `summary` and `error` may be null.
 *
 * # Safety
 * `input` points to `len` readable bytes, or is null; the others are null or point to what their types say.
 */
int32_t batchwise_kafka_check(const void *input,
                              size_t len,
                              const struct batchwise_options *options,
                              struct batchwise_scratch *scratch,
                              struct batchwise_summary *summary,
                              struct batchwise_error *error);

/**
 * Checks the Iggy batch at the start of `input`; more may follow it. The rest is as for `batchwise_kafka_check`.
 *
 * # Safety
 * As for `batchwise_kafka_check`.
 */
int32_t batchwise_iggy_check(const void *input,
                             size_t len,
                             const struct batchwise_options *options,
                             struct batchwise_scratch *scratch,
                             struct batchwise_summary *summary,
                             struct batchwise_error *error);

/**
 * CRC-32C of `data`, continuing `crc`: 0 to start, the result of the call before to go on.
 *
 * # Safety
 * `data` points to `len` readable bytes, or is null.
 */
uint32_t batchwise_crc32c(uint32_t crc, const void *data, size_t len);

/**
 * CRC-32C of a piece followed by another, from the CRCs of both and the length of the second in bytes.
 */
uint32_t batchwise_crc32c_combine(uint32_t first,
                                  uint32_t second,
                                  uint64_t second_len);

/**
 * CRC-32C of data in which `len` bytes `old_bytes` became `new_bytes`, from the CRC-32C before and without the rest of
 * the data; `tail_len` is the number of bytes behind the change.
 *
 * Where `crc` did not match the data before, the result does not match them after: a rewrite never hides damage.
 *
 * # Safety
 * `old_bytes` and `new_bytes` each point to `len` readable bytes, or are null.
 */
uint32_t batchwise_crc32c_patch(uint32_t crc,
                                const void *old_bytes,
                                const void *new_bytes,
                                size_t len,
                                uint64_t tail_len);

/**
 * Copies `len` bytes from `source` to `destination` and returns the CRC-32C of what it copied.
 *
 * # Safety
 * `destination` points to `len` writable bytes and `source` to `len` readable ones; they do not overlap. If either is
 * null nothing is copied.
 */
uint32_t batchwise_crc32c_copy(void *destination,
                               const void *source,
                               size_t len);

/**
 * CRC-32C of each of `count` independent pieces, into `crcs`: faster than one call for each when they are small.
 *
 * # Safety
 * `slices` points to `count` slices, each of readable bytes or null, and `crcs` to `count` places.
 */
void batchwise_crc32c_many(const struct batchwise_slice *slices,
                           size_t count,
                           uint32_t *crcs);

/**
 * Walks through the segment file at `path` and checks each batch, in bounded memory; damage is passed over to the next
 * batch that checks.
 *
 * `format` is "kafka" or "iggy" as on the command line, or null to tell it from the content. Returns `BATCHWISE_OK`;
 * `BATCHWISE_DEFECT` if a finding is an error, with the first such in `error`; `BATCHWISE_STOPPED`;
 * `BATCHWISE_INVALID_ARGUMENT`, also for a content of no known format; or `BATCHWISE_IO`, with the system's message in
 * `error`. An empty file is valid.
 *
 * `options`, `sink`, `totals` and `error` may be null.
 *
 * # Safety
 * `path` and `format` are null or end in a zero byte; the others are null or point to what their types say; the callbacks may
 * be called with the context.
 */
int32_t batchwise_segment_walk(const char *path,
                               const char *format,
                               const struct batchwise_options *options,
                               const struct batchwise_sink *sink,
                               struct batchwise_totals *totals,
                               struct batchwise_error *error);

/**
 * Checks batches that lie one behind the other in memory. The rest is as for `batchwise_segment_walk`.
 *
 * # Safety
 * As for `batchwise_segment_walk`; `input` points to `len` readable bytes, or is null, and no callback changes them.
 */
int32_t batchwise_memory_walk(const void *input,
                              size_t len,
                              const char *format,
                              const struct batchwise_options *options,
                              const struct batchwise_sink *sink,
                              struct batchwise_totals *totals,
                              struct batchwise_error *error);

/**
 * Checks that every kernel computes what it should on the core that the calling thread runs on; takes about a
 * millisecond.
 *
 * Returns `BATCHWISE_OK` if so. Returns `BATCHWISE_DEFECT` if a kernel does not; if `fall_back` is not 0, only kernels of
 * lower instruction sets, which passed, are used from now on by all threads. Returns `BATCHWISE_INTERNAL` if even those
 * that need no instruction set fail: nothing on this machine can be relied on then.
 */
int32_t batchwise_selftest(int32_t fall_back);

/**
 * Writes `patch` into the header of the record batch (magic 2) at the start of `batch`, and the checksum that follows from
 * it; takes the same time for a batch of any size.
 *
 * A batch whose checksum did not match before does not match after. Returns `BATCHWISE_OK` with the offset after the last
 * record in `next_offset`; `BATCHWISE_DEFECT`, the batch left as it was; or `BATCHWISE_INVALID_ARGUMENT`.
 * `next_offset` and `error` may be null.
 *
 * # Safety
 * `batch` points to `len` writable bytes that nobody else uses, or is null; the others are null or point to what their types
 * say.
 */
int32_t batchwise_kafka_stamp(void *batch,
                              size_t len,
                              const struct batchwise_kafka_patch *patch,
                              int64_t *next_offset,
                              struct batchwise_error *error);

/**
 * An empty list. Freed by `batchwise_iggy_frames_free`.
 */
struct batchwise_iggy_frames *batchwise_iggy_frames_new(void);

/**
 * Frees a handle; null is ignored.
 *
 * # Safety
 * `frames` came from `batchwise_iggy_frames_new` and is not used again, or is null.
 */
void batchwise_iggy_frames_free(struct batchwise_iggy_frames *frames);

/**
 * Verifies the Iggy batch that `input` is, every message and the batch checksum, as a server does with a batch of a peer,
 * and keeps in `frames` what stamping needs.
 *
 * Returns `BATCHWISE_OK`, `BATCHWISE_DEFECT` or, if `frames` is null, `BATCHWISE_INVALID_ARGUMENT`. `error` may be null.
 *
 * # Safety
 * `input` points to `len` readable bytes, or is null; the others are null or point to what their types say.
 */
int32_t batchwise_iggy_verify(const void *input,
                              size_t len,
                              struct batchwise_iggy_frames *frames,
                              struct batchwise_error *error);

/**
 * Writes `patch` into the header of the Iggy batch that `batch` is, and the batch checksum that follows from it and from
 * `frames`, the list that `batchwise_iggy_verify` made of this batch: no message is looked at again.
 *
 * Returns `BATCHWISE_OK`, or `BATCHWISE_INVALID_ARGUMENT`: an argument is null, or the list is not of a batch of this
 * length and number of messages.
 *
 * # Safety
 * `batch` points to `len` writable bytes that nobody else uses, or is null; the others are null or point to what their types
 * say.
 */
int32_t batchwise_iggy_stamp(void *batch,
                             size_t len,
                             const struct batchwise_iggy_patch *patch,
                             struct batchwise_iggy_frames *frames);

/**
 * XXH3-64 of `data` with `seed` (0 for none) and the default secret.
 *
 * # Safety
 * `data` points to `len` readable bytes, or is null.
 */
uint64_t batchwise_xxh3_64(const void *data, size_t len, uint64_t seed);

/**
 * XXH3-64 of `data` with a secret of at least 136 bytes, into `hash`.
 *
 * Returns `BATCHWISE_OK`, or `BATCHWISE_INVALID_ARGUMENT` if the secret is too short or `hash` is null.
 *
 * # Safety
 * `data` points to `len` readable bytes, `secret` to `secret_len`, or they are null; `hash` points to a place.
 */
int32_t batchwise_xxh3_64_with_secret(const void *data,
                                      size_t len,
                                      const void *secret,
                                      size_t secret_len,
                                      uint64_t *hash);

/**
 * XXH3-64 with `seed` of each of `count` independent pieces, into `hashes`: with seed 0 faster than one call for each when
 * they are small.
 *
 * # Safety
 * `slices` points to `count` slices, each of readable bytes or null, and `hashes` to `count` places.
 */
void batchwise_xxh3_64_many(const struct batchwise_slice *slices,
                            size_t count,
                            uint64_t seed,
                            uint64_t *hashes);

/**
 * A hash of no input yet, with `seed` (0 for none). Freed by `batchwise_xxh3_free`.
 */
struct batchwise_xxh3 *batchwise_xxh3_new(uint64_t seed);

/**
 * Starts anew, with `seed`.
 *
 * # Safety
 * `hash` came from `batchwise_xxh3_new`, or is null.
 */
void batchwise_xxh3_reset(struct batchwise_xxh3 *hash, uint64_t seed);

/**
 * Adds `data` to the input.
 *
 * # Safety
 * `hash` came from `batchwise_xxh3_new`, or is null; `data` points to `len` readable bytes, or is null.
 */
void batchwise_xxh3_update(struct batchwise_xxh3 *hash,
                           const void *data,
                           size_t len);

/**
 * The hash of all input so far; more may follow. 0 for null.
 *
 * # Safety
 * `hash` came from `batchwise_xxh3_new`, or is null.
 */
uint64_t batchwise_xxh3_digest(const struct batchwise_xxh3 *hash);

/**
 * Frees a handle; null is ignored.
 *
 * # Safety
 * `hash` came from `batchwise_xxh3_new` and is not used again, or is null.
 */
void batchwise_xxh3_free(struct batchwise_xxh3 *hash);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BATCHWISE_H */
