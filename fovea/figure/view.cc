#include "fovea/figure/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

std::string layer_text(const AttentionRecord& record, HeadChoice head) {
  return fmt::format("layer {}, {}", record.site.layer, heads_text(head, record.shape().heads));
}

std::string note_of(const FoundToken& found) {
  return found.note.empty() ? "" : " · " + found.note;
}

int64_t longest_side(const Run& run, const AttentionRecord& record, bool words) {
  return std::max(make_side(run, record.row_axis, words).size(),
                  make_side(run, record.col_axis, words).size());
}

// Of whole maps: the caption up to what is chosen in them.
std::string maps_caption(const MapDrawing& drawing, const Frame& frame, std::string_view place,
                         std::span<const double> sums, bool words) {
  return (drawing.of == MapValue::kWeight ? matrix_caption(place, sums)
                                          : matrix_caption(place, meaning_of(drawing.of))) +
         frame.note(words);
}

void refuse_column_without_token(const ViewChoice& choice) {
  if (choice.column && !choice.token) {
    fail(ErrorKind::kInvalidArgument,
         "a column shows who attends to a token, but no token is chosen; choose one");
  }
}

}  // namespace

MatrixFigure matrix_view(const Run& run, const ViewChoice& choice) {
  refuse_column_without_token(choice);
  const RecordPointer record = chosen_record(run, choice);
  const HeadChoice head = single_map(choice.head, *record);
  const MapDrawing drawing = map_drawing(choice, longest_side(run, *record, choice.words));
  Frame frame = make_frame(run, record, choice, 1, kMatrixBins);
  frame.of = drawing.of;
  if (frame.block > 1) frame.merge = drawing.merge;
  MatrixFigure figure;
  std::string chosen;
  int64_t chosen_index = 0;
  if (choice.token) {
    const FoundToken found = token_named(choice.column ? frame.cols : frame.rows, choice);
    const Side& side = choice.column ? frame.cols : frame.rows;
    (choice.column ? figure.chosen_col : figure.chosen_row) = side.place_of(found) / frame.block;
    chosen_index = found.index;
    chosen = fmt::format(" · {} {} marked{}", choice.column ? "column" : "row", found.index,
                         note_of(found));
  }
  MergedMap map = frame.map(head);
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  figure.row_place = {frame.rows.part.begin, frame.block};
  figure.col_place = {frame.cols.part.begin, frame.block};
  const auto values = map.weights.values<float>();
  figure.scale = scale_of(drawing, values);
  figure.value_name = value_name(drawing.of);
  figure.text.title = title_of(run, record->site.kind, layer_text(*record, head));
  figure.text.caption =
      maps_caption(drawing, frame, layer_text(*record, head), map.row_sums, choice.words) +
      colors_note(drawing, figure.scale, values) + chosen;
  figure.weights = std::move(map.weights);
  figure.text.metadata = metadata_of(run, frame, head, figure.scale);
  if (choice.token) figure.text.metadata.set(choice.column ? "column" : "row", chosen_index);
  return figure;
}

