// Why one cell attends to another: the score split into content and position, head by head.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/table.h"
#include "fovea/explain/pictures/score_split.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

constexpr int64_t kLongestWhy = 640;
constexpr size_t kDimensions = 8;  // of the strongest head, the largest ones

const std::vector<std::string> kTerms = {"content · content", "content · position",
                                         "position · content", "position · position", "score"};

struct Pair {
  std::shared_ptr<const AttentionRecord> record;
  int64_t from = 0;
  int64_t to = 0;
  std::string from_name;
  std::string to_name;
  std::vector<ScoreSplit> heads;

  // The head with the largest weight.
  const ScoreSplit& strongest() const {
    return *std::ranges::max_element(heads, {}, &ScoreSplit::weight);
  }
};

std::vector<double> terms_of(const ScoreSplit& split) {
  return {split.content_content, split.content_position, split.position_content,
          split.position_position, split.score};
}

Pair make_pair(const DetectRun& run) {
  const auto record = record_for(run, SiteKind::kEncoderSelf);
  if (!record->positions) {
    fail(ErrorKind::kUnsupported,
         "{} does not add positions to queries and keys, so its scores cannot be split",
         run.engine.name());
  }
  Pair pair{.record = record,
            .from = cell_at(run.input, "at", parse_pixels(run.args["at"]).front()),
            .to = cell_at(run.input, "to", parse_pixel(run.args["to"], "--to"))};
  pair.from_name = cell_name(run, pair.from);
  pair.to_name = cell_name(run, pair.to);
  const HeadChoice head = head_of(run.args);
  for (int64_t h = 0; h < record->shape().heads; ++h) {
    if (head.kind == HeadChoice::Kind::kOne && h != head.head) continue;
    pair.heads.push_back(split_score(*record, record->positions->queries, record->positions->keys,
                                     h, pair.from, pair.to));
  }
  return pair;
}

std::string why_caption(const DetectRun& run, const Pair& pair) {
  return fmt::format(
      "Row {} to column {} · layer {}, {} · score = scale (q·k) with q = content + position and "
      "k likewise; the four terms sum to the score, and weight = exp(score - log-sum-exp of the "
      "row){}",
      pair.from_name, pair.to_name, pair.record->site.layer,
      pair.heads.size() == 1 ? fmt::format("head {}", pair.heads[0].head)
                             : fmt::format("{} heads", pair.heads.size()),
      model_note(run.engine));
}

Tensor term_values(const Pair& pair) {
  Tensor values({static_cast<int64_t>(pair.heads.size()), static_cast<int64_t>(kTerms.size())});
  float* out = values.mutable_values<float>().data();
  for (const ScoreSplit& split : pair.heads) {
    for (const double term : terms_of(split)) *out++ = static_cast<float>(term);
  }
  return values;
}

// What the one cell attends to in the strongest head, and a frame around the other.
ImageFigure pair_picture(const DetectRun& run, const Pair& pair) {
  const int64_t head = pair.strongest().head;
  const std::vector<double> weights =
      line_of(pair.record, pair.from, {HeadChoice::Kind::kOne, head}, /*column=*/false);
  ImageFigure figure = picture_figure(run, kLongestWhy);
  figure.panels_across = 2;
  std::string note;  // the colour bar says where the colours end
  figure.scale = visible_scale({weights.begin(), weights.end()}, note);
  ImagePanel panel =
      map_panel(run, fmt::format("what {} attends to, head {}", pair.from_name, head), weights);
  panel.chosen = mark_of(run, pair.from);
  const CellMark to = mark_of(run, pair.to);
  const auto rows = static_cast<double>(run.grid().rows);
  const auto cols = static_cast<double>(run.grid().cols);
  panel.boxes = {{.left = static_cast<double>(to.col) / cols,
                  .top = static_cast<double>(to.row) / rows,
                  .right = static_cast<double>(to.col + 1) / cols,
                  .bottom = static_cast<double>(to.row + 1) / rows,
                  .label = pair.to_name}};
  figure.panels = {std::move(panel)};
  return figure;
}

StepsFigure why_figure(const DetectRun& run, const Pair& pair) {
  StepsFigure figure{.picture = pair_picture(run, pair)};
  figure.text.title = title_of(run.result.run, SiteKind::kEncoderSelf,
                               fmt::format("why {} looks at {}", pair.from_name, pair.to_name));
  figure.text.caption = why_caption(run, pair);
  figure.text.metadata = metadata_for(run, pair.record->site);
  StepsStage terms{.name = "the score, split",
                   .formula = "s = scale (qc + qp) · (kc + kp)",
                   .explanation = "c: what a cell holds, p: where it lies; the query first",
                   .col_labels = {"c · c", "c · p", "p · c", "p · p", "score"},
                   .values = term_values(pair)};
  StepsStage weights{.name = "the weight",
                     .formula = "exp(s - LSE)",
                     .explanation = "its share of the row",
                     .col_labels = {"in %"},
                     .values = Tensor({static_cast<int64_t>(pair.heads.size()), int64_t{1}})};
  for (size_t i = 0; i < pair.heads.size(); ++i) {
    terms.row_labels.push_back(fmt::format("head {}", pair.heads[i].head));
    weights.row_labels.push_back(terms.row_labels.back());
    weights.values.mutable_values<float>()[i] = static_cast<float>(100 * pair.heads[i].weight);
  }
  const ScoreSplit& best = pair.strongest();
  const size_t count = std::min(kDimensions, best.dimensions.size());
  StepsStage products{.name = fmt::format("the largest products of head {}", best.head),
                      .formula = "scale · q_d · k_d",
                      .explanation = fmt::format("{} of {} dimensions, which all sum to the score",
                                                 count, best.dimensions.size()),
                      .col_labels = {"q", "k", "product"},
                      .values = Tensor({static_cast<int64_t>(count), int64_t{3}})};
  float* out = products.values.mutable_values<float>().data();
  for (size_t i = 0; i < count; ++i) {
    const DimensionProduct& each = best.dimensions[i];
    products.row_labels.push_back(fmt::format("dim {}", each.dimension));
    for (const double value : {each.query, each.key, each.product}) {
      *out++ = static_cast<float>(value);
    }
  }
  figure.stages = {std::move(terms), std::move(weights), std::move(products)};
  return figure;
}

