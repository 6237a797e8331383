// An Iggy batch from C++: verified, stamped, verified again; and XXH3 in pieces. Argument: a file with one batch.
#include <batchwise.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Free {
    void operator()(batchwise_iggy_frames *p) const { batchwise_iggy_frames_free(p); }
    void operator()(batchwise_xxh3 *p) const { batchwise_xxh3_free(p); }
};
using Frames = std::unique_ptr<batchwise_iggy_frames, Free>;
using Hash = std::unique_ptr<batchwise_xxh3, Free>;

void verify(const std::vector<char> &batch, const Frames &frames) {
    batchwise_error error;
    if (batchwise_iggy_verify(batch.data(), batch.size(), frames.get(), &error) != BATCHWISE_OK)
        throw std::runtime_error(std::string(error.field) + ": " + error.message);
}

} // namespace

int main(int argc, char **argv) try {
    if (argc != 2)
        throw std::runtime_error("usage: iggy BATCH");
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> batch{std::istreambuf_iterator<char>(file), {}};
    batch.shrink_to_fit();

    Frames frames(batchwise_iggy_frames_new());
    verify(batch, frames);

    batchwise_iggy_patch patch{};
    patch.fields = BATCHWISE_IGGY_PARTITION_ID | BATCHWISE_IGGY_BASE_OFFSET | BATCHWISE_IGGY_BASE_TIMESTAMP;
    patch.partition_id = 7;
    patch.base_offset = 1000;
    patch.base_timestamp = 1790000222000000;
    if (batchwise_iggy_stamp(batch.data(), batch.size(), &patch, frames.get()) != BATCHWISE_OK)
        throw std::runtime_error("not stamped");
    verify(batch, frames);

    // In pieces, at once, and many together.
    Hash hash(batchwise_xxh3_new(0));
    for (std::size_t at = 0; at < batch.size(); at += 100)
        batchwise_xxh3_update(hash.get(), batch.data() + at, std::min<std::size_t>(100, batch.size() - at));
    const auto whole = batchwise_xxh3_64(batch.data(), batch.size(), 0);
    const batchwise_slice slices[] = {{batch.data(), batch.size()}, {nullptr, 0}};
    std::uint64_t hashes[2];
    batchwise_xxh3_64_many(slices, 2, 0, hashes);
    if (batchwise_xxh3_digest(hash.get()) != whole || hashes[0] != whole || hashes[1] != batchwise_xxh3_64(nullptr, 0, 0))
        throw std::runtime_error("hashes differ");

    batch.back() ^= 1;
    batchwise_error error;
    if (batchwise_iggy_verify(batch.data(), batch.size(), frames.get(), &error) != BATCHWISE_DEFECT)
        throw std::runtime_error("a flipped bit was not found");
    if (batchwise_iggy_stamp(batch.data(), batch.size(), &patch, frames.get()) != BATCHWISE_INVALID_ARGUMENT)
        throw std::runtime_error("a damaged batch was stamped");
    std::cout << "verified, stamped, verified; with a flipped bit: " << error.message << '\n';
} catch (const std::exception &e) {
    std::cerr << e.what() << '\n';
    return 1;
}