HeadsFigure heads_view(const Run& run, const ViewChoice& choice) {
  if (choice.token) {
    fail(ErrorKind::kInvalidArgument,
         "small multiples show whole maps, not the one token '{}'; use another view",
         *choice.token);
  }
  const std::vector<RecordPointer> records =
      choice.all_layers ? records_of(run, chosen_kind(run, choice))
                        : std::vector<RecordPointer>{chosen_record(run, choice)};
  const RecordPointer& first = records.front();
  const int64_t heads = first->shape().heads;
  const auto layers = static_cast<int64_t>(records.size());
  const MapDrawing drawing = map_drawing(choice, longest_side(run, *first, choice.words));
  Frame frame = make_frame(run, first, choice, heads * layers, kPanelBins);
  frame.of = drawing.of;
  if (frame.block > 1) frame.merge = drawing.merge;
  HeadsFigure figure;
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  // Beside each other as in a nearly square block; 12 heads are 4 across.
  figure.panels_across =
      layers > 1 ? heads : static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(heads))));
  std::vector<double> sums;
  std::vector<float> all;
  for (const RecordPointer& record : records) {
    if (record->shape().heads != heads || record->row_axis != first->row_axis ||
        record->col_axis != first->col_axis) {
      fail(ErrorKind::kUnsupported, "{} and {} differ in heads or axes; show one layer at a time",
           to_string(first->site), to_string(record->site));
    }
    frame.record = record;
    for (int64_t h = 0; h < heads; ++h) {
      MergedMap map = frame.map({HeadChoice::Kind::kOne, h});
      const auto values = map.weights.values<float>();
      all.insert(all.end(), values.begin(), values.end());
      sums.insert(sums.end(), map.row_sums.begin(), map.row_sums.end());
      figure.panels.push_back({layers > 1 ? fmt::format("layer {} · head {}", record->site.layer, h)
                                          : fmt::format("head {}", h),
                               std::move(map.weights)});
    }
  }
  figure.scale = scale_of(drawing, all);
  figure.value_name = value_name(drawing.of);
  const std::string place = layers > 1
                                ? fmt::format("layers {} to {}, {} each", first->site.layer,
                                              records.back()->site.layer, heads_text({}, heads))
                                : layer_text(*first, {});
  figure.text.title = title_of(run, first->site.kind, place);
  figure.text.caption = maps_caption(drawing, frame, place, sums, choice.words) +
                        colors_note(drawing, figure.scale, all);
  frame.record = first;
  figure.text.metadata = metadata_of(run, frame, {}, figure.scale);
  if (layers > 1) {
    Json numbers = Json::array();
    for (const RecordPointer& record : records) numbers.push_back(record->site.layer);
    figure.text.metadata.set("layer", std::move(numbers));
  }
  return figure;
}

namespace {

// The source of a part of a text is that of its positions.
void cut_source(Axis& axis) {
  int64_t begin = std::ssize(axis.source), end = 0;
  for (const Position& position : axis.positions) {
    if (position.source_end <= position.source_begin) continue;
    begin = std::min<int64_t>(begin, position.source_begin);
    end = std::max<int64_t>(end, position.source_end);
  }
  if (begin >= end) return;
  axis.source = axis.source.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  for (Position& position : axis.positions) {
    if (position.source_end <= position.source_begin) continue;
    position.source_begin -= begin;
    position.source_end -= begin;
  }
}

}  // namespace

