// Word alignments: which source word goes with which target word. Read and written in the form of
// Moses, "0-0 1-2", one sentence per line.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Words count from 0.
struct Link {
  int64_t source = 0;
  int64_t target = 0;

  auto operator<=>(const Link&) const = default;
};

// The links of one sentence pair, sorted by source and then target, each once.
using Alignment = std::vector<Link>;

// Sorts links into that order.
Alignment sorted_links(std::vector<Link> links);
// Exchanges source and target: the alignment of the opposite direction.
Alignment transposed(const Alignment& links);

// What annotators say: links that must be there, and those that may be. Every sure link is
// possible too.
struct GoldAlignment {
  Alignment sure;
  Alignment possible;
};

// How a file counts and which word it writes first.
struct LinkFormat {
  int64_t base = 0;       // number of the first word, 0 or 1
  bool reversed = false;  // target-source instead of source-target
};

// "0-0 1-2", without a line end.
std::string to_moses(const Alignment& links);

// One line of i-j. Throws Error{kBadFile} that begins with `where` on anything else.
Alignment parse_alignment(std::string_view line, LinkFormat format, std::string_view where);
// One line of i-j (sure) and ipj (possible).
GoldAlignment parse_gold_alignment(std::string_view line, LinkFormat format,
                                   std::string_view where);

// Whole files, one sentence per line; an empty line is a sentence without links. Throw as above,
// with file and line number, and as read_text_file() does.
std::vector<Alignment> read_alignments(const std::filesystem::path& path, LinkFormat format = {});
std::vector<GoldAlignment> read_gold_alignments(const std::filesystem::path& path,
                                                LinkFormat format = {.base = 1});

}  // namespace fovea
