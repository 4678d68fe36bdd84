#include "fovea/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8  // NOLINT: how PCRE2 is told the kind of its strings
#include <pcre2.h>

#include <array>
#include <optional>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr uint32_t kMatchLimit = 5'000'000;
constexpr uint32_t kDepthLimit = 20'000;
constexpr size_t kJitStackFirst = size_t{32} << 10;
constexpr size_t kJitStackMost = size_t{8} << 20;
constexpr size_t kLongestPattern = 20'000;

// Oniguruma's \s, \w and \d, and what is not in them, as the inside of a class.
constexpr std::string_view kSpace =
    "\\t-\\r "
    "\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
constexpr std::string_view kNotSpace =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}"
    "\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}"
    "\\x{3001}-\\x{D7FF}\\x{E000}-\\x{10FFFF}";
constexpr std::string_view kHex = "0-9A-Fa-f";

// Characters that a property has in Oniguruma's newer Unicode (16) but not in PCRE2 10.42's (14).
struct NewerCharacters {
  std::string_view property;
  std::string_view ranges;
};
constexpr NewerCharacters kNewer[] = {
    {"L",
     "\\x{1C89}-\\x{1C8A}\\x{A7CB}-\\x{A7CD}\\x{A7DA}-\\x{A7DC}\\x{105C0}-\\x{105F3}"
     "\\x{10D4A}-\\x{10D65}\\x{10D6F}-\\x{10D85}\\x{10EC2}-\\x{10EC4}"
     "\\x{1123F}-\\x{11240}\\x{11380}-\\x{11389}\\x{1138B}\\x{1138E}"
     "\\x{11390}-\\x{113B5}\\x{113B7}\\x{113D1}\\x{113D3}\\x{11BC0}-\\x{11BE0}"
     "\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}\\x{1342F}"
     "\\x{13441}-\\x{13446}\\x{13460}-\\x{143FA}\\x{16100}-\\x{1611D}"
     "\\x{16D40}-\\x{16D6C}\\x{18CFF}\\x{1B132}\\x{1B155}\\x{1DF25}-\\x{1DF2A}"
     "\\x{1E030}-\\x{1E06D}\\x{1E4D0}-\\x{1E4EB}\\x{1E5D0}-\\x{1E5ED}\\x{1E5F0}"
     "\\x{2B739}\\x{2EBF0}-\\x{2EE5D}\\x{31350}-\\x{323AF}"},
    {"N",
     "\\x{10D40}-\\x{10D49}\\x{116D0}-\\x{116E3}\\x{11BF0}-\\x{11BF9}"
     "\\x{11F50}-\\x{11F59}\\x{16130}-\\x{16139}\\x{16D70}-\\x{16D79}"
     "\\x{1CCF0}-\\x{1CCF9}\\x{1D2C0}-\\x{1D2D3}\\x{1E4F0}-\\x{1E4F9}\\x{1E5F1}-\\x{1E5FA}"},
    {"Nd",
     "\\x{10D40}-\\x{10D49}\\x{116D0}-\\x{116E3}\\x{11BF0}-\\x{11BF9}\\x{11F50}-\\x{11F59}"
     "\\x{16130}-\\x{16139}\\x{16D70}-\\x{16D79}\\x{1CCF0}-\\x{1CCF9}\\x{1E4F0}-\\x{1E4F9}"
     "\\x{1E5F1}-\\x{1E5FA}"},
    {"M",
     "\\x{897}\\x{CF3}\\x{ECE}\\x{10D69}-\\x{10D6D}\\x{10EFC}-\\x{10EFF}\\x{11241}"
     "\\x{113B8}-\\x{113C0}\\x{113C2}\\x{113C5}\\x{113C7}-\\x{113CA}"
     "\\x{113CC}-\\x{113D0}\\x{113D2}\\x{113E1}-\\x{113E2}\\x{11F00}-\\x{11F01}"
     "\\x{11F03}\\x{11F34}-\\x{11F3A}\\x{11F3E}-\\x{11F42}\\x{11F5A}\\x{13440}"
     "\\x{13447}-\\x{13455}\\x{1611E}-\\x{1612F}\\x{1E08F}\\x{1E4EC}-\\x{1E4EF}"
     "\\x{1E5EE}-\\x{1E5EF}"},
    {"Lu", "\\x{1C89}\\x{A7CB}-\\x{A7CC}\\x{A7DA}\\x{A7DC}\\x{10D50}-\\x{10D65}"},
    {"Ll", "\\x{1C8A}\\x{A7CD}\\x{A7DB}\\x{10D70}-\\x{10D85}\\x{1DF25}-\\x{1DF2A}"},
};

// `rest` begins behind a backslash. The inside of a class for \p{..} if it has newer characters.
std::string with_newer(std::string_view rest) {
  for (const auto& [property, ranges] : kNewer) {
    const std::string name = "p{" + std::string(property) + "}";
    if (rest.starts_with(name)) return "\\" + name + std::string(ranges);
  }
  return "";
}

std::string word_class() {
  return with_newer("p{L}") + with_newer("p{M}") + with_newer("p{Nd}") +
         "\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}";
}

struct CharacterClass {
  std::string inside;  // of brackets
  bool negated = false;
};

// The characters that \s and the like stand for. None if both engines mean the same, or if a
// negation cannot be written within a class.
std::optional<CharacterClass> class_of_escape(char letter, bool in_class) {
  switch (letter) {
    case 's':
      return CharacterClass{std::string(kSpace)};
    case 'S':
      return in_class ? CharacterClass{std::string(kNotSpace)}
                      : CharacterClass{std::string(kSpace), true};
    case 'w':
      return CharacterClass{word_class()};
    case 'd':
      return CharacterClass{with_newer("p{Nd}")};
    case 'h':
      return CharacterClass{std::string(kHex)};
    default:
      break;
  }
  const bool is_negation = letter == 'W' || letter == 'D' || letter == 'H';
  if (!is_negation || in_class) return std::nullopt;
  const auto lower = static_cast<char>(letter - 'A' + 'a');
  return CharacterClass{class_of_escape(lower, in_class)->inside, true};
}