ReadFigure read_view(const Run& run, const ViewChoice& choice) {
  const RecordPointer record = chosen_record(run, choice);
  const HeadChoice head = single_map(choice.head, *record);
  const MapDrawing drawing = map_drawing(choice, 1);  // a row is as long as its text
  Frame frame;
  frame.record = record;
  frame.of = drawing.of;
  frame.rows = make_side(run, record->row_axis, choice.words);
  frame.cols = make_side(run, record->col_axis, choice.words);
  const MapPart part = map_part(choice, frame.rows, frame.cols);
  Side& fixed = choice.column ? frame.cols : frame.rows;
  Side& shown = choice.column ? frame.rows : frame.cols;
  shown = make_side(run, choice.column ? record->row_axis : record->col_axis, choice.words, 1,
                    choice.column ? part.rows : part.cols);
  FoundToken found{fixed.size() - 1, ""};
  if (choice.token) {
    found = token_named(fixed, choice);
  } else {
    while (found.index > 0 && fixed.shown.positions[static_cast<size_t>(found.index)].special) {
      --found.index;
    }
  }
  ReadFigure figure;
  figure.axis = shown.shown;
  figure.place.first = shown.part.begin;
  if (shown.is_part()) cut_source(figure.axis);
  figure.column = choice.column;
  // The rows of a generation are its tokens too; those of cross-attention are of another text.
  const bool same = fixed.axis == shown.axis ||
                    (record->row_axis == "steps" && record->site.kind != SiteKind::kCross);
  const bool here = found.index >= shown.part.begin && found.index < shown.part.end;
  figure.chosen = same && here ? found.index - shown.part.begin : -1;
  const std::string token = token_text(fixed.shown, found.index, choice.column);
  fixed.groups = {fixed.groups[static_cast<size_t>(found.index)]};
  const MergedMap map = frame.map(head);
  const auto values = map.weights.values<float>();
  figure.weights.assign(values.begin(), values.end());

  double sum = 0;
  double largest = 0;  // of what is shaded: the chosen one is marked, special ones draw too much
  for (size_t i = 0; i < figure.weights.size(); ++i) {
    if (std::isnan(figure.weights[i])) continue;
    sum += double{figure.weights[i]};
    if (figure.axis.positions[i].special || static_cast<int64_t>(i) == figure.chosen) continue;
    largest = std::max(largest, double{figure.weights[i]});
  }
  const std::string place = layer_text(*record, head);
  const bool of_weight = drawing.of == MapValue::kWeight;
  figure.scale = drawing.is_plain() ? scale_to(largest > 0 ? largest : largest_of(figure.weights))
                                    : scale_of(drawing, figure.weights);
  if (!of_weight) figure.value_name = value_name(drawing.of);
  figure.text.title = title_of(run, record->site.kind, place);
  figure.text.caption = (of_weight ? token_caption(token, place, std::span<const double>(&sum, 1))
                                   : token_caption(token, place, meaning_of(drawing.of))) +
                        frame.note(choice.words) + note_of(found) +
                        colors_note(drawing, figure.scale, figure.weights);
  for (size_t i = 0; drawing.is_plain() && i < figure.weights.size(); ++i) {
    const bool beyond =
        figure.axis.positions[i].special && double{figure.weights[i]} > figure.scale.high * 1.0001;
    if (beyond && figure.text.caption.find("beyond the scale") == std::string::npos) {
      figure.text.caption += fmt::format(" · {} has {:.2f}, beyond the scale",
                                         figure.axis.positions[i].text, figure.weights[i]);
    }
  }
  figure.text.metadata = metadata_of(run, frame, head, figure.scale);
  figure.text.metadata.set(choice.column ? "column" : "row", found.index);
  return figure;
}

namespace {

// Without what the mask hides behind the last word that is seen.
void cut_unseen(ReadFigure& figure) {
  const auto unseen = [&](size_t i) {
    return std::isnan(figure.weights[i]) && static_cast<int64_t>(i) != figure.chosen;
  };
  size_t count = figure.weights.size();
  while (count > 1 && unseen(count - 1)) --count;
  figure.weights.resize(count);
  figure.axis.positions.resize(count);
  size_t end = 0;
  for (const Position& position : figure.axis.positions) {
    end = std::max(end, static_cast<size_t>(position.source_end));
  }
  figure.axis.source.resize(std::min(end, figure.axis.source.size()));
}

}  // namespace

