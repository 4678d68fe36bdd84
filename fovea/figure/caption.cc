#include "fovea/figure/caption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"

namespace fovea {

std::string count_text(int64_t count) {
  std::string text = std::to_string(count);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string title_of(const Run& run, SiteKind kind, std::string_view rest) {
  std::filesystem::path path(run.model);
  if (!path.has_filename()) path = path.parent_path();
  const std::string model = to_one_line(path.filename().string());
  return fmt::format("{} · {} · {}", model.empty() ? "captured run" : model, name_of(kind), rest);
}

std::string model_note(const Run& run) {
  return run.model_note.empty() ? "" : " · " + to_one_line(run.model_note);
}

std::string heads_text(HeadChoice head, int64_t heads) {
  switch (head.kind) {
    case HeadChoice::Kind::kOne:
      return fmt::format("head {}", head.head);
    case HeadChoice::Kind::kMean:
      return heads == 1 ? "head 0" : fmt::format("mean of {} heads", heads);
    case HeadChoice::Kind::kMax:
      return heads == 1 ? "head 0" : fmt::format("max of {} heads", heads);
    case HeadChoice::Kind::kMin:
      return heads == 1 ? "head 0" : fmt::format("min of {} heads", heads);
    case HeadChoice::Kind::kSome:
      return fmt::format("heads {}", fmt::join(head.some, ", "));
    case HeadChoice::Kind::kAll:
      break;
  }
  return fmt::format("{} head{}", heads, heads == 1 ? "" : "s");
}

std::string sum_text(std::span<const double> sums) {
  if (sums.empty()) return "0.00";
  const auto [low, high] = std::ranges::minmax_element(sums);
  const std::string least = fmt::format("{:.2f}", *low);
  const std::string most = fmt::format("{:.2f}", *high);
  return least == most ? most : least + " to " + most;
}

std::string row_sums_text(std::span<const double> sums) {
  const std::string text = sum_text(sums);
  return (text.find(' ') == std::string::npos ? "each row sums to " : "rows sum to ") + text;
}

std::string token_text(const Axis& axis, int64_t index, bool column) {
  const std::string label = to_one_line(plain_label(axis, index));
  return column ? fmt::format("Column {} \"{}\" ← who attends to it", index, label)
                : fmt::format("Row {} \"{}\" → what it attends to", index, label);
}

std::string matrix_caption(std::string_view place, std::span<const double> row_sums) {
  return fmt::format("Rows attend to columns · {} · softmax weight · {}", place,
                     row_sums_text(row_sums));
}

std::string matrix_caption(std::string_view place, std::string_view value) {
  return fmt::format("Rows attend to columns · {} · {}", place, value);
}

std::string token_caption(std::string_view token, std::string_view place, std::string_view value) {
  return fmt::format("{} · {} · {}", token, place, value);
}

std::string token_caption(std::string_view token, std::string_view place,
                          std::span<const double> sums) {
  return fmt::format("{} · {} · softmax weight · sum {}", token, place, sum_text(sums));
}

}  // namespace fovea
