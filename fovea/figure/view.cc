#include "fovea/figure/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/cell_path.h"
#include "fovea/figure/checks.h"
#include "fovea/figure/grey_cells.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/map_overview.h"
#include "fovea/figure/read_window.h"
#include "fovea/figure/row_facts.h"
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

namespace {

// Whether a map is drawn as an overview: long, and not asked for cell by cell. A picture's cells
// are only where they follow a path.
bool is_long_map(const ViewChoice& choice, const Frame& frame, int64_t positions) {
  const Side &rows = frame.rows, &cols = frame.cols;
  const bool shown_long = std::max(rows.part.size(), cols.part.size()) > kShortMap;
  return positions > kShortMap && shown_long && !choice.exact &&
         (rows.axis->grid_rows == 0 || frame.path);
}

// Where the token lies along a side whose groups may have gaps.
int64_t place_shown(const Frame& frame, const Side& side, FoundToken found) {
  if (frame.path) return frame.path->places[static_cast<size_t>(found.index)] / frame.block;
  const int64_t index = side.place_of(found);
  const PositionGroup& position = side.all[static_cast<size_t>(found.index)];
  for (size_t g = 0; g < side.groups.size(); ++g) {
    if (position.begin < side.groups[g].end && position.begin >= side.groups[g].begin) {
      return static_cast<int64_t>(g);
    }
  }
  fail(ErrorKind::kInvalidArgument, Field{"token"},
       "its column, {}, is hidden; show it or choose a row", index);
}

// Takes groups out that hold hidden columns alone. What they count among all is in `place`.
void drop_hidden(Side& side, const std::vector<int64_t>& hidden, AxisPlace& place) {
  const auto is_hidden = [&](const PositionGroup& group) {
    for (int64_t position = group.begin; position < group.end; ++position) {
      if (!std::ranges::binary_search(hidden, position)) return false;
    }
    return true;
  };
  refuse_all_hidden(side.groups, hidden);
  std::vector<PositionGroup> kept;
  std::vector<Position> names;
  for (size_t g = 0; g < side.groups.size(); ++g) {
    if (is_hidden(side.groups[g])) {
      place.hidden.push_back(place.first + static_cast<int64_t>(g));
      continue;
    }
    kept.push_back(side.groups[g]);
    names.push_back(side.shown.positions[g]);
  }
  side.groups = std::move(kept);
  side.shown.positions = std::move(names);
}

}  // namespace

namespace {

// Of a short map of weights; a long one has its own strips, and other values have no share.
GreyCells grey_of(const Tensor& weights, const Frame& frame, bool is_long) {
  if (is_long || frame.block > 1 || frame.of != MapValue::kWeight) return {};
  return grey_cells(weights, frame.cols.shown, frame.cols.groups.front().begin == 0);
}

}  // namespace