// Rewrites the classes whose meaning differs between the two.
std::string to_pcre(std::string_view pattern, std::string_view where) {
  std::string result;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      std::optional<CharacterClass> found = class_of_escape(next, in_class);
      if (const std::string inside = with_newer(pattern.substr(i)); !inside.empty()) {
        found = CharacterClass{inside};
        i = pattern.find('}', i);
      }
      if (!found) {
        result.append(1, c).append(1, next);
      } else if (in_class) {
        result += found->inside;
      } else {
        result.append(found->negated ? "[^" : "[").append(found->inside).append("]");
      }
      continue;
    }
    if (c == '[' && !in_class) {
      in_class = true;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') result += pattern[i++];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') {
        result.append(1, pattern[i]).append("\\]");
        ++i;
        continue;
      }
    } else if (c == '[' && in_class) {
      // [:alpha:] goes on as it is; a class within a class means something else to PCRE2.
      const size_t end = pattern.substr(i).starts_with("[:") ? pattern.find(":]", i) : pattern.npos;
      if (end == pattern.npos) {
        fail(ErrorKind::kUnsupported, "{}: a class within a class in '{}' is not supported", where,
             shorten(pattern, 80));
      }
      result += pattern.substr(i, end + 2 - i);
      i = end + 1;
      continue;
    } else if (c == ']') {
      in_class = false;
    }
    result += pattern[i];
  }
  return result;
}

}  // namespace

struct Regex::Program {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
  bool jit = false;

  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    pcre2_code_free(code);
    pcre2_match_context_free(context);
  }
};

Regex::Regex(std::string_view pattern, std::string_view where) {
  if (pattern.size() > kLongestPattern) {
    fail(ErrorKind::kUnsupported, "{}: a pattern of {} bytes; at most {} are taken", where,
         pattern.size(), kLongestPattern);
  }
  if (pattern.find("&&") != std::string_view::npos) {
    fail(ErrorKind::kUnsupported, "{}: intersections of classes (&&) in '{}' are not supported",
         where, shorten(pattern, 80));
  }
  const std::string translated = to_pcre(pattern, where);
  auto program = std::make_shared<Program>();
  auto* compile_context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(compile_context, PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE at = 0;
  program->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                &error, &at, compile_context);
  pcre2_compile_context_free(compile_context);
  if (program->code == nullptr) {
    std::array<PCRE2_UCHAR, 160> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    fail(ErrorKind::kBadFile, "{}: the pattern '{}' cannot be read near its byte {}: {}", where,
         shorten(pattern, 80), at, reinterpret_cast<const char*>(message.data()));
  }
  program->jit = pcre2_jit_compile(program->code, PCRE2_JIT_COMPLETE) == 0;
  program->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(program->context, kMatchLimit);
  pcre2_set_depth_limit(program->context, kDepthLimit);
  program_ = std::move(program);
}

Regex Regex::literal(std::string_view text, std::string_view where) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}-#&~ ").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return Regex(pattern, where);
}

struct RegexMatcher::Scratch {
  explicit Scratch(const Regex::Program& program)
      : data(pcre2_match_data_create_from_pattern(program.code, nullptr)),
        context(pcre2_match_context_copy(program.context)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    if (stack != nullptr) pcre2_jit_stack_free(stack);
  }
  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack = nullptr;  // made when PCRE2's own 32 KiB do not suffice
};

RegexMatcher::RegexMatcher(const Regex& regex)
    : program_(*regex.program_), scratch_(std::make_unique<Scratch>(program_)) {}

RegexMatcher::~RegexMatcher() = default;

int RegexMatcher::match(std::string_view text, size_t at) {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  if (!program_.jit) {
    return pcre2_match(program_.code, subject, text.size(), at, PCRE2_NO_UTF_CHECK, scratch_->data,
                       scratch_->context);
  }
  const auto run = [&] {
    return pcre2_jit_match(program_.code, subject, text.size(), at, 0, scratch_->data,
                           scratch_->context);
  };
  const int result = run();
  if (result != PCRE2_ERROR_JIT_STACKLIMIT || scratch_->stack != nullptr) return result;
  scratch_->stack = pcre2_jit_stack_create(kJitStackFirst, kJitStackMost, nullptr);
  pcre2_jit_stack_assign(scratch_->context, nullptr, scratch_->stack);
  return run();
}

const std::vector<ByteSpan>& RegexMatcher::find_all(std::string_view text) {
  found_.clear();
  size_t at = 0;
  while (at <= text.size() && !text.empty()) {
    const int result = match(text, at);
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) {
      fail(
          ErrorKind::kUnsupported,
          "a split pattern of the tokenizer takes too many steps at byte {} of {} (PCRE2 error {})",
          at, text.size(), result);
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch_->data);
    const size_t begin = ends[0];
    const size_t end = ends[1];
    if (end > begin) {
      found_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      at = end;
      continue;
    }
    // \K in a look-around may end before it begins; an empty match right after another is none.
    if (end == begin && (found_.empty() || found_.back().end != begin)) {
      found_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(begin)});
    }
    if (begin >= text.size()) break;
    at = std::max(begin, at);
    at += character_at(text, at).bytes;
  }
  return found_;
}

}  // namespace fovea
