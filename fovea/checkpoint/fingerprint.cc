#include "fovea/checkpoint/fingerprint.h"

#include "fovea/base/file.h"

namespace fovea {
namespace {

constexpr size_t kBeginning = size_t{1} << 20;
constexpr size_t kParts = 256;
constexpr size_t kSample = 4096;

void add_text(Hasher& hasher, const std::string& text) {
  hasher.update(as_bytes(text));
}

}  // namespace

void add_sampled(Hasher& hasher, const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  add_text(hasher, std::to_string(bytes.size()));
  if (bytes.size() <= kBeginning + kParts * kSample) {
    hasher.update(bytes);
    return;
  }
  // A page that is looked at brings many of its neighbours along. Without the last line all of the
  // file would be in memory at the end, for a second time where its weights are.
  const auto add_part = [&](Bytes part) {
    hasher.update(part);
    let_pages_go(bytes);
  };
  add_part(bytes.first(kBeginning));
  const size_t step = (bytes.size() - kBeginning) / kParts;
  for (size_t part = 0; part < kParts; ++part) {
    // The end of each part, so that the last bytes of the file count.
    const size_t end = part + 1 == kParts ? bytes.size() : kBeginning + (part + 1) * step;
    add_part(bytes.subspan(end - kSample, kSample));
  }
}

std::string fingerprint(const Checkpoint& checkpoint) {
  Hasher hasher = Hasher::sha256();
  add_text(hasher, checkpoint.config.json().dump());
  for (const std::string& file : checkpoint.weights.files()) add_sampled(hasher, file);
  return hasher.hex().substr(0, 16);
}

}  // namespace fovea
