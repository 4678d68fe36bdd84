#include "fovea/cli/parallel_text.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"

namespace fovea {
namespace {

// A last line without its end counts too.
int64_t line_count(std::string_view text) {
  return std::ranges::count(text, '\n') + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

std::string_view take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool SentencePair::empty() const {
  return is_blank(source) || is_blank(target);
}

ParallelText::ParallelText(const std::filesystem::path& source, const std::filesystem::path& target)
    : source_(MappedFile::open(source)), target_(MappedFile::open(target)) {
  pairs_ = line_count(as_text(source_->bytes()));
  const int64_t others = line_count(as_text(target_->bytes()));
  if (pairs_ != others) {
    fail(ErrorKind::kBadFile,
         "{} has {} lines but {} has {}; both need one line per sentence, in the same order",
         source.string(), pairs_, target.string(), others);
  }
  if (pairs_ == 0) {
    fail(ErrorKind::kBadFile, "{} and {} are empty; there is no sentence to align", source.string(),
         target.string());
  }
}

std::function<std::optional<SentencePair>()> ParallelText::stream() const {
  return [this, sources = as_text(source_->bytes()), targets = as_text(target_->bytes()),
          line = int64_t{0}]() mutable -> std::optional<SentencePair> {
    if (line == pairs_) return {};
    const std::string_view source = take_line(sources);
    return SentencePair{++line, source, take_line(targets)};
  };
}

std::string ParallelText::where(const SentencePair& pair) const {
  return fmt::format("{} and {}, line {}", source_->path().string(), target_->path().string(),
                     pair.line);
}

}  // namespace fovea