MatrixFigure matrix_view(const Run& run, const ViewChoice& choice) {
  refuse_column_without_token(choice);
  const RecordPointer record = chosen_record(run, choice);
  const HeadChoice head = single_map(choice.head, *record);
  const int64_t positions = longest_side(run, *record, choice.words);
  const MapDrawing drawing = map_drawing(choice, positions);
  Frame frame = make_frame(run, record, choice, 1, kMatrixBins);
  frame.of = drawing.of;
  if (frame.block > 1) frame.merge = drawing.merge;
  std::optional<FoundToken> found;
  if (choice.token) found = token_named(choice.column ? frame.cols : frame.rows, choice);
  follow_path(frame);
  const bool is_long = is_long_map(choice, frame, positions);
  MatrixFigure figure;
  figure.row_place = {frame.rows.part.begin, frame.block};
  figure.col_place = {frame.cols.part.begin, frame.block};
  if (!is_long) {
    const std::vector<int64_t> hidden = hidden_columns(run, {record}, {head}, choice);
    if (!hidden.empty()) drop_hidden(frame.cols, hidden, figure.col_place);
  }
  std::string chosen;
  if (found) {
    const Side& side = choice.column ? frame.cols : frame.rows;
    (choice.column ? figure.chosen_col : figure.chosen_row) = place_shown(frame, side, *found);
    chosen = fmt::format(" · {} {} marked{}", choice.column ? "column" : "row", found->index,
                         note_of(*found));
  }
  // How far cells are apart along a path says nothing.
  ShownMap shown = shown_map(frame, head, choice, is_long,
                             frame.path ? SurveyDistances::kNone : SurveyDistances::kAll);
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  const GreyCells grey = grey_of(shown.map.weights, frame, is_long);
  std::vector<float> values;
  append_colored(shown.map.weights, grey, values);
  figure.scale = scale_of(drawing, values);
  figure.value_name = value_name(drawing.of);
  if (!grey.columns.empty()) {
    figure.grey = grey.columns;
    figure.grey_name = "to " + grey_names(figure.cols, grey.columns);
    figure.value_name += ", to words";
  }
  figure.text.title = title_of(run, record->site.kind, layer_text(*record, head));
  std::string rings;
  if (is_long) {
    figure.overview = map_overview(frame, shown, head, choice, rings);
    figure.text.subtitle = map_subtitle(frame, choice.words);
    if (choice.words) figure.col_title = "word, attended to";
  }
  figure.text.caption =
      maps_caption(drawing, frame, layer_text(*record, head), shown.map.row_sums, choice.words) +
      colors_note(drawing, figure.scale, values) + grey_note(shown.grey, choice) +
      grey_cells_note(grey_names(figure.cols, grey.columns), {grey.share}) + rings +
      (is_long && has_forbidden(shown.map.weights.matrix<float>()) ? " · light grey: not allowed"
                                                                   : "") +
      chosen;
  if (!shown.grey.hidden.empty())
    figure.text.badge = hidden_badge(shown.grey.hidden_share(), choice);
  figure.text.metadata = metadata_of(run, frame, head, figure.scale);
  if (frame.path) {
    for (std::vector<GreyColumn>* columns : {&shown.grey.apart, &shown.grey.hidden}) {
      for (GreyColumn& each : *columns) each.column = frame.path->order[size_t(each.column)];
    }
  }
  set_grey(figure.text.metadata, shown.grey);
  if (found) figure.text.metadata.set(choice.column ? "column" : "row", found->index);
  figure.weights = std::move(shown.map.weights);
  return figure;
}

namespace {

// Of each head of each layer, in the order of the panels.
struct PanelPlace {
  const RecordPointer* record;
  HeadChoice head;
};

// Layer by layer; an overview of several layers has them across and the heads down.
std::vector<PanelPlace> panel_places(const std::vector<RecordPointer>& records,
                                     const std::vector<HeadChoice>& heads, bool layers_across) {
  const size_t layers = records.size();
  std::vector<PanelPlace> places;
  for (size_t i = 0; i < layers * heads.size(); ++i) {
    const size_t layer = layers_across ? i % layers : i / heads.size();
    const size_t head = layers_across ? i / layers : i % heads.size();
    places.push_back({&records[layer], heads[head]});
  }
  return places;
}

void check_alike(const std::vector<RecordPointer>& records) {
  const RecordPointer& first = records.front();
  for (const RecordPointer& record : records) {
    if (record->shape().heads != first->shape().heads || record->row_axis != first->row_axis ||
        record->col_axis != first->col_axis) {
      fail(ErrorKind::kUnsupported, "{} and {} differ in heads or axes; show one layer at a time",
           to_string(first->site), to_string(record->site));
    }
  }
}

// Bins a side, so that panels of so many layers and heads fit into a picture.
int64_t panel_bins(int64_t layers, int64_t heads) {
  constexpr int64_t kMostPixels = 3600;
  constexpr int64_t kLeastBins = 16;
  if (layers == 1) return kPanelBins;
  return std::clamp(kMostPixels / std::max(layers, heads) - 8, kLeastBins, kPanelBins);
}

// "12 to 96 % of all weight".
std::string shares_text(std::vector<double> shares) {
  std::erase(shares, 0.0);
  if (shares.empty()) return "nothing";
  const auto [low, high] = std::ranges::minmax_element(shares);
  if (shares.size() == 1) return percent_text(*low) + " of all weight";
  return fmt::format("{:.0f} to {:.0f} % of all weight in {} panels", 100 * *low, 100 * *high,
                     shares.size());
}

}  // namespace

