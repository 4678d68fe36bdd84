#include "fovea/text/pre_tokenizer.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/pattern.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// Everything that is a pattern and a behavior.
class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(Pattern pattern, SplitBehavior behavior, bool invert = false)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void cut(Words& words) const override {
    PatternFinder finder(pattern_);
    std::vector<ByteSpan> parts;
    words.cut_each([&](const Word& word, std::vector<Word>& next) {
      split(finder.pieces(word.view()), behavior_, invert_, parts);
      for (const ByteSpan& part : parts) {
        if (part.begin < part.end) next.push_back(word.piece(part.begin, part.end));
      }
    });
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Runs of word characters and runs of what is neither word nor space: \w+|[^\w\s]+, and BERT's
// words with each punctuation mark by itself.
class ClassPreTokenizer final : public PreTokenizer {
 public:
  explicit ClassPreTokenizer(bool bert) : bert_(bert) {}
  void cut(Words& words) const override {
    words.cut_each([&](const Word& word, std::vector<Word>& next) { cut_word(word, next); });
  }

 private:
  enum Kind { kSpace, kWord, kOther };
  Kind kind_of(char32_t code) const {
    if (bert_) {
      return is_white_space(code) ? kSpace : is_bert_punctuation(code) ? kOther : kWord;
    }
    return is_word_character(code) ? kWord : is_white_space(code) ? kSpace : kOther;
  }
  void cut_word(const Word& word, std::vector<Word>& next) const {
    const std::string_view text = word.view();
    Kind before = kSpace;
    size_t begin = 0;
    for (size_t offset = 0; offset < text.size();) {
      const Character character = character_at(text, offset);
      const Kind kind = kind_of(character.code);
      if (kind != before || (bert_ && kind == kOther)) {
        if (before != kSpace) next.push_back(word.piece(begin, offset));
        begin = offset;
        before = kind;
      }
      offset += character.bytes;
    }
    if (before != kSpace && begin < text.size()) next.push_back(word.piece(begin, text.size()));
  }

  bool bert_;
};

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex, std::string_view where)
      : add_prefix_space_(add_prefix_space) {
    if (use_regex) cut_.emplace(Pattern(Regex(kGpt2Pattern, where)), SplitBehavior::kIsolated);
  }
  void cut(Words& words) const override {
    if (add_prefix_space_) add_spaces(words);
    if (cut_) cut_->cut(words);
    AlignedText& mapped = words.add_text();
    mapped.reserve(words.bytes() + words.bytes() / 2);
    words.cut_each([&](const Word& word, std::vector<Word>& next) {
      const size_t begin = mapped.text().size();
      add_byte_characters(*word.text, word.begin, word.end, mapped);
      next.push_back({&mapped, static_cast<uint32_t>(begin),
                      static_cast<uint32_t>(mapped.text().size()), word.origin});
    });
  }
  bool maps_bytes() const override { return true; }

 private:
  static void add_spaces(Words& words) {
    AlignedText& spaced = words.add_text();
    spaced.reserve(words.bytes() + words.list().size());
    words.cut_each([&](const Word& word, std::vector<Word>& next) {
      if (word.view().starts_with(' ')) return next.push_back(word);
      const size_t begin = spaced.text().size();
      spaced.add(" ", word.source(0, 1));
      spaced.add(*word.text, word.begin, word.end);
      next.push_back({&spaced, static_cast<uint32_t>(begin),
                      static_cast<uint32_t>(spaced.text().size()), word.origin});
    });
  }

  bool add_prefix_space_;
  std::optional<SplitPreTokenizer> cut_;
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  MetaspacePreTokenizer(char32_t mark, PrependScheme scheme, bool cuts)
      : mark_(mark), scheme_(scheme) {
    append_utf8(mark_text_, mark);
    if (cuts) cut_.emplace(Pattern(mark), SplitBehavior::kMergedWithNext);
  }
  void cut(Words& words) const override {
    AlignedText& marked = words.add_text();
    marked.reserve(words.bytes() + words.bytes() / 2);
    words.cut_each([&](const Word& word, std::vector<Word>& next) {
      const size_t begin = marked.text().size();
      add_marked(word, marked);
      next.push_back({&marked, static_cast<uint32_t>(begin),
                      static_cast<uint32_t>(marked.text().size()), word.origin});
    });
    if (cut_) cut_->cut(words);
  }
  char32_t space_mark() const override { return mark_; }

 private:
  void add_marked(const Word& word, AlignedText& marked) const {
    const std::string_view text = word.view();
    const bool wanted =
        scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && word.origin == 0);
    if (wanted && !text.starts_with(' ') && !text.starts_with(mark_text_)) {
      marked.add(mark_text_, word.source(0, 1));
    }
    for (size_t begin = 0; begin < text.size();) {
      const size_t space = std::min(text.find(' ', begin), text.size());
      marked.add(*word.text, word.begin + begin, word.begin + space);
      if (space < text.size()) marked.add(mark_text_, word.source(space, space + 1));
      begin = space + 1;
    }
  }

  char32_t mark_;
  PrependScheme scheme_;
  std::string mark_text_;
  std::optional<SplitPreTokenizer> cut_;
};

