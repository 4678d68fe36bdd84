#include "fovea/cli/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

constexpr int kFactColumns = 8;

std::string run_fact(std::string_view name, const std::string& value, const Terminal& terminal) {
  const std::string lines = wrapped(value, terminal.width - kFactColumns);
  std::string text = terminal.dim(padded_right(name, kFactColumns));
  for (const char letter : lines) {
    text += letter;
    if (letter == '\n') text += repeated(" ", kFactColumns);
  }
  return text + "\n";
}

std::string input_text(const Axis& axis, int columns) {
  if (axis.grid_rows > 0)
    return fmt::format("a picture of {} x {}", axis.grid_rows, axis.grid_cols);
  return "\"" + isolated(shorten(printable(axis.source), columns - 2)) + "\"";
}

std::string axis_text(const Axis& axis) {
  const auto special = std::ranges::count_if(axis.positions, &Position::special);
  std::string text = fmt::format("{} {}", axis.positions.size(), printable(axis.name));
  if (special > 0) text += fmt::format(" ({} special)", special);
  return text;
}

// "self-attention, layers 0 to 5, 12 heads".
std::string sites_text(SiteKind kind, const std::vector<const AttentionRecord*>& records) {
  const auto [first, last] = std::ranges::minmax(
      records, {}, [](const AttentionRecord* record) { return record->site.layer; });
  const int64_t heads = records.front()->shape().heads;
  const bool alike = std::ranges::all_of(
      records, [heads](const AttentionRecord* record) { return record->shape().heads == heads; });
  return fmt::format("{}: {}{}", name_of(kind),
                     first == last ? fmt::format("layer {}", first->site.layer)
                                   : fmt::format("{} layers, {} to {}", records.size(),
                                                 first->site.layer, last->site.layer),
                     alike ? ", " + heads_text({}, heads) : "");
}

}  // namespace

std::string run_summary(const Run& run, const Terminal& terminal) {
  std::string text;
  const bool array = !run.records.empty() && !run.records.front()->has_queries();
  text += run_fact(array && run.model_hash.empty() ? "array" : "model",
                   printable(run.model.empty() ? "not named" : run.model) +
                       (run.model_hash.empty()
                            ? ""
                            : " · " + printable(std::string_view(run.model_hash).substr(0, 12))),
                   terminal);
  for (const Axis& axis : run.axes) {
    if (axis.source.empty() && axis.grid_rows == 0) continue;
    if (axis.name == "steps") continue;  // the rows of a generation: the same text again
    text +=
        run_fact(run.axes.size() == 1 ? "input" : shorten(printable(axis.name), kFactColumns - 1),
                 input_text(axis, terminal.width - kFactColumns), terminal);
  }
  std::string axes;
  for (const Axis& axis : run.axes) axes += (axes.empty() ? "" : " · ") + axis_text(axis);
  text += run_fact("axes", axes, terminal);
  std::map<SiteKind, std::vector<const AttentionRecord*>> sites;
  for (const auto& record : run.records) sites[record->site.kind].push_back(record.get());
  bool first = true;
  for (const auto& [kind, records] : sites) {
    text += run_fact(first ? "maps" : "", sites_text(kind, records), terminal);
    first = false;
  }
  return text;
}

}  // namespace fovea
