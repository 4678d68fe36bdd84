#include "fovea/tensor/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <set>

namespace fovea {
namespace {

struct Block {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

void unmap(std::byte* begin, size_t bytes) {
  if (bytes > 0) ::munmap(begin, bytes);
}

// Freed blocks, the oldest first.
class KeptBlocks {
 public:
  // A block of exactly that size, or none.
  std::byte* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (block->bytes != bytes) continue;
      std::byte* data = block->data;
      total_ -= bytes;
      blocks_.erase(std::next(block).base());
      return data;
    }
    return nullptr;
  }

  void give(Block block) {
    const std::lock_guard lock(mutex_);
    if (block.bytes > most()) return unmap(block.data, block.bytes);
    blocks_.push_back(block);
    total_ += block.bytes;
    trim();
  }

  void ask_for(size_t bytes) {
    const std::lock_guard lock(mutex_);
    asked_.insert(bytes);
  }
  void no_longer(size_t bytes) {
    const std::lock_guard lock(mutex_);
    asked_.erase(asked_.find(bytes));
    trim();
  }

  size_t total() {
    const std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  size_t most() const {
    return asked_.empty() ? kMostKeptBytes : std::max(kMostKeptBytes, *asked_.rbegin());
  }
  void trim() {
    while (total_ > most()) {
      unmap(blocks_.front().data, blocks_.front().bytes);
      total_ -= blocks_.front().bytes;
      blocks_.pop_front();
    }
  }

  std::mutex mutex_;
  std::deque<Block> blocks_;
  size_t total_ = 0;
  std::multiset<size_t> asked_;
};

// Never destroyed: tensors may outlive every other static object.
KeptBlocks& kept_blocks() {
  static auto* const kept = new KeptBlocks;
  return *kept;
}

// New memory, which is zero. `bytes` is a multiple of a huge page.
std::byte* map_aligned(size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapped);
  const size_t skipped = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  unmap(begin, skipped);
  unmap(begin + skipped + bytes, kHugePage - skipped);
  ::madvise(begin + skipped, bytes, MADV_HUGEPAGE);  // a wish, no more
  return begin + skipped;
}

}  // namespace

std::shared_ptr<std::byte> allocate_large(size_t bytes, bool zero) {
  if (bytes > std::numeric_limits<size_t>::max() - 2 * kHugePage) return nullptr;
  const size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  std::byte* data = kept_blocks().take(rounded);
  if (data != nullptr) {
    if (zero) std::memset(data, 0, bytes);
  } else {
    data = map_aligned(rounded);
    if (data == nullptr) return nullptr;
  }
  return {data, [rounded](std::byte* pointer) { kept_blocks().give({pointer, rounded}); }};
}

KeepLargeBlocks::KeepLargeBlocks(size_t bytes) : bytes_(bytes) {
  kept_blocks().ask_for(bytes);
}

KeepLargeBlocks::~KeepLargeBlocks() {
  kept_blocks().no_longer(bytes_);
}

size_t kept_bytes() {
  return kept_blocks().total();
}

}  // namespace fovea
