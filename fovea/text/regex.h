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

 private:
  friend class RegexMatcher;
  struct Program;
  std::shared_ptr<const Program> program_;
};

// What one thread needs to match, kept for text after text. The regex must outlive it.
class RegexMatcher {
 public:
  explicit RegexMatcher(const Regex& regex);
  RegexMatcher(const RegexMatcher&) = delete;
  RegexMatcher& operator=(const RegexMatcher&) = delete;
  ~RegexMatcher();

  // All matches, left to right, none overlapping; good until the next call. Throws
  // Error{kUnsupported} if a match would take more steps than any sensible pattern needs.
  const std::vector<ByteSpan>& find_all(std::string_view text);

 private:
  struct Scratch;
  int match(std::string_view text, size_t at);
  const Regex::Program& program_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<ByteSpan> found_;
};

}  // namespace fovea