HeadsFigure heads_view(const Run& run, const ViewChoice& choice) {
  if (choice.token) {
    fail(ErrorKind::kInvalidArgument,
         "small multiples show whole maps, not the one token '{}'; use another view",
         *choice.token);
  }
  const std::vector<RecordPointer> records =
      choice.all_layers ? records_of(run, chosen_kind(run, choice))
                        : std::vector<RecordPointer>{chosen_record(run, choice)};
  check_alike(records);
  const RecordPointer& first = records.front();
  const std::vector<HeadChoice> heads = maps_meant(choice.head, *first);
  const int64_t layers = std::ssize(records);
  const int64_t positions = longest_side(run, *first, choice.words);
  const MapDrawing drawing = map_drawing(choice, positions, std::ssize(heads) * layers);
  Frame frame = make_frame(run, first, choice, std::ssize(heads) * layers,
                           panel_bins(layers, std::ssize(heads)));
  frame.of = drawing.of;
  if (frame.block > 1) frame.merge = drawing.merge;
  follow_path(frame);
  const bool is_long = is_long_map(choice, frame, positions);
  const bool across = is_long && layers > 1;
  const std::vector<PanelPlace> places = panel_places(records, heads, across);
  HeadsFigure figure{.overview = is_long, .causal = has_free_corner(frame)};
  if (!is_long) {
    const std::vector<int64_t> hidden = hidden_columns(run, records, heads, choice);
    AxisPlace unused;
    if (!hidden.empty()) drop_hidden(frame.cols, hidden, unused);
  }
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  // Beside each other as in a nearly square block; 12 heads are 4 across.
  figure.panels_across =
      across       ? layers
      : layers > 1 ? std::ssize(heads)
                   : static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(heads.size()))));
  std::vector<double> sums, apart, hidden, grey_shares;
  std::set<int64_t> grey_columns;
  std::vector<float> all;
  for (const PanelPlace& place : places) {
    frame.record = frame.path ? frame.path->along(**place.record) : *place.record;
    ShownMap shown = shown_map(frame, place.head, choice, is_long, SurveyDistances::kNone);
    const GreyCells grey = grey_of(shown.map.weights, frame, is_long);
    append_colored(shown.map.weights, grey, all);
    grey_columns.insert(grey.columns.begin(), grey.columns.end());
    grey_shares.push_back(grey.share);
    sums.insert(sums.end(), shown.map.row_sums.begin(), shown.map.row_sums.end());
    apart.push_back(shown.grey.apart_share());
    hidden.push_back(shown.grey.hidden_share());
    const int64_t layer = frame.record->site.layer;
    const std::string name = heads_text(place.head, first->shape().heads);
    figure.panels.push_back({layers == 1 ? name
                             : across    ? fmt::format("{} · layer {}", name, layer)
                                         : fmt::format("layer {} · {}", layer, name),
                             std::move(shown.map.weights),
                             grey.columns.empty() ? apart.back() : grey.share,
                             {},
                             grey.columns});
  }
  figure.scale = scale_of(drawing, all);
  figure.value_name = value_name(drawing.of);
  const std::string grey =
      grey_names(figure.cols, std::vector<int64_t>(grey_columns.begin(), grey_columns.end()));
  if (!grey_columns.empty()) {
    figure.grey_name = "to " + grey;
    figure.value_name += ", to words";
  }
  const std::string place = layers > 1 ? fmt::format("layers {} to {}, {} each", first->site.layer,
                                                     records.back()->site.layer,
                                                     heads_text(choice.head, first->shape().heads))
                                       : layer_text(*first, choice.head);
  figure.text.title = title_of(run, first->site.kind, place);
  if (is_long) figure.text.subtitle = map_subtitle(frame, choice.words);
  figure.text.caption = maps_caption(drawing, frame, place, sums, choice.words) +
                        colors_note(drawing, figure.scale, all) +
                        grey_cells_note(grey, grey_shares);
  if (std::ranges::any_of(apart, [](double share) { return share > 0; })) {
    figure.text.caption += fmt::format(
        " · drawn apart, as a grey gauge: special tokens and sinks (columns of mean weight {} or "
        "more), "
        "{}",
        kSinkMean, shares_text(apart));
  }
  if (std::ranges::any_of(hidden, [](double share) { return share > 0; })) {
    figure.text.caption += " · hidden: " + shares_text(hidden) +
                           (choice.renormalise ? " · rows divided by the rest" : "");
    figure.text.badge = "up to " + hidden_badge(std::ranges::max(hidden), choice);
  }
  frame.record = first;
  figure.text.metadata = metadata_of(run, frame, choice.head, figure.scale);
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
  const MapDrawing drawing = row_drawing(choice);
  Frame frame;
  frame.record = record;
  frame.of = drawing.of;
  frame.rows = make_side(run, record->row_axis, choice.words);
  frame.cols = make_side(run, record->col_axis, choice.words);
  const MapPart part = map_part(choice, frame.rows, frame.cols);
  Side& fixed = choice.column ? frame.cols : frame.rows;
  Side& shown = choice.column ? frame.rows : frame.cols;
  FoundToken found{fixed.size() - 1, ""};
  if (choice.token) {
    found = token_named(fixed, choice);
  } else {
    while (found.index > 0 && fixed.shown.positions[static_cast<size_t>(found.index)].special) {
      --found.index;
    }
  }
  // The whole line is computed, so that what is not shown of it can be told.
  fixed.groups = {fixed.groups[static_cast<size_t>(found.index)]};
  const MergedMap map = frame.map(head);
  const Tensor line =
      drawing.of == MapValue::kWeight
          ? map.weights
          : Frame{.record = record, .rows = frame.rows, .cols = frame.cols}.map(head).weights;
  const Axis whole_axis = shown.shown;
  // The rows of a generation are its tokens too; those of cross-attention are of another text.
  const bool same = fixed.axis == shown.axis ||
                    (record->row_axis == "steps" && record->site.kind != SiteKind::kCross);
  const bool asked = choice.rows || choice.cols || choice.around || choice.exact;
  const auto all = map.weights.values<float>();
  PositionGroup window = choice.column ? part.rows : part.cols;
  if (!asked && same) window = read_window(found.index, all);
  shown =
      make_side(run, choice.column ? record->row_axis : record->col_axis, choice.words, 1, window);
  ReadFigure figure;
  figure.weights.assign(all.begin() + window.begin, all.begin() + window.end);
  figure.axis = shown.shown;
  figure.place.first = shown.part.begin;
  if (shown.is_part()) cut_source(figure.axis);
  figure.column = choice.column;
  const bool here = found.index >= shown.part.begin && found.index < shown.part.end;
  figure.chosen = same && here ? found.index - shown.part.begin : -1;
  const std::string token = token_text(fixed.shown, found.index, choice.column);

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
  std::optional<double> sink;
  std::string after;  // what becomes of the row's token
  if (!choice.column) {
    sink = sink_share(*record, line.values<float>());
    after = sink_note(sink) + expert_note(run, record->site, fixed.groups.front().end - 1);
  }
  figure.scale = drawing.is_plain() ? scale_to(largest > 0 ? largest : largest_of(figure.weights))
                                    : scale_of(drawing, figure.weights);
  if (!of_weight) figure.value_name = value_name(drawing.of);
  figure.text.title = title_of(run, record->site.kind, place);
  figure.text.caption = (of_weight ? token_caption(token, place, std::span<const double>(&sum, 1))
                                   : token_caption(token, place, meaning_of(drawing.of))) +
                        frame.note(choice.words) + note_of(found) + after +
                        colors_note(drawing, figure.scale, figure.weights) +
                        outside_note(whole_axis, line.values<float>(), window);
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
  if (sink) figure.text.metadata.set("sink", *sink);
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
  const MapDrawing drawing = row_drawing(choice);
  std::vector<float> values;
  std::vector<double> sums;
  for (const ReadFigure& line : figure.lines) {
    values.insert(values.end(), line.weights.begin(), line.weights.end());
    sums.push_back(0);
    for (const float weight : line.weights) sums.back() += std::isnan(weight) ? 0 : double{weight};
  }
  if (!drawing.is_plain()) figure.scale = scale_of(drawing, values);
  figure.value_name = value_name(drawing.of);
  for (ReadFigure& line : figure.lines) line.scale = figure.scale;
  const HeadChoice head = single_map(choice.head, *record);
  figure.text.title = title_of(run, record->site.kind, layer_text(*record, head));
  figure.text.caption = fmt::format(
      "Each line is a row: what the marked word attends to · {} · {}{}{}",
      layer_text(*record, head), meaning_of(drawing.of),
      drawing.of == MapValue::kWeight ? " · " + row_sums_text(sums) + ", the word itself included"
                                      : "",
      colors_note(drawing, figure.scale, values));
  figure.text.metadata = figure.lines.back().text.metadata;
  figure.text.metadata.set("row", "each");
  return figure;
}