ReadingFigure reading_view(const Run& run, const ViewChoice& choice) {
  constexpr size_t kMostLines = 64;
  if (choice.token) {
    fail(ErrorKind::kInvalidArgument, Field{"view"},
         "a reading shows every word in turn, not the one token '{}'; choose read", *choice.token);
  }
  const RecordPointer record = chosen_record(run, choice);
  if (record->site.kind == SiteKind::kCross) {
    fail(ErrorKind::kInvalidArgument, Field{"view"},
         "a reading is of one text but cross-attention looks from one to another; choose matrix, "
         "lines or read");
  }
  const Axis rows = make_side(run, record->row_axis, choice.words).shown;
  ReadingFigure figure;
  for (size_t i = 0; i < rows.positions.size(); ++i) {
    if (rows.positions[i].special) continue;
    if (figure.lines.size() == kMostLines) {
      fail(ErrorKind::kInvalidArgument,
           "a reading has one line for each of {} words but {} at most; use another view",
           rows.positions.size(), kMostLines);
    }
    ViewChoice one = choice;
    one.token = fmt::format("#{}", i);
    figure.lines.push_back(read_view(run, one));
    cut_unseen(figure.lines.back());
    figure.scale.high =
        std::max(figure.lines.size() == 1 ? 0 : figure.scale.high, figure.lines.back().scale.high);
  }
  if (figure.lines.empty()) {
    fail(ErrorKind::kInvalidArgument, "the text has no words to read, only special tokens");
  }
  std::vector<double> sums;
  for (ReadFigure& line : figure.lines) {
    line.scale = figure.scale;
    sums.push_back(0);
    for (const float weight : line.weights) sums.back() += std::isnan(weight) ? 0 : double{weight};
  }
  const HeadChoice head = single_map(choice.head, *record);
  figure.text.title = title_of(run, record->site.kind, layer_text(*record, head));
  figure.text.caption = fmt::format(
      "Each line is a row: what the marked word attends to · {} · softmax weight · {}, "
      "the word itself included",
      layer_text(*record, head), row_sums_text(sums));
  figure.text.metadata = figure.lines.back().text.metadata;
  figure.text.metadata.set("row", "each");
  return figure;
}

LinesFigure lines_view(const Run& run, const ViewChoice& choice) {
  refuse_column_without_token(choice);
  const RecordPointer record = chosen_record(run, choice);
  const int64_t heads = record->shape().heads;
  const bool all = choice.head.kind == HeadChoice::Kind::kAll;
  ViewChoice exact = choice;
  exact.exact = true;
  const Frame frame = make_frame(run, record, exact, all ? heads : 1, kLargestSide);
  LinesFigure figure;
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  FoundToken found;
  if (choice.token) {
    found = token_named(choice.column ? frame.cols : frame.rows, choice);
    const Side& side = choice.column ? frame.cols : frame.rows;
    (choice.column ? figure.chosen_col : figure.chosen_row) = side.place_of(found);
  }
  std::vector<double> sums;
  double largest = 0;
  for (int64_t h = 0; h < (all ? heads : 1); ++h) {
    const HeadChoice head =
        all ? HeadChoice{HeadChoice::Kind::kOne, h} : single_map(choice.head, *record);
    MergedMap map = frame.map(head);
    const MatrixView<const float> weights = map.weights.matrix<float>();
    largest = std::max(largest, largest_of(map.weights.values<float>()));
    if (!choice.token) {
      sums.insert(sums.end(), map.row_sums.begin(), map.row_sums.end());
    } else {
      double sum = 0;
      for (int64_t i = 0; i < (choice.column ? weights.rows : weights.cols); ++i) {
        const float weight =
            choice.column ? weights(i, *figure.chosen_col) : weights(*figure.chosen_row, i);
        if (!std::isnan(weight)) sum += double{weight};
      }
      sums.push_back(sum);
    }
    figure.heads.push_back({heads_text(head, heads), std::move(map.weights)});
  }
  const std::string place = layer_text(*record, choice.head);
  figure.text.title = title_of(run, record->site.kind, place);
  const Axis whole_axis =
      make_side(run, choice.column ? record->col_axis : record->row_axis, choice.words).shown;
  figure.text.caption =
      (choice.token ? token_caption(token_text(whole_axis, found.index, choice.column), place, sums)
                    : matrix_caption(place, sums)) +
      frame.note(choice.words) + note_of(found);
  figure.text.metadata = metadata_of(run, frame, choice.head, scale_to(largest));
  figure.text.metadata.set("mass", figure.mass);
  if (choice.token) figure.text.metadata.set(choice.column ? "column" : "row", found.index);
  return figure;
}

}  // namespace fovea
