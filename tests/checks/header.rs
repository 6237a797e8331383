//! Checksum and header of a record batch.

use crate::support::{RECORD, batch, batch_at, build, empty_batch, raw, sealed, spliced, with};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;
use batchwise::kafka::{NewControlRecord, RecordBatchBuilder};

/// With a producer id, an epoch and a sequence number.
fn idempotent(id: i64, epoch: i16, sequence: i32) -> Vec<u8> {
    let fields = [&id.to_be_bytes()[..], &epoch.to_be_bytes(), &sequence.to_be_bytes()].concat();
    with(batch(), 43, &fields)
}

fn count(records: i32, last_offset_delta: i32) -> Vec<u8> {
    with(with(batch(), 57, &records.to_be_bytes()), 23, &last_offset_delta.to_be_bytes())
}

fn marker() -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new().producer(9, 1, -1).transactional(true).control(true);
    builder.append_control(1000, &NewControlRecord::Commit { coordinator_epoch: 7 }).unwrap();
    builder.finish().unwrap()
}

fn compressed() -> Vec<u8> {
    build(RecordBatchBuilder::new().compression(Codec::Gzip, None).unwrap(), &[RECORD])
}

pub(crate) fn cases() -> Vec<Case> {
    let attributes = |byte: u8| with(batch(), 22, &[byte]);
    vec![
        case("K14", CrcMismatch, "a bit of a value").at("crc", 17, "EEE EEE").logs(raw(batch(), 68, b"w"), batch()),
        case("K14", CrcMismatch, "a bit of the checksum")
            .at("crc", 17, "EEE EEE")
            .logs(raw(batch(), 20, &[!batch()[20]]), batch()),
        case("K17", CodecUnknown, "codec 5").at("attributes", 21, "EEE EEE").logs(attributes(5), attributes(4)),
        case("K20", AttributesReservedBits, "bit 7")
            .at("attributes", 21, "WWW WWW")
            .logs(attributes(0x80), attributes(0x40)),
        case("K20", AttributesReservedBits, "bit 15")
            .at("attributes", 21, "WWW WWW")
            .logs(with(batch(), 21, &[0x80]), batch()),
        case("K21", TimestampTypeFromClient, "LogAppendTime")
            .at("attributes", 21, "W-- W--")
            .logs(attributes(8), batch()),
        case("K21", TimestampTypeFromClient, "LogAppendTime without a timestamp")
            .at("attributes", 21, "E-- E--")
            .logs(with(attributes(8), 35, &[0xFF; 8]), batch()),
        case("K22", ControlBatchFromClient, "a marker").at("attributes", 21, "E-- E--").logs(marker(), batch()),
        case("K23", DeleteHorizonFromClient, "bit 6").at("attributes", 21, "E-- W--").logs(attributes(0x40), batch()),
        case("K24", TransactionalWithoutProducerId, "bit 4")
            .at("attributes", 21, "WWW WWW")
            .logs(attributes(0x10), with(idempotent(1, 0, 0), 22, &[0x10])),
        case("K26", EmptyBatchCompressed, "codec 2 in a batch of no records")
            .at("attributes", 21, "-WW -WW")
            .logs(with(empty_batch(), 22, &[2]), empty_batch()),
        case("K27", BaseOffsetNotZero, "base offset 1").at("baseOffset", 0, "E-- E--").logs(batch_at(1), batch()),
        case("K28", OffsetOutOfRange, "base offset -1")
            .at("baseOffset", 0, "-EE -WW")
            .logs(raw(batch(), 0, &[0xFF; 8]), batch()),
        case("K28", OffsetOutOfRange, "a last offset beyond 63 bits")
            .at("baseOffset", 0, "-EE -WW")
            .logs(raw(batch(), 0, &i64::MAX.to_be_bytes()), raw(batch(), 0, &(i64::MAX - 1).to_be_bytes())),
        case("K29", LastOffsetDeltaNegative, "lastOffsetDelta -1")
            .at("lastOffsetDelta", 23, "EEE EWW")
            .logs(count(2, -1), batch()),
        case("K30", RecordsCountNegative, "recordsCount -1")
            .at("recordsCount", 57, "EEE EEE")
            .logs(count(-1, 1), empty_batch()),
        case("K31", EmptyBatch, "the header alone").at("recordsCount", 57, "EII EII").logs(empty_batch(), batch()),
        case("K32", EmptyBatchWithPayload, "recordsCount 0 before two records")
            .at("records", 61, "EEE EWW")
            .logs(count(0, 1), empty_batch()),
        case("K33", RecordsCountMismatch, "two records for three offsets")
            .at("recordsCount", 57, "EII EII")
            .logs(count(2, 2), batch()),
        case("K34", RecordsCountExceedsRange, "two records for one offset")
            .at("recordsCount", 57, "EEE EWW")
            .logs(count(2, 0), batch()),
        case("K35", RecordsTruncated, "recordsCount 3 before two records")
            .at("recordsCount", 57, "EEE EEE")
            .logs(count(3, 2), batch()),
        case("K35", RecordsTruncated, "recordsCount 2 before one compressed record")
            .at("recordsCount", 57, "EEE EEE")
            .logs(with(with(compressed(), 57, &2i32.to_be_bytes()), 23, &1i32.to_be_bytes()), compressed()),
        case("K36", TrailingRecordBytes, "a byte behind the last record")
            .at("records", 79, "EEE EEE")
            .logs(sealed([&batch()[..], &[0]].concat()), batch()),
        case("K36", TrailingRecordBytes, "recordsCount 1 before two records")
            .at("records", 70, "EEE EEE")
            .logs(count(1, 0), spliced(count(1, 0), 70..79, &[])),
        case("K54", BaseSequenceMissing, "a producer id without a sequence number")
            .at("baseSequence", 53, "EII EII")
            .logs(idempotent(1, 0, -1), idempotent(1, 0, 0)),
        case("K54", BaseSequenceMissing, "the same, but for a marker, which needs none")
            .at("baseSequence", 53, "EII EII")
            .logs(with(marker(), 22, &[0x10]), marker()),
        case("K55", ProducerIdInvalid, "producer id -2")
            .at("producerId", 43, "WWW WWW")
            .logs(idempotent(-2, -1, -1), batch()),
        case("K56", ProducerEpochInvalid, "epoch -1 of producer 1")
            .at("producerEpoch", 51, "WWW WWW")
            .logs(idempotent(1, -1, 0), idempotent(1, 0, 0)),
        case("K57", ProducerFieldsInconsistent, "epoch 0 of no producer")
            .at("producerEpoch", 51, "WWW WWW")
            .logs(idempotent(-1, 0, -1), batch()),
        case("K57", ProducerFieldsInconsistent, "sequence number 0 of no producer")
            .at("baseSequence", 53, "WWW WWW")
            .logs(idempotent(-1, -1, 0), batch()),
        case("K60", MaxTimestampMismatch, "maxTimestamp 5")
            .at("maxTimestamp", 35, "IWW IWW")
            .logs(with(batch(), 35, &5i64.to_be_bytes()), batch()),
    ]
}
