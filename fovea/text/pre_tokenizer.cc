#include "fovea/text/pre_tokenizer.h"

#include "fovea/base/error.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/pattern.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

void add_parts(const AlignedText& text, const std::vector<ByteSpan>& parts,
               std::vector<AlignedText>& words) {
  if (words.empty()) words.reserve(parts.size());
  for (const ByteSpan& part : parts) {
    if (part.begin < part.end) words.push_back(text.slice(part.begin, part.end));
  }
}

// Everything that is a pattern and a behavior.
class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(Pattern pattern, SplitBehavior behavior, bool invert = false)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void cut(AlignedText part, std::vector<AlignedText>& words) const override {
    add_parts(part, split(pattern_.pieces(part.text()), behavior_, invert_), words);
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
  void cut(AlignedText part, std::vector<AlignedText>& words) const override {
    const std::string& text = part.text();
    enum Kind { kSpace, kWord, kOther };
    Kind before = kSpace;
    size_t begin = 0;
    for (size_t offset = 0; offset < text.size();) {
      const Character character = character_at(text, offset);
      Kind kind = kWord;
      if (bert_) {
        kind = is_white_space(character.code)        ? kSpace
               : is_bert_punctuation(character.code) ? kOther
                                                     : kWord;
      } else if (!is_word_character(character.code)) {
        kind = is_white_space(character.code) ? kSpace : kOther;
      }
      if (kind != before || (bert_ && kind == kOther)) {
        if (before != kSpace) words.push_back(part.slice(begin, offset));
        begin = offset;
        before = kind;
      }
      offset += character.bytes;
    }
    if (before != kSpace && begin < text.size()) words.push_back(part.slice(begin, text.size()));
  }

 private:
  bool bert_;
};

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex, std::string_view where)
      : add_prefix_space_(add_prefix_space) {
    if (use_regex) pattern_ = Pattern(Regex(kGpt2Pattern, where));
    use_regex_ = use_regex;
  }
  void cut(AlignedText part, std::vector<AlignedText>& words) const override {
    if (add_prefix_space_ && !part.text().starts_with(' ')) part.prepend(" ");
    const size_t first = words.size();
    if (use_regex_) {
      add_parts(part, split(pattern_.pieces(part.text()), SplitBehavior::kIsolated), words);
    } else if (!part.empty()) {
      words.push_back(std::move(part));
    }
    for (size_t i = first; i < words.size(); ++i) map_to_byte_characters(words[i]);
  }
  bool maps_bytes() const override { return true; }

 private:
  bool add_prefix_space_;
  bool use_regex_ = false;
  Pattern pattern_;
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  MetaspacePreTokenizer(char32_t mark, PrependScheme scheme, bool cuts)
      : mark_(mark), scheme_(scheme), cuts_(cuts) {
    append_utf8(mark_text_, mark);
  }
  void cut(AlignedText part, std::vector<AlignedText>& words) const override {
    const std::string& text = part.text();
    std::vector<ByteSpan> spaces;
    for (uint32_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') spaces.push_back({i, i + 1});
    }
    part.replace(spaces, mark_text_);
    const bool wanted = scheme_ == PrependScheme::kAlways ||
                        (scheme_ == PrependScheme::kFirst && part.origin() == 0);
    if (wanted && !part.text().starts_with(mark_text_)) part.prepend(mark_text_);
    if (cuts_) {
      const auto pieces = Pattern(mark_).pieces(part.text());
      add_parts(part, split(pieces, SplitBehavior::kMergedWithNext), words);
    } else if (!part.empty()) {
      words.push_back(std::move(part));
    }
  }
  char32_t space_mark() const override { return mark_; }

 private:
  char32_t mark_;
  PrependScheme scheme_;
  bool cuts_;
  std::string mark_text_;
};

class SequencePreTokenizer final : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<std::shared_ptr<const PreTokenizer>> parts)
      : parts_(std::move(parts)) {}
  void cut(AlignedText part, std::vector<AlignedText>& words) const override {
    std::vector<AlignedText> current;
    if (!part.empty()) current.push_back(std::move(part));
    for (const auto& step : parts_) {
      std::vector<AlignedText> next;
      next.reserve(current.size());
      for (AlignedText& word : current) step->cut(std::move(word), next);
      current = std::move(next);
    }
    for (AlignedText& word : current) words.push_back(std::move(word));
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

std::shared_ptr<const PreTokenizer> make_sequence(const Json& json, std::string_view where) {
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
  if (type == "Sequence") return make_sequence(json, where);
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
