#include "fovea/explain/column_mass.h"

#include <fmt/format.h>

#include "fovea/explain/method.h"

namespace fovea {

Method column_mass_method();

namespace {

std::vector<std::string> column_notes(const AttentionRecord& record, ColumnTotal total,
                                      int64_t window) {
  std::vector<std::string> notes;
  const int64_t rows = record.shape().rows;
  if (window > 0 && window < rows) {
    notes.push_back(fmt::format("only the last {} of {} positions look", window, rows));
  }
  if (total == ColumnTotal::kSum && record.rule.mask.ahead == 0) {
    const std::vector<int64_t> looks = looks_allowed(record, window);
    notes.push_back(
        fmt::format("sums favour early positions: {} rows may see the first, {} the last",
                    looks.front(), looks.back()));
  }
  return notes;
}

Explanation explain_column_mass(const ExplainRequest& request) {
  const Method method = column_mass_method();
  const std::string over = choice_parameter(method, request, "over");
  const int64_t window = whole_parameter(method, request, "window");
  const ColumnTotal total = over == "sum" ? ColumnTotal::kSum : ColumnTotal::kMean;
  const auto record = layer_asked(request);
  return {.axis = columns_of(request.run, request.kind),
          .scores = column_mass(record, request.head, total, window),
          .layer = record->site.layer,
          .measures = fmt::format("attention received, {} of rows", over),
          .notes = column_notes(*record, total, window)};
}

}  // namespace

Method column_mass_method() {
  return {.name = "column-mass",
          .summary = "how much attention each position receives in one layer, from all rows",
          .answers =
              "Which positions does everybody look at, so that a cache should keep them? The mean "
              "is over the rows that may see a position. The sum favours early tokens in causal "
              "models, as more rows see them. Much of it lies on sinks, which carry little.",
          .cost = "N^2 d for each head, memory N d",
          .needs = {},
          .parameters = {{.name = "over",
                          .help = "mean over the rows that may see a position, or their sum (H2O)",
                          .otherwise = "mean",
                          .choices = {"mean", "sum"}},
                         {.name = "window",
                          .help = "only the last so many rows look (SnapKV); 0: all",
                          .otherwise = "0",
                          .least = 0,
                          .most = 16777216}},
          .takes_layer = true,
          .takes_head = true,
          .explain = explain_column_mass};
}

}  // namespace fovea
