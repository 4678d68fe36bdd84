// Where a token and the one after it look in different ways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/capture/words.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

constexpr double kUsualColumns = 5;

Answer answer_differ(const Question& question, const FinishedRun& run) {
  ViewChoice choice = view_choice(question);
  choice.exact = true;
  const RecordPointer record = chosen_record(run.run(), choice);
  const HeadChoice head = single_map(choice.head, *record);
  const Axis& rows = *run.run().find_axis(record->row_axis);
  const Axis& cols = *run.run().find_axis(record->col_axis);
  const int64_t count = record->shape().rows;
  if (count < 2) {
    fail(ErrorKind::kInvalidArgument, "there is one row, so no row comes after it");
  }
  const int64_t row = choice.token ? token_named(rows, *choice.token).index : count - 2;
  if (row + 1 >= count) {
    fail(ErrorKind::kInvalidArgument, Field{"token"}, "'{}' is the last token, which none follows",
         rows.positions[static_cast<size_t>(row)].text);
  }
  const Frame frame{.record = record,
                    .rows = {.axis = &rows, .groups = {{row, row + 1}, {row + 1, row + 2}}},
                    .cols = make_side(run.run(), record->col_axis, /*words=*/false)};
  const MergedMap map = frame.map(head);
  const MatrixView<const float> weights = map.weights.matrix<float>();
  const auto weight = [&](int64_t r, int64_t c) {  // what a mask hides gets nothing
    return std::isnan(weights(r, c)) ? 0.0 : double{weights(r, c)};
  };
  std::vector<int64_t> order(static_cast<size_t>(weights.cols));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](int64_t c) { return std::abs(weight(1, c) - weight(0, c)); });
  const auto most = static_cast<size_t>(question.number("most").value_or(kUsualColumns));
  order.resize(std::min(order.size(), most));

  TableFigure table;
  const auto label = [](const Axis& axis, int64_t index) {
    if (are_numbers(axis, {})) return std::to_string(index);
    return fmt::format("{} {}", index, axis.positions[static_cast<size_t>(index)].text);
  };
  table.label_name = "column";
  table.columns = {{.name = label(rows, row)}, {.name = label(rows, row + 1)}, {.name = "change"}};
  Json columns = Json::array();
  for (const int64_t c : order) {
    const double change = weight(1, c) - weight(0, c);
    table.rows.push_back(
        {.label = label(cols, c),
         .cells = {{.text = fmt::format("{:.3f}", weight(0, c))},
                   {.text = fmt::format("{:.3f}", weight(1, c))},
                   {.text = fmt::format("{:+.3f}", change), .share = std::abs(change)}}});
    columns.push_back(Json::object({{"column", c},
                                    {"weight", weight(0, c)},
                                    {"next_weight", weight(1, c)},
                                    {"change", change}}));
  }
  const std::string place =
      fmt::format("layer {}, {}", record->site.layer, heads_text(head, record->shape().heads));
  table.text.title = title_of(run.run(), record->site.kind, place);
  table.text.caption =
      fmt::format("The {} columns in which rows {} and {} differ most · {} · softmax weight · {}",
                  order.size(), row, row + 1, place, row_sums_text(map.row_sums));
  table.text.metadata = metadata_of(run.run(), frame, head, {});
  Answer answer = map_answer(std::move(table), question, run, head);
  answer.facts.set("result", Json::object({{"row", row}, {"columns", std::move(columns)}}));
  return answer;
}

}  // namespace

QuestionKind differ_question() {
  return {.name = "differ",
          .summary = "the columns in which a token and the next one differ most",
          .fields = {site_field(),
                     layer_field(),
                     head_field(),
                     token_field(),
                     {.name = "most",
                      .shown = "N",
                      .help = "how many columns",
                      .type = FieldType::kInteger,
                      .low = 1,
                      .otherwise = "5"}},
          .verbs = {"text", "translate", "open"},
          .has_maps = false,
          .has_page = false,
          .answer = answer_differ};
}

}  // namespace fovea
