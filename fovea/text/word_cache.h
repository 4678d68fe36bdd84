// Words of one text that were seen before, with their tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/token_model.h"

namespace fovea {

// The model must outlive it. For one thread.
class WordCache {
 public:
  explicit WordCache(const TokenModel& model) : model_(model) {}
  // Good until the next call.
  std::span<const WordToken> tokens(std::string_view word);

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t text = 0;  // where the word begins in texts_
    uint32_t size = 0;  // 0: free
    uint32_t first = 0;
    uint32_t count = 0;
  };
  Slot& slot_of(std::string_view word, uint64_t hash);
  void grow();
  std::span<const WordToken> fresh(std::string_view word);

  const TokenModel& model_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::string texts_;
  std::vector<WordToken> tokens_;
  std::vector<WordToken> last_;
};

}  // namespace fovea
