/* What a broker does with what a producer sent: checks each batch, stamps it, appends it with the checksum taken while
 * copying, and reads the log back. Arguments: a Kafka segment to take batches from. */
#include <batchwise.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const batchwise_error *error) {
    fprintf(stderr, "%s: %s\n", what, error ? error->message : "");
    exit(1);
}

/* The file in a block of exactly its size, so that a read past the end is seen by whoever watches memory. */
static unsigned char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die(path, NULL);
    *len = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*len ? *len : 1);
    if (!bytes || fread(bytes, 1, *len, file) != *len)
        die(path, NULL);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    if (argc != 2)
        die("usage: append SEGMENT", NULL);
    size_t len;
    unsigned char *sent = read_file(argv[1], &len);
    unsigned char *log = malloc(len ? len : 1);
    if (!log)
        die("no memory", NULL);

    batchwise_scratch *scratch = batchwise_scratch_new();
    batchwise_options options = {.conformance = BATCHWISE_CONFORMANCE_REFERENCE};
    batchwise_error error;
    batchwise_summary batch;
    batchwise_slice slices[8];
    uint32_t copied[8], again[8];
    size_t count = 0, at = 0;
    int64_t offset = 1000;
    uint64_t records = 0;
    uint32_t whole = 0;

    while (at < len) {
        if (batchwise_kafka_check(sent + at, len - at, &options, scratch, &batch, &error) != BATCHWISE_OK)
            die("check", &error);
        size_t size = (size_t)batch.length;

        batchwise_kafka_patch patch = {
            .fields = BATCHWISE_KAFKA_BASE_OFFSET | BATCHWISE_KAFKA_LEADER_EPOCH | BATCHWISE_KAFKA_LOG_APPEND_TIME,
            .base_offset = offset,
            .partition_leader_epoch = 7,
            .max_timestamp = 1764000000000,
        };
        if (batchwise_kafka_stamp(sent + at, size, &patch, &offset, &error) != BATCHWISE_OK)
            die("stamp", &error);

        uint32_t crc = batchwise_crc32c_copy(log + at, sent + at, size);
        whole = batchwise_crc32c_combine(whole, crc, size);
        if (count < 8) {
            slices[count] = (batchwise_slice){log + at, size};
            copied[count++] = crc;
        }
        records += batch.records;
        at += size;
    }

    /* Three ways to the same checksums. */
    batchwise_crc32c_many(slices, count, again);
    if (whole != batchwise_crc32c(0, log, len) || memcmp(copied, again, count * sizeof *again) != 0)
        die("checksums differ", NULL);

    batchwise_totals totals;
    if (batchwise_memory_walk(log, len, "kafka", NULL, NULL, &totals, &error) != BATCHWISE_OK)
        die("the stamped log", &error);
    if (totals.records != records)
        die("records were lost", NULL);

    /* A flipped bit is found, at its batch. */
    if (len > 100) {
        log[len - 1] ^= 1;
        if (batchwise_memory_walk(log, len, "kafka", NULL, NULL, &totals, &error) != BATCHWISE_DEFECT ||
            error.kind != BATCHWISE_CRC_MISMATCH || error.detail != BATCHWISE_DETAIL_CHECKSUM)
            die("a flipped bit was not found", &error);
        printf("with a flipped bit: %s\n", error.message);
    }
    printf("%" PRIu64 " batches, %" PRIu64 " records appended, next offset %" PRId64 "\n", totals.batches, records, offset);
    batchwise_scratch_free(scratch);
    free(log);
    free(sent);
    return 0;
}