class SequencePreTokenizer final : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<std::shared_ptr<const PreTokenizer>> parts)
      : parts_(std::move(parts)) {}
  void cut(Words& words) const override {
    for (const auto& part : parts_) part->cut(words);
  }
  bool maps_bytes() const override {
    for (const auto& part : parts_) {
      if (part->maps_bytes()) return true;
    }
    return false;
  }
  char32_t space_mark() const override {
    for (const auto& part : parts_) {
      if (part->space_mark() != 0) return part->space_mark();
    }
    return 0;
  }

 private:
  std::vector<std::shared_ptr<const PreTokenizer>> parts_;
};

std::shared_ptr<const PreTokenizer> make_pre_tokenizer_sequence(const Json& json,
                                                                std::string_view where) {
  std::vector<std::shared_ptr<const PreTokenizer>> parts;
  for (const Json& part : json.at("pretokenizers", where).as_array(where)) {
    if (auto made = make_pre_tokenizer(part, where)) parts.push_back(std::move(made));
  }
  return std::make_shared<SequencePreTokenizer>(std::move(parts));
}

std::shared_ptr<const PreTokenizer> make_split(const Json& json, std::string_view where) {
  return std::make_shared<SplitPreTokenizer>(
      make_pattern(json.at("pattern", where), where),
      parse_split_behavior(string_field(json, "behavior", where), where),
      bool_field(json, "invert", false, where));
}

}  // namespace

char32_t parse_character(const Json& json, std::string_view key, char32_t missing,
                         std::string_view where) {
  const Json* value = json.find(key);
  if (value == nullptr && missing != 0) return missing;
  const std::u32string codes = decode_utf8(string_field(json, key, where));
  if (codes.size() != 1) {
    fail(ErrorKind::kBadFile, "{}: '{}' should be one character but has {}", where, key,
         codes.size());
  }
  return codes[0];
}

PrependScheme parse_prepend_scheme(const Json& json, std::string_view where) {
  const std::string name = string_field(json, "prepend_scheme", "", where);
  if (name == "first") return PrependScheme::kFirst;
  if (name == "never") return PrependScheme::kNever;
  if (name == "always" && bool_field(json, "add_prefix_space", true, where)) {
    return PrependScheme::kAlways;
  }
  if (name.empty() || name == "always") {
    return bool_field(json, "add_prefix_space", true, where) ? PrependScheme::kAlways
                                                             : PrependScheme::kNever;
  }
  fail(ErrorKind::kBadFile, "{}: the prepend_scheme '{}' is none of first, never, always", where,
       name);
}

std::shared_ptr<const PreTokenizer> make_pre_tokenizer(const Json& json, std::string_view where) {
  if (json.is_null()) return nullptr;
  const std::string type = string_field(json, "type", where);
  if (type == "Sequence") return make_pre_tokenizer_sequence(json, where);
  if (type == "Split") return make_split(json, where);
  if (type == "BertPreTokenizer") return std::make_shared<ClassPreTokenizer>(true);
  if (type == "Whitespace") return std::make_shared<ClassPreTokenizer>(false);
  if (type == "WhitespaceSplit") {
    return std::make_shared<SplitPreTokenizer>(Pattern(&is_white_space), SplitBehavior::kRemoved);
  }
  if (type == "ByteLevel") {
    return std::make_shared<ByteLevelPreTokenizer>(
        bool_field(json, "add_prefix_space", true, where),
        bool_field(json, "use_regex", true, where), where);
  }
  if (type == "Metaspace") {
    return std::make_shared<MetaspacePreTokenizer>(
        parse_character(json, "replacement", 0x2581, where), parse_prepend_scheme(json, where),
        bool_field(json, "split", true, where));
  }
  if (type == "Punctuation") {
    return std::make_shared<SplitPreTokenizer>(
        Pattern(&is_bert_punctuation),
        parse_split_behavior(string_field(json, "behavior", "Isolated", where), where));
  }
  if (type == "Digits") {
    const bool individual = bool_field(json, "individual_digits", false, where);
    return std::make_shared<SplitPreTokenizer>(
        Pattern(&is_numeric), individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
  }
  if (type == "CharDelimiterSplit") {
    return std::make_shared<SplitPreTokenizer>(
        Pattern(parse_character(json, "delimiter", 0, where)), SplitBehavior::kRemoved);
  }
  fail(ErrorKind::kUnsupported, "{}: the pre-tokenizer '{}' is not known", where, type);
}

}  // namespace fovea