std::string text_of(const Pair& pair, const FigureText& text, const Terminal& terminal) {
  const auto count = static_cast<int64_t>(pair.heads.size());
  Table terms{.corner = "",
              .values = Matrix(count, 6),
              .col_labels = {"c · c", "c · p", "p · c", "p · p", "score", "weight"}};
  for (int64_t h = 0; h < count; ++h) {
    const ScoreSplit& split = pair.heads[static_cast<size_t>(h)];
    terms.row_labels.push_back(fmt::format("head {}", split.head));
    const std::vector<double> values = terms_of(split);
    for (int64_t i = 0; i < 5; ++i) terms.values(h, i) = values[static_cast<size_t>(i)];
    terms.values(h, 5) = split.weight;
  }
  terms.formats = {NumberFormat::for_weights()};
  const ScoreSplit& best = pair.strongest();
  const size_t shown = std::min(kDimensions, best.dimensions.size());
  Table products{.corner = "",
                 .values = Matrix(static_cast<int64_t>(shown), 3),
                 .col_labels = {"q", "k", "product"},
                 .formats = {NumberFormat::for_weights()}};
  for (size_t i = 0; i < shown; ++i) {
    const DimensionProduct& each = best.dimensions[i];
    products.row_labels.push_back(fmt::format("dim {}", each.dimension));
    const auto row = static_cast<int64_t>(i);
    products.values(row, 0) = each.query;
    products.values(row, 1) = each.key;
    products.values(row, 2) = each.product;
  }
  std::string result = title_lines(text, terminal);
  result += terminal.dim("c: what a cell holds · p: where it lies · query first, key second\n");
  result += side_by_side({draw_table(terms, terminal, terminal.width - 2)}, 2, terminal.width);
  result += "\n" + fmt::format("the largest products of head {}, of {} dimensions\n", best.head,
                               best.dimensions.size());
  result += side_by_side({draw_table(products, terminal, terminal.width - 2)}, 2, terminal.width);
  return without_trailing_spaces(result + "\n" + caption_lines(text, terminal));
}

// `json` holds the objects already.
Json why_json(Json json, const Pair& pair) {
  json.set("site", to_string(pair.record->site));
  json.set("from", pair.from_name);
  json.set("to", pair.to_name);
  json.set("scale", double{pair.record->rule.scale});
  Json heads = Json::array();
  for (const ScoreSplit& split : pair.heads) {
    Json entry = Json::object();
    entry.set("head", split.head);
    entry.set("content_content", split.content_content);
    entry.set("content_position", split.content_position);
    entry.set("position_content", split.position_content);
    entry.set("position_position", split.position_position);
    entry.set("score", split.score);
    entry.set("weight", split.weight);
    Json dimensions = Json::array();
    for (const DimensionProduct& each : split.dimensions) {
      Json item = Json::object();
      item.set("dimension", each.dimension);
      item.set("query", each.query);
      item.set("key", each.key);
      item.set("product", each.product);
      dimensions.push_back(std::move(item));
    }
    entry.set("dimensions", std::move(dimensions));
    heads.push_back(std::move(entry));
  }
  json.set("heads", std::move(heads));
  return json;
}

MapData why_data(const Pair& pair, const FigureText& text) {
  MapData data{.weights = term_values(pair), .rows = {.name = "heads"}, .cols = {.name = "terms"}};
  for (const ScoreSplit& split : pair.heads) {
    data.rows.positions.push_back({.text = fmt::format("head {}", split.head)});
  }
  for (const std::string& term : kTerms) data.cols.positions.push_back({.text = term});
  data.text = text;
  return data;
}

void check_why(const Args& args) {
  if (!args.has("at") || !args.has("to")) {
    fail(ErrorKind::kInvalidArgument,
         "--view why is about a pair of pixels; give both --at X,Y and --to X,Y");
  }
  if (parse_pixels(args["at"]).size() > 1) {
    fail(ErrorKind::kInvalidArgument, "--at has several pixels but --view why takes one");
  }
  parse_pixel(args["to"], "--to");
  const HeadChoice head = head_of(args);
  if (head.kind == HeadChoice::Kind::kMean || head.kind == HeadChoice::Kind::kMax) {
    fail(ErrorKind::kInvalidArgument,
         "--head is {} but every head has a score of its own; give a number or all", args["head"]);
  }
}

Content make_why(const DetectRun& run) {
  const Pair pair = make_pair(run);
  StepsFigure figure = why_figure(run, pair);
  const FigureText text = figure.text;
  return {.figure = std::move(figure),
          .data = [pair, text] { return why_data(pair, text); },
          .json = [objects = objects_json(run), pair] { return why_json(objects, pair); },
          .text = [pair, text](const Terminal& terminal) { return text_of(pair, text, terminal); }};
}

}  // namespace

DetectView detect_why_view() {
  return {.name = "why",
          .summary = "why the cell --at attends to the cell --to: content and position",
          .options = {"at", "to", "layer", "head"},
          .check = check_why,
          .make = make_why,
          .needs_positions = true};
}

}  // namespace fovea
