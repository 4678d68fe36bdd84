#include "fovea/tensor/large_blocks.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>

namespace fovea {
namespace {

struct Block {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

void unmap(std::byte* begin, size_t bytes) {
  if (bytes > 0) ::munmap(begin, bytes);
}

// Blocks in use are counted, freed ones kept, the oldest first.
class KeptBlocks {
 public:
  // Counts a block as used; gives one of exactly that size that was freed, or null.
  std::byte* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    most_used_ = std::max(most_used_, used_);
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (block->bytes != bytes) continue;
      std::byte* data = block->data;
      kept_ -= bytes;
      blocks_.erase(std::next(block).base());
      return data;
    }
    trim();
    return nullptr;
  }

  void give(Block block) {
    const std::lock_guard lock(mutex_);
    used_ -= block.bytes;
    if (block.bytes > room()) return unmap(block.data, block.bytes);
    blocks_.push_back(block);
    kept_ += block.bytes;
    trim();
  }

  void not_taken(size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
  }

  void begin_reuse() {
    const std::lock_guard lock(mutex_);
    if (reuses_++ == 0) most_used_ = used_;
  }
  void end_reuse() {
    const std::lock_guard lock(mutex_);
    --reuses_;
    trim();
  }

  size_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  // How much may be kept: what was in use before can be so again without a higher peak. A little
  // more than that holds all that one layer frees while records pile up beside it.
  size_t room() const {
    if (reuses_ == 0) return kMostKeptBytes;
    return std::max({kMostKeptBytes, most_used_ - used_, most_used_ / 4});
  }
  void trim() {
    while (kept_ > room()) {
      unmap(blocks_.front().data, blocks_.front().bytes);
      kept_ -= blocks_.front().bytes;
      blocks_.pop_front();
    }
  }

  std::mutex mutex_;
  std::deque<Block> blocks_;
  size_t kept_ = 0;
  size_t used_ = 0;
  size_t most_used_ = 0;  // since the first of those that reuse began
  int reuses_ = 0;
};

// By itself the heap maps blocks of 128 KB and more one by one and gives back what is freed at its
// end: a layer's next tensors cost the system's zeros again, up to 5 % of a forward pass. Both
// limits move only where nobody has set them, by chance of what is freed first.
void let_heap_keep_blocks() {
#ifdef __GLIBC__
  constexpr int kKept = 64 << 20;
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargeFrom) + (64 << 10));
  ::mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

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
    if (data == nullptr) {
      kept_blocks().not_taken(rounded);
      return nullptr;
    }
  }
  return {data, [rounded](std::byte* pointer) { kept_blocks().give({pointer, rounded}); }};
}

ReuseLargeBlocks::ReuseLargeBlocks() {
  static const bool once = (let_heap_keep_blocks(), true);
  static_cast<void>(once);
  kept_blocks().begin_reuse();
}

ReuseLargeBlocks::~ReuseLargeBlocks() {
  kept_blocks().end_reuse();
}

size_t kept_bytes() {
  return kept_blocks().kept();
}

}  // namespace fovea
