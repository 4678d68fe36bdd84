#include "fovea/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, lower, lower);
}

// Letters to insert, remove, replace or swap with their neighbour (Damerau 1964), in bytes.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last.back();
}

}  // namespace

std::optional<std::string> closest(std::string_view word, std::span<const std::string> known) {
  constexpr size_t kLongestWord = 64;  // nobody mistypes more, and the search stays quick
  constexpr size_t kLeastBeginning = 3;
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    // A word that is not finished is near, however long the rest.
    const bool unfinished = word.size() >= kLeastBeginning && begins_with(candidate, word);
    const size_t distance = unfinished ? 1 : edit_distance(word, candidate);
    // A word that shares no letter is no suggestion, however short both are.
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const auto best = closest(word, known);
  return best ? fmt::format(" (did you mean '{}'?)", *best) : "";
}

}  // namespace fovea
