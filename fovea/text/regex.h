// Regular expressions of tokenizer files, which are written for Oniguruma; matched by PCRE2's JIT.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/aligned_text.h"

namespace fovea {

// Copies share the compiled pattern. Const members may be called from any thread.
class Regex {
 public:
  // Throws Error{kBadFile} naming `where` if the pattern cannot be compiled.
  Regex(std::string_view pattern, std::string_view where);
  static Regex literal(std::string_view text, std::string_view where);

  // All matches, left to right, none overlapping. Throws Error{kUnsupported} if a match would take
  // more steps than any sensible pattern needs.
  std::vector<ByteSpan> find_all(std::string_view text) const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace fovea
