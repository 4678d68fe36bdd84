// Memory of large tensors. It is mapped apart from the heap, because there blocks that live as long
// as a run leave holes between them (150 MB in a run of a ViT on 3,601 positions). Freed blocks go
// back to the system at once, except a few that the next tensors get: the system must fill new ones
// with zeros.
#pragma once

#include <cstddef>
#include <memory>

namespace fovea {

inline constexpr size_t kHugePage = size_t{2} << 20;
// Tensors of so many bytes are large: first touching 55 MB then takes 5 ms, not 30.
inline constexpr size_t kLargeFrom = 2 * kHugePage;
// How much freed memory is kept at most, unless a run reuses it.
inline constexpr size_t kMostKeptBytes = size_t{48} << 20;

// At least `bytes` > 0 in huge pages where the system gives them, aligned to one; null when memory
// is short. May be called from any thread.
std::shared_ptr<std::byte> allocate_large(size_t bytes, bool zero);

// While one lives, more freed memory is kept: as much as was in use since it began and no longer
// is, or a quarter of the largest use. So a run takes little more memory at most than without it.
// It is for runs of a model, whose layers make and free tensors of the same sizes again and again.
// The first one also lets the heap keep what smaller tensors free, for as long as the process
// lives.
class ReuseLargeBlocks {
 public:
  ReuseLargeBlocks();
  ~ReuseLargeBlocks();
  ReuseLargeBlocks(const ReuseLargeBlocks&) : ReuseLargeBlocks() {}
  ReuseLargeBlocks& operator=(const ReuseLargeBlocks&) { return *this; }
};

// How much is kept at the moment.
size_t kept_bytes();

}  // namespace fovea
