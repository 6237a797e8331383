/* Verifies segment files: one line for each defect, one for each file. Exit status 0 valid, 1 damaged, 2 failed. */
#include <batchwise.h>
#include <inttypes.h>
#include <stdio.h>

static int32_t on_finding(void *context, const batchwise_finding *finding) {
    static const char *const severity[] = {"info", "warning", "error"};
    const char *path = context;
    printf("%s: %s: ", path, severity[finding->error.severity]);
    if (finding->batch != BATCHWISE_NONE)
        printf("batch %" PRIu64 ": ", finding->batch);
    printf("%s\n", finding->error.message);
    return 0;
}

int main(int argc, char **argv) {
    int status = 0;
    for (int i = 1; i < argc; i++) {
        batchwise_totals totals;
        batchwise_error error;
        batchwise_sink sink = {.on_finding = on_finding, .context = argv[i]};
        int32_t code = batchwise_segment_walk(argv[i], NULL, NULL, &sink, &totals, &error);
        if (code < 0) {
            fprintf(stderr, "%s: %s\n", argv[i], code == BATCHWISE_IO ? error.message : "no known format");
            status = 2;
            continue;
        }
        printf("%s: %" PRIu64 " batches, %" PRIu64 " records, %s\n", argv[i], totals.batches, totals.records,
               code == BATCHWISE_OK ? "valid" : "damaged");
        if (code == BATCHWISE_DEFECT && status == 0)
            status = 1;
    }
    return status;
}
