#include "fovea/figure/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

constexpr int64_t kMostRanksAcross = 6;  // of several lists; more are a block for each

std::string rank_weight_text(double weight) {
  return weight >= 0.01 ? fmt::format("{:.2f}", weight) : fmt::format("{:.1g}", weight);
}

std::string times_text(double times) {
  if (times <= 0) return "0";
  const double factor = std::max(times, 1 / times);
  const std::string shown = fmt::format(fmt::runtime(factor < 10 ? "{:.2g}" : "{:.0f}"), factor);
  return shown == "1" ? "even" : (times > 1 ? "×" : "÷") + shown;
}

std::string numbered_text(const NamedPosition& position) {
  return fmt::format("{} {}", position.index, position.name);
}

TableTone tone_of(const RankedWeight& weight) {
  return weight.special ? TableTone::kMuted : TableTone::kPlain;
}

// One below the other, with a bar for each.
void add_block(TableFigure& table, const TopList& list, bool headed, double largest) {
  for (const RankedWeight& weight : list.weights) {
    TableRow row{.label = numbered_text(weight.position),
                 .cells = {{.text = times_text(weight.times_even), .tone = tone_of(weight)},
                           {.text = rank_weight_text(weight.weight),
                            .tone = tone_of(weight),
                            .share = largest > 0 ? weight.weight / largest : 0}}};
    if (headed && &weight == &list.weights.front()) row.group = numbered_text(list.position);
    table.rows.push_back(std::move(row));
  }
}

// A line for each list, ranks across.
void add_line(TableFigure& table, const TopList& list) {
  TableRow row{.label = numbered_text(list.position)};
  for (const RankedWeight& weight : list.weights) {
    row.cells.push_back(
        {.text = fmt::format("{} {} {}", weight.position.name, rank_weight_text(weight.weight),
                             times_text(weight.times_even)),
         .tone = tone_of(weight)});
  }
  table.rows.push_back(std::move(row));
}

TableFigure table_of(std::span<const TopList> lists, bool column, int64_t count) {
  TableFigure table{.label_name = column ? "attends" : "attended to"};
  double largest = 0;
  for (const TopList& list : lists) {
    for (const RankedWeight& weight : list.weights) largest = std::max(largest, weight.weight);
  }
  if (lists.size() == 1 || count > kMostRanksAcross) {
    table.columns = {{.name = "times even"}, {.name = "weight"}};
    for (const TopList& list : lists) add_block(table, list, lists.size() > 1, largest);
    return table;
  }
  table.label_name = "row";
  for (int64_t rank = 1; rank <= count; ++rank) {
    table.columns.push_back({.name = fmt::format("{}", rank), .words = true});
  }
  for (const TopList& list : lists) add_line(table, list);
  return table;
}

// Names of the whole axis, in tokens or words.
class SideNames {
 public:
  SideNames(const Side& side, bool words) : axis_(grouped_axis(*side.axis, side.all)) {
    if (words) {
      for (int64_t i = 0; i < std::ssize(axis_.positions); ++i) {
        axis_.positions[static_cast<size_t>(i)].text = plain_label(axis_, i);
      }
    }
    labels_ = numbered_labels(axis_);
  }

  NamedPosition name(int64_t index) const { return {index, labels_[static_cast<size_t>(index)]}; }
  RankedWeight ranked(const TopWeight& top, int64_t first) const {
    const int64_t index = first + top.index;
    return {name(index), top.weight, top.times_even,
            axis_.positions[static_cast<size_t>(index)].special};
  }

 private:
  Axis axis_;
  std::vector<std::string> labels_;
};

}  // namespace

double TopList::sum() const {
  double sum = 0;
  for (const RankedWeight& weight : weights) sum += weight.weight;
  return sum;
}

TopLists top_view(const Run& run, const ViewChoice& choice, int64_t count) {
  if (choice.column && !choice.token) {
    fail(ErrorKind::kInvalidArgument, Field{"column"},
         "it lists who attends to a token, but no token is chosen; choose one");
  }
  const RecordPointer record = chosen_record(run, choice);
  const HeadChoice head = single_map(choice.head, *record);
  const Side all_rows = make_side(run, record->row_axis, choice.words);
  const Side all_cols = make_side(run, record->col_axis, choice.words);
  const MapPart part = map_part(choice, all_rows, all_cols);
  Frame frame{.record = record,
              .rows = make_side(run, record->row_axis, choice.words, 1, part.rows),
              .cols = make_side(run, record->col_axis, choice.words, 1, part.cols)};
  const SideNames rows(frame.rows, choice.words), cols(frame.cols, choice.words);
  const std::string note = frame.note(choice.words);
  TopLists lists;
  const auto add = [&](NamedPosition of, const std::vector<TopWeight>& top, const SideNames& names,
                       const Side& side) {
    TopList list{.position = std::move(of)};
    for (const TopWeight& each : top) list.weights.push_back(names.ranked(each, side.part.begin));
    lists.lists.push_back(std::move(list));
  };
  const int64_t listed = frame.rows.size();
  FoundToken found;
  if (choice.token) {
    const Side& side = choice.column ? frame.cols : frame.rows;
    found = token_named(side, choice);
    const PositionGroup group = side.all[static_cast<size_t>(found.index)];
    if (choice.column) {
      add(cols.name(found.index), top_of_column(record, head, frame.rows.groups, group, count),
          rows, frame.rows);
    } else {
      add(rows.name(found.index), top_of_rows(record, head, {group}, frame.cols.groups, count)[0],
          cols, frame.cols);
    }
  } else {
    std::vector<PositionGroup>& groups = frame.rows.groups;
    if (!choice.exact && groups.size() > kMostLists) groups.resize(kMostLists);
    const auto tops = top_of_rows(record, head, groups, frame.cols.groups, count);
    for (size_t i = 0; i < tops.size(); ++i) {
      add(rows.name(frame.rows.part.begin + static_cast<int64_t>(i)), tops[i], cols, frame.cols);
    }
  }
  const std::span<const TopList> shown =
      std::span(lists.lists).first(std::min(lists.lists.size(), kMostLists));
  lists.figure = table_of(shown, choice.column, count);
  std::vector<double> sums;
  for (const TopList& list : shown) sums.push_back(list.sum());
  const std::string place =
      fmt::format("layer {}, {}", record->site.layer, heads_text(head, record->shape().heads));
  const TopList& first = lists.lists.front();
  const std::string what =
      !choice.token ? fmt::format("Rows, and the {} that each attends to most", count)
      : choice.column
          ? fmt::format("Column {} \"{}\" ← the {} that attend to it most", first.position.index,
                        first.position.name, first.weights.size())
          : fmt::format("Row {} \"{}\" → the {} that it attends to most", first.position.index,
                        first.position.name, first.weights.size());
  lists.figure.text.title = title_of(run, record->site.kind, place);
  lists.figure.text.caption = fmt::format(
      "{} · {} · softmax weight, and how many times what even attention gives · together {}{}{}{}",
      what, place, sum_text(sums), note, found.note.empty() ? "" : " · " + found.note,
      std::ssize(shown) < listed && !choice.token
          ? fmt::format(" · the first {} of {} rows", shown.size(), listed)
          : "");
  lists.figure.text.metadata = metadata_of(run, frame, head, {});
  if (choice.token) lists.figure.text.metadata.set(choice.column ? "column" : "row", found.index);
  return lists;
}

}  // namespace fovea
