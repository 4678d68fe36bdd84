#include "fovea/cli/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/parse.h"
#include "fovea/base/sha256.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/ask_options.h"
#include "fovea/vision/picture_format.h"

namespace fovea {
namespace {

constexpr size_t kLongestText = size_t{1} << 26;

bool is_text_file(const std::filesystem::path& path) {
  return lower_suffix(path) == ".txt";
}

// Sorted by name, so that the order does not depend on the file system.
std::vector<std::string> files_with(const std::filesystem::path& folder,
                                    bool (*wanted)(const std::filesystem::path& path)) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    std::error_code ignored;  // a link that leads nowhere
    if (wanted(path) && entry->is_regular_file(ignored)) names.push_back(path.filename().string());
  }
  if (error) fail(ErrorKind::kIo, "cannot list {}: {}", folder.string(), error.message());
  std::ranges::sort(names);
  return names;
}

std::string stamp(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const auto time = std::filesystem::last_write_time(path, ignored).time_since_epoch().count();
  return fmt::format("{}:{}:{}", path.filename().string(), size, time);
}

// A file that is no text would be counted as one.
void check_text(std::string_view text, const std::filesystem::path& path, int64_t line) {
  const size_t zero = text.find('\0');
  const size_t bad = std::min(zero, find_invalid_utf8(text.substr(0, zero)));
  if (bad == text.npos) return;
  line += std::ranges::count(text.substr(0, bad), '\n');  // of a file that is one text
  fail(ErrorKind::kBadFile, "{}, line {}: has {}, but texts are UTF-8; give a text file",
       path.string(), line,
       zero == bad ? "a NUL byte"
                   : fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(text[bad])));
}

}  // namespace

bool holds_pictures(const std::filesystem::path& folder) {
  try {
    return Corpus::of_pictures(folder).size() > 0;
  } catch (const Error&) {
    return false;
  }
}

Corpus Corpus::of_texts(const std::filesystem::path& path) {
  Corpus corpus;
  corpus.path_ = path;
  corpus.is_folder_ = is_folder(path);
  if (corpus.is_folder_) {
    for (std::string& name : files_with(path, is_text_file)) {
      corpus.items_.push_back({.name = std::move(name)});
    }
    if (corpus.items_.empty()) {
      fail(ErrorKind::kBadFile,
           "{} has no .txt files; give one text per file, or one per line of a file",
           path.string());
    }
    return corpus;
  }
  corpus.lines_ = MappedFile::open(path);
  std::string_view rest = as_text(corpus.lines_->bytes());
  for (int64_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (!is_blank(text)) corpus.items_.push_back({.line = line, .text = text});
  }
  if (corpus.items_.empty()) {
    fail(ErrorKind::kBadFile, "{} has no text; give one input per line", path.string());
  }
  return corpus;
}

Corpus Corpus::of_pairs(const std::filesystem::path& sources,
                        const std::filesystem::path& targets) {
  if (is_folder(sources) || is_folder(targets)) {
    fail(ErrorKind::kInvalidArgument,
         "{} is a folder, but texts and their translations are two files, line by line",
         (is_folder(sources) ? sources : targets).string());
  }
  Corpus corpus;
  corpus.path_ = sources;
  corpus.targets_ = targets;
  corpus.pairs_.emplace(sources, targets);
  const auto next = corpus.pairs_->stream();
  while (const std::optional<SentencePair> pair = next()) {
    if (pair->empty()) continue;
    corpus.items_.push_back({.line = pair->line, .text = pair->source, .target = pair->target});
  }
  if (corpus.items_.empty()) {
    fail(ErrorKind::kBadFile, "{} and {} have no line with text in both", sources.string(),
         targets.string());
  }
  return corpus;
}

Corpus Corpus::of_pictures(const std::filesystem::path& path) {
  Corpus corpus;
  corpus.path_ = path;
  corpus.is_folder_ = is_folder(path);
  corpus.pictures_ = true;
  if (!corpus.is_folder_) {
    corpus.items_.push_back({.name = path.filename().string()});
    return corpus;
  }
  for (std::string& name : files_with(path, has_readable_suffix)) {
    // The truth beside a picture is no picture.
    if (!name.ends_with(".mask.png")) corpus.items_.push_back({.name = std::move(name)});
  }
  if (corpus.items_.empty()) {
    fail(ErrorKind::kBadFile, "{} has no pictures; fovea reads PNG, JPEG, WebP, PPM and PGM",
         path.string());
  }
  return corpus;
}

std::filesystem::path Corpus::file(int64_t i) const {
  const Item& item = items_[static_cast<size_t>(i)];
  return is_folder_ ? path_ / item.name : path_;
}

std::string Corpus::text(int64_t i) const {
  const Item& item = items_[static_cast<size_t>(i)];
  if (item.name.empty()) {
    check_text(item.text, path_, item.line);
    return std::string(item.text);
  }
  std::string text = read_text_file(file(i), kLongestText);
  check_text(text, file(i), 1);
  return text;
}

std::optional<std::string> Corpus::target(int64_t i) const {
  if (targets_.empty()) return {};
  const Item& item = items_[static_cast<size_t>(i)];
  check_text(item.target, targets_, item.line);
  return std::string(item.target);
}

std::string Corpus::where(int64_t i) const {
  const Item& item = items_[static_cast<size_t>(i)];
  if (item.line > 0) return fmt::format("{}, line {}", path_.string(), item.line);
  return file(i).string();
}

ManyInputs inputs_of(const Corpus& corpus, int64_t limit) {
  const int64_t count = limit > 0 ? std::min(limit, corpus.size()) : corpus.size();
  const auto read = [&corpus](int64_t i) {
    Sample sample;
    if (corpus.has_pictures()) {
      sample.input.what = read_picture_bytes(corpus.file(i).string());
    } else {
      sample.input.what = Text{corpus.text(i)};
      sample.input.translate.target = corpus.target(i);
    }
    return sample;
  };
  const auto next = [&corpus, read, count, i = int64_t{0}]() mutable -> std::optional<NamedInput> {
    if (i == count) return {};
    const int64_t number = i++;
    return NamedInput{corpus.where(number), [read, number] { return read(number); }};
  };
  return {.next = next,
          .count = count,
          .pictures = corpus.has_pictures(),
          .of = Json::object({{"inputs", corpus.fingerprint()}, {"limit", limit}})};
}

std::string Corpus::fingerprint() const {
  Hasher hasher = Hasher::sha256();
  const auto add = [&](const std::filesystem::path& path) {
    hasher.update(as_bytes(stamp(path) + "\n"));
  };
  if (!is_folder_) add(path_);
  if (!targets_.empty()) add(targets_);
  for (int64_t i = 0; is_folder_ && i < size(); ++i) add(file(i));
  return hasher.hex();
}

}  // namespace fovea
