#include "fovea/explain/alignment/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

// Far beyond any sentence, and small enough to add to.
constexpr int64_t kLargestWord = 1'000'000;
constexpr size_t kShownBytes = 40;
constexpr std::string_view kTokenBlanks = " \t\r";

struct ReadLink {
  Link link;
  bool possible = false;  // ipj
};

[[noreturn]] void fail_token(std::string_view where, std::string_view token,
                             std::string_view problem) {
  const bool cut = token.size() > kShownBytes;
  fail(ErrorKind::kBadFile, "{}: '{}{}' {}", where, token.substr(0, kShownBytes), cut ? "…" : "",
       problem);
}

// The number that `text` begins with, which is removed; none if it does not begin with a digit.
std::optional<int64_t> take_number(std::string_view& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc() ? number : kLargestWord + 1;
}

ReadLink parse_link(std::string_view token, LinkFormat format, std::string_view where) {
  std::string_view rest = token;
  const auto first = take_number(rest);
  const char sign = rest.empty() ? '\0' : rest.front();
  rest.remove_prefix(std::min<size_t>(rest.size(), 1));
  const auto second = take_number(rest);
  if (!first || !second || !rest.empty() || (sign != '-' && sign != 'p')) {
    fail_token(where, token,
               "is no link; links are i-j (gold also ipj) with spaces between them, as in 0-0 1-2");
  }
  if (std::max(*first, *second) > kLargestWord) {
    fail_token(where, token,
               fmt::format("names a word above {}, and no sentence is that long; check the file",
                           kLargestWord));
  }
  if (std::min(*first, *second) < format.base) {
    fail_token(where, token,
               fmt::format("counts words from 0 but the file is read as counting from {}; "
                           "say that its base is 0",
                           format.base));
  }
  Link link{*first - format.base, *second - format.base};
  if (format.reversed) std::swap(link.source, link.target);
  return {link, sign == 'p'};
}

template <typename Take>
void for_each_link(std::string_view line, LinkFormat format, std::string_view where,
                   const Take& take) {
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kTokenBlanks), line.size()));
    if (line.empty()) return;
    const std::string_view token = line.substr(0, line.find_first_of(kTokenBlanks));
    take(token, parse_link(token, format, where));
    line.remove_prefix(token.size());
  }
}

// parse(line, where) of every line.
template <typename Sentence, typename Parse>
std::vector<Sentence> read_lines(const std::filesystem::path& path, const Parse& parse) {
  const std::string text = read_text_file(path);
  std::vector<Sentence> sentences;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string where = fmt::format("{}, line {}", path.string(), sentences.size() + 1);
    sentences.push_back(parse(rest.substr(0, end), where));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sentences;
}

void check_base(LinkFormat format) {
  if (format.base == 0 || format.base == 1) return;
  fail(ErrorKind::kInvalidArgument, "words cannot count from {}; the base is 0 or 1", format.base);
}

}  // namespace

Alignment sorted_links(std::vector<Link> links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

Alignment transposed(const Alignment& links) {
  std::vector<Link> exchanged;
  exchanged.reserve(links.size());
  for (const Link& link : links) exchanged.push_back({link.target, link.source});
  return sorted_links(std::move(exchanged));
}

std::string to_moses(const Alignment& links) {
  std::string text;
  for (const Link& link : links) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", link.source, link.target);
  }
  return text;
}

Alignment parse_alignment(std::string_view line, LinkFormat format, std::string_view where) {
  check_base(format);
  std::vector<Link> links;
  for_each_link(line, format, where, [&](std::string_view token, const ReadLink& read) {
    if (read.possible) {
      fail_token(where, token,
                 "is a possible link, which only gold files have; write it as i-j or leave it out");
    }
    links.push_back(read.link);
  });
  return sorted_links(std::move(links));
}

GoldAlignment parse_gold_alignment(std::string_view line, LinkFormat format,
                                   std::string_view where) {
  check_base(format);
  std::vector<Link> sure, possible;
  for_each_link(line, format, where, [&](std::string_view, const ReadLink& read) {
    if (!read.possible) sure.push_back(read.link);
    possible.push_back(read.link);
  });
  return {sorted_links(std::move(sure)), sorted_links(std::move(possible))};
}

std::vector<Alignment> read_alignments(const std::filesystem::path& path, LinkFormat format) {
  return read_lines<Alignment>(path, [&](std::string_view line, std::string_view where) {
    return parse_alignment(line, format, where);
  });
}

std::vector<GoldAlignment> read_gold_alignments(const std::filesystem::path& path,
                                                LinkFormat format) {
  return read_lines<GoldAlignment>(path, [&](std::string_view line, std::string_view where) {
    return parse_gold_alignment(line, format, where);
  });
}

}  // namespace fovea