LinesFigure lines_view(const Run& run, const ViewChoice& choice) {
  refuse_column_without_token(choice);
  const RecordPointer record = chosen_record(run, choice);
  const int64_t heads = record->shape().heads;
  const std::vector<HeadChoice> shown = maps_meant(choice.head, *record);
  ViewChoice exact = choice;
  exact.exact = true;
  const MapDrawing drawing = map_drawing(exact, 1);
  if (drawing.of == MapValue::kScore) {
    fail(ErrorKind::kInvalidArgument, Field{"of"},
         "a line is as strong as what it stands for, but scores are below 0 too; choose another "
         "value, or another view");
  }
  Frame frame = make_frame(run, record, exact, std::ssize(shown), kLargestSide);
  frame.of = drawing.of;
  LinesFigure figure;
  figure.rows = frame.rows.shown;
  figure.cols = frame.cols.shown;
  figure.row_place.first = frame.rows.part.begin;
  figure.col_place.first = frame.cols.part.begin;
  FoundToken found;
  if (choice.token) {
    found = token_named(choice.column ? frame.cols : frame.rows, choice);
    const Side& side = choice.column ? frame.cols : frame.rows;
    (choice.column ? figure.chosen_col : figure.chosen_row) = side.place_of(found);
  }
  std::vector<double> sums;
  std::vector<float> values;
  for (const HeadChoice& head : shown) {
    MergedMap map = frame.map(head);
    const MatrixView<const float> weights = map.weights.matrix<float>();
    const auto some = map.weights.values<float>();
    values.insert(values.end(), some.begin(), some.end());
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
    const GreyCells grey = grey_of(map.weights, frame, /*is_long=*/false);
    figure.heads.push_back(
        {heads_text(head, heads), std::move(map.weights), grey.share, {}, grey.columns});
  }
  const std::string place = layer_text(*record, choice.head);
  figure.text.title = title_of(run, record->site.kind, place);
  const Axis whole_axis =
      make_side(run, choice.column ? record->col_axis : record->row_axis, choice.words).shown;
  const bool of_weight = drawing.of == MapValue::kWeight;
  const std::string token = token_text(whole_axis, found.index, choice.column);
  const ColorScale scale = scale_of(drawing, values);
  if (!drawing.is_plain()) figure.strength = scale;
  figure.value_name = value_name(drawing.of);
  figure.text.caption =
      (choice.token ? (of_weight ? token_caption(token, place, sums)
                                 : token_caption(token, place, meaning_of(drawing.of)))
                    : (of_weight ? matrix_caption(place, sums)
                                 : matrix_caption(place, meaning_of(drawing.of)))) +
      frame.note(choice.words) + note_of(found) + colors_note(drawing, scale, values, "strength");
  figure.text.metadata = metadata_of(run, frame, choice.head, scale);
  figure.text.metadata.set("mass", figure.mass);
  if (choice.token) figure.text.metadata.set(choice.column ? "column" : "row", found.index);
  return figure;
}

}  // namespace fovea
