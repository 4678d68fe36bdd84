#include "fovea/figure/shown_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/renormalised.h"
#include "fovea/base/error.h"
#include "fovea/explain/column_mass.h"

namespace fovea {
namespace {

bool hides(const ViewChoice& choice) {
  return choice.hide_sinks || choice.hide_special;
}

// The largest or smallest weights of several heads are no shares of anything.
bool has_shares(HeadChoice head) {
  return head.kind != HeadChoice::Kind::kMax && head.kind != HeadChoice::Kind::kMin;
}

// Of a score there is no share that a column could take.
bool counts_weights(MapValue of) {
  return of != MapValue::kScore;
}

void check_hiding(HeadChoice head, MapValue of, const ViewChoice& choice) {
  if (!hides(choice)) return;
  const Field field{choice.hide_sinks ? "hide_sinks" : "hide_special"};
  if (!has_shares(head)) {
    fail(ErrorKind::kUnsupported, field,
         "what columns take of the largest or smallest over heads is no share; choose a head or "
         "the mean");
  }
  if (!counts_weights(of)) {
    fail(ErrorKind::kUnsupported, field,
         "scores before softmax take no share of a row; show weights or times even");
  }
}

std::vector<double> sums_of_columns(const RecordPointer& record, HeadChoice head) {
  const auto one = head.kind == HeadChoice::Kind::kOne ? std::optional(head.head) : std::nullopt;
  return column_mass(record, one, ColumnTotal::kSum);
}

void set_shares(std::vector<GreyColumn>& columns, const std::vector<double>& sums) {
  double all = 0;
  for (const double sum : sums) all += sum;
  for (GreyColumn& each : columns) {
    each.share = all > 0 ? sums[static_cast<size_t>(each.column)] / all : 0;
  }
}

}  // namespace

void refuse_all_hidden(const std::vector<PositionGroup>& shown,
                       const std::vector<int64_t>& hidden) {
  for (const PositionGroup& group : shown) {
    for (int64_t position = group.begin; position < group.end; ++position) {
      if (!std::ranges::binary_search(hidden, position)) return;
    }
  }
  fail(ErrorKind::kInvalidArgument,
       "all columns that would be shown are hidden; show some of them");
}

ShownMap shown_map(const Frame& frame, HeadChoice head, const ViewChoice& choice, bool is_long,
                   SurveyDistances distances) {
  check_hiding(head, frame.of, choice);
  if (frame.record->shape().heads == 1) head = {HeadChoice::Kind::kOne, 0};
  ShownMap shown{.record = frame.record};
  Frame own = frame;
  const bool survey = is_long && frame.can_survey(head, choice.words);
  if (survey) {
    shown.survey = survey_map(frame.record, head.head, frame.block, distances);
    shown.column_sums = shown.survey->column_sums;
  } else if ((is_long || hides(choice)) && has_shares(head) && counts_weights(frame.of)) {
    shown.column_sums = sums_of_columns(frame.record, head);
  }
  if (!shown.column_sums.empty()) {
    // What counts from even attention is told apart; weights stay where they are.
    const bool apart = is_long && frame.of == MapValue::kTimesEven;
    shown.grey = grey_columns(*frame.record, *frame.cols.axis, shown.column_sums, choice,
                              apart ? kMostSinks : 0);
  }
  std::vector<int64_t> left_out = columns_of(shown.grey.apart);
  const std::vector<int64_t> hidden = columns_of(shown.grey.hidden);
  refuse_all_hidden(frame.cols.groups, hidden);
  if (choice.renormalise && !hidden.empty()) {
    shown.record = renormalised(frame.record, head, hidden);
    if (survey) shown.survey = survey_map(shown.record, head.head, frame.block, distances);
    shown.column_sums = survey ? shown.survey->column_sums : sums_of_columns(shown.record, head);
    set_shares(shown.grey.apart, shown.column_sums);
    own.record = shown.record;
  } else {
    left_out.insert(left_out.end(), hidden.begin(), hidden.end());
  }
  if (survey) {
    take_out(*shown.survey, shown.record, head.head, left_out);
    shown.map = map_of(*shown.survey, frame.merge, frame.of);
  } else {
    own.left_out = left_out;
    shown.map = own.map(head);
  }
  return shown;
}

std::vector<float> column_by_rows(const ShownMap& shown, HeadChoice head, int64_t column,
                                  const std::vector<PositionGroup>& rows) {
  const std::vector<double> weights = line_of(shown.record, column, head, /*column=*/true);
  std::vector<float> means;
  for (const PositionGroup& group : rows) {
    double sum = 0;
    for (int64_t row = group.begin; row < group.end; ++row) sum += weights[size_t(row)];
    means.push_back(static_cast<float>(sum / static_cast<double>(group.size())));
  }
  return means;
}

std::vector<int64_t> hidden_columns(const Run& run, const std::vector<RecordPointer>& records,
                                    const std::vector<HeadChoice>& heads,
                                    const ViewChoice& choice) {
  std::set<int64_t> hidden;
  if (!hides(choice)) return {};
  for (const RecordPointer& record : records) {
    const Axis& cols = *run.find_axis(record->col_axis);
    for (const HeadChoice& head : heads) {
      check_hiding(head, MapValue::kWeight, choice);
      const GreyColumns grey =
          grey_columns(*record, cols, sums_of_columns(record, head), choice, 0);
      for (const GreyColumn& each : grey.hidden) hidden.insert(each.column);
    }
  }
  return {hidden.begin(), hidden.end()};
}

std::string grey_note(const GreyColumns& grey, const ViewChoice& choice) {
  std::string note;
  if (!grey.apart.empty()) note += " · drawn apart in grey: " + grey_text(grey.apart);
  if (!grey.hidden.empty()) note += " · hidden: " + grey_text(grey.hidden);
  if (!grey.hidden.empty() && choice.renormalise) note += " · rows divided by the rest";
  if (hides(choice) && grey.hidden.empty()) note += " · nothing to hide";
  return note;
}

void set_grey(Json& metadata, const GreyColumns& grey) {
  const auto set = [&](const char* name, const std::vector<GreyColumn>& columns) {
    if (columns.empty()) return;
    Json list = Json::array();
    for (const GreyColumn& each : columns) {
      list.push_back(Json::object({{"column", each.column}, {"share", each.share}}));
    }
    metadata.set(name, std::move(list));
  };
  set("apart", grey.apart);
  set("hidden", grey.hidden);
}

std::string hidden_badge(double share, const ViewChoice& choice) {
  return percent_text(share) + " hidden" + (choice.renormalise ? ", rows divided by the rest" : "");
}

}  // namespace fovea
