#include "fovea/capture/spill_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

constexpr uint64_t kPage = 1 << 16;  // a multiple of the page of every system

template <typename Record, typename Use>
void each_large_tensor(Record& record, const Use& use) {
  use(record.queries);
  use(record.keys);
  use(record.values);
  use(record.output);
  use(record.output_gradient);
  if (record.block) use(record.block->input);
  if (record.positions) {
    use(record.positions->queries);
    use(record.positions->keys);
  }
}

void write_at(int descriptor, Bytes bytes, uint64_t place, const std::filesystem::path& folder) {
  constexpr size_t kPieceBytes = size_t{16} << 20;  // between two looks at whether it is cancelled
  while (!bytes.empty()) {
    check_cancelled();
    const ssize_t count = ::pwrite(descriptor, bytes.data(), std::min(bytes.size(), kPieceBytes),
                                   static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo,
           "{}: the run does not fit into memory, and no more of it can be written here: {}; set "
           "TMPDIR to a folder with more room",
           folder.string(), std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
    place += static_cast<uint64_t>(count);
  }
}

}  // namespace

SpillFile::SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::string name = (folder_ / "fovea-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(ErrorKind::kIo,
         "{}: the run does not fit into memory, and no temporary file can be made here: {}; set "
         "TMPDIR to a folder that can be written",
         folder_.string(), std::strerror(errno));
  }
  ::unlink(name.c_str());
}

SpillFile::~SpillFile() {
  ::close(descriptor_);
}

Tensor SpillFile::store(const Tensor& tensor) {
  const uint64_t bytes = tensor.bytes();
  if (bytes == 0) return tensor;
  uint64_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    place = end_;
    end_ += (bytes + kPage - 1) / kPage * kPage;
  }
  write_at(descriptor_, {tensor.raw(), bytes}, place, folder_);
  void* data =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, static_cast<off_t>(place));
  if (data == MAP_FAILED) {
    fail(ErrorKind::kIo, "{}: {} bytes of a temporary file cannot be mapped: {}", folder_.string(),
         bytes, std::strerror(errno));
  }
  const std::shared_ptr<const void> owner(
      data, [bytes](const void* mapped) { ::munmap(const_cast<void*>(mapped), bytes); });
  return Tensor::borrow(tensor.shape(), tensor.dtype(), static_cast<const std::byte*>(data), owner);
}

AttentionRecord SpillFile::store(AttentionRecord record) {
  each_large_tensor(record, [this](Tensor& tensor) { tensor = store(tensor); });
  return record;
}

uint64_t spilled_bytes(const AttentionRecord& record) {
  uint64_t sum = 0;
  each_large_tensor(record, [&](const Tensor& tensor) { sum += tensor.bytes(); });
  return sum;
}

std::filesystem::path spill_folder() {
  const char* wanted = std::getenv("TMPDIR");
  return wanted != nullptr && *wanted != '\0' ? wanted : "/var/tmp";
}

}  // namespace fovea
