// Two files of sentences: the n-th line of one translates the n-th line of the other. Both are
// mapped, so that going through them again and again costs no memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/base/file.h"

namespace fovea {

struct SentencePair {
  int64_t line = 0;  // from 1
  std::string_view source;
  std::string_view target;

  // A side without words cannot be aligned: the pair has no links.
  bool empty() const;
};

class ParallelText {
 public:
  // Throws Error{kNotFound}, Error{kIo}, and Error{kBadFile} unless both have as many lines.
  ParallelText(const std::filesystem::path& source, const std::filesystem::path& target);

  int64_t pairs() const { return pairs_; }
  // Every pair in order, then none. The text must outlive it.
  std::function<std::optional<SentencePair>()> stream() const;
  // "de.txt and en.txt, line 3"
  std::string where(const SentencePair& pair) const;

 private:
  std::shared_ptr<const MappedFile> source_, target_;
  int64_t pairs_ = 0;
};

}  // namespace fovea
