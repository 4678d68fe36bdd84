#include "fovea/ask/head_kinds.h"

#include <map>
#include <string_view>
#include <vector>

#include "fovea/engine/position_kinds.h"
#include "fovea/explain/corpus_statistics.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

// Equal tokens have equal texts.
std::vector<int64_t> ids_by_text(const Axis& axis) {
  std::map<std::string_view, int64_t> ids;
  std::vector<int64_t> result;
  for (const Position& position : axis.positions) {
    result.push_back(ids.emplace(position.text, std::ssize(ids)).first->second);
  }
  return result;
}

}  // namespace

void name_head_kinds(HeadsFigure& figure, const Run& run, const ViewChoice& choice) {
  const std::vector<RecordPointer> records =
      choice.all_layers ? records_of(run, chosen_kind(run, choice))
                        : std::vector<RecordPointer>{chosen_record(run, choice)};
  const AttentionRecord& first = *records.front();
  const Axis& axis = *run.find_axis(first.row_axis);
  if (first.row_axis != first.col_axis || axis.grid_rows > 0 || !first.has_queries()) return;
  const PositionKinds kinds = text_kinds(axis, ids_by_text(axis), /*padding_id=*/-1);
  const auto layers = records.size();
  const std::vector<HeadChoice> heads = maps_meant(choice.head, first);
  for (size_t layer = 0; layer < layers; ++layer) {
    const std::vector<HeadSums> sums = sums_of(*records[layer], kinds, kinds);
    // An overview of several layers has them across.
    for (size_t i = 0; i < heads.size(); ++i) {
      if (heads[i].kind != HeadChoice::Kind::kOne) continue;
      const HeadSums& head = sums[static_cast<size_t>(heads[i].head)];
      figure.panels[i * layers + layer].kind = head_type(numbers_of(head));
    }
  }
}

}  // namespace fovea
