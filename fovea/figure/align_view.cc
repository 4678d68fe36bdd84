#include "fovea/figure/align_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

// The tokens of the target itself, without what the decoder reads before them.
Axis target_tokens(const Run& run, int64_t prefix) {
  Axis axis = *run.find_axis("target");
  axis.positions.erase(axis.positions.begin(), axis.positions.begin() + prefix);
  return axis;
}

// The position's text in the source, without white space around it.
std::string_view position_text(const Axis& axis, const Position& position) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  std::string_view text = axis.source;
  const auto begin = static_cast<size_t>(position.source_begin);
  const auto end = static_cast<size_t>(position.source_end);
  if (begin >= end || end > text.size()) return "";
  text = text.substr(begin, end - begin);
  const size_t first = text.find_first_not_of(kSpace);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// One position per word under its own text; special positions are left out.
Axis words_of(const Axis& axis) {
  std::vector<PositionGroup> groups = word_groups(axis);
  std::erase_if(groups, [&](const PositionGroup& group) {
    return axis.positions[static_cast<size_t>(group.begin)].special;
  });
  Axis words = grouped_axis(axis, groups);
  for (int64_t i = 0; i < static_cast<int64_t>(words.positions.size()); ++i) {
    Position& word = words.positions[static_cast<size_t>(i)];
    const std::string_view written = position_text(axis, word);
    word.text = written.empty() ? plain_label(words, i) : to_one_line(written);
  }
  return words;
}

// The figure's cells and links, before they are worded.
struct Cells {
  Axis source, target;
  Matrix weights;
  Alignment links;
};

Cells word_cells(const Run& run, const PairMaps& pair, const MapChoice& choice,
                 const AlignOptions& options) {
  PairAlignment aligned = align_pair(pair, choice, options);
  return {words_of(*run.find_axis("source")), words_of(target_tokens(run, pair.prefix)),
          std::move(aligned.words.weights), std::move(aligned.links)};
}

Cells piece_cells(const Run& run, const PairMaps& pair, const MapChoice& choice,
                  const AlignOptions& options) {
  const Matrix weights = map_weights(pair, choice, options.norms);
  // Links count pieces without special ones; cells count all.
  std::vector<int64_t> columns, rows;
  for (size_t j = 0; j < pair.source.word.size(); ++j) {
    if (pair.source.word[j] >= 0) columns.push_back(static_cast<int64_t>(j));
  }
  for (size_t i = 0; i < pair.target.word.size(); ++i) {
    if (pair.target.word[i] >= 0) rows.push_back(static_cast<int64_t>(i));
  }
  Alignment links;
  for (const Link& link :
       hard_links(piece_weights(weights, pair.source, pair.target), options.links)) {
    links.push_back(
        {columns[static_cast<size_t>(link.source)], rows[static_cast<size_t>(link.target)]});
  }
  return {*run.find_axis("source"), target_tokens(run, pair.prefix), weights, std::move(links)};
}

void check_drawing(const AlignOptions& options, const AlignViewOptions& view) {
  const MapValue of = view.drawing.of;
  if (of == MapValue::kScore || of == MapValue::kValueWeighted) {
    fail(ErrorKind::kInvalidArgument, Field{"of"},
         "an alignment is read from weights, which {} are not; choose weight or times-even",
         map_value_names()[static_cast<size_t>(of)]);
  }
  if (of == MapValue::kTimesEven && options.norms) {
    fail(ErrorKind::kInvalidArgument, Field{"of"},
         "norms have no even share; leave it out, or `norms`");
  }
  if (view.hard && !view.drawing.is_plain()) {
    fail(ErrorKind::kInvalidArgument, Field{"hard"},
         "links alone have no weights to draw; leave it out, or what is drawn of them");
  }
}

// Weights over what a source that is looked at evenly would get: its share of all source tokens.
void divide_by_even(Matrix& weights, const PairMaps& pair, bool pieces) {
  std::vector<double> tokens(static_cast<size_t>(weights.cols()), pieces ? 1 : 0);
  if (!pieces) {
    for (const int64_t word : pair.source.word) {
      if (word >= 0) ++tokens[static_cast<size_t>(word)];
    }
  }
  const auto all = static_cast<double>(pair.source.word.size());
  for (int64_t r = 0; r < weights.rows(); ++r) {
    for (size_t c = 0; c < tokens.size(); ++c) weights.row(r)[c] *= all / tokens[c];
  }
}

// How much of the rows the figure shows, on average.
double shown_share(const Matrix& weights) {
  double sum = 0;
  for (int64_t r = 0; r < weights.rows(); ++r) {
    for (const double weight : weights.row(r)) sum += weight;
  }
  return weights.rows() == 0 ? 0 : sum / static_cast<double>(weights.rows());
}

std::string link_text(const LinkRule& rule) {
  switch (rule.method) {
    case LinkMethod::kThreshold:
      return fmt::format("every weight from {:g} on", rule.threshold);
    case LinkMethod::kMutual:
      return "the largest of its row and its column";
    default:
      return rule.specials_compete ? "the largest of its row, unless a special token has more"
                                   : "the largest of its row";
  }
}

std::string align_caption(const Cells& cells, const MapChoice& choice, const AlignOptions& options,
                          const AlignViewOptions& view) {
  std::string text = fmt::format("Rows: target {0}, columns: source {0} · {1}",
                                 view.pieces ? "tokens" : "words", to_string(choice));
  if (!view.hard) {
    text += options.norms ? " · norm of what attention brings, each row as shares"
                          : " · " + meaning_of(view.drawing.of);
    if (!view.pieces) text += ", summed over a source word's tokens, mean over a target word's";
  }
  text +=
      fmt::format(" · {}, {}", view.hard ? "1: a link" : "marked: links", link_text(options.links));
  if (!view.pieces && options.convention == WordConvention::kUnion) text += " of a token, joined";
  if (view.hard) {
    text += " · links only, no weights";
  } else {
    text += fmt::format(" · a row sums to {:.2f} on average{}", shown_share(cells.weights),
                        view.pieces ? "" : ", the rest lies on special tokens");
  }
  if (!choice.why.empty()) text += " · " + choice.why;
  return text;
}

Json metadata(const Run& run, const MapChoice& choice, const AlignOptions& options,
              const Alignment& links) {
  return Json::object({{"model", run.model},
                       {"model_hash", run.model_hash},
                       {"source", run.find_axis("source")->source},
                       {"target", run.find_axis("target")->source},
                       {"map", to_string(choice)},
                       {"why", choice.why},
                       {"values", options.norms ? "norms" : "weights"},
                       {"convention", to_string(options.convention)},
                       {"links_by", to_string(options.links.method)},
                       {"links", to_moses(links)}});
}

}  // namespace

AlignFigure align_view(const Run& run, const PairMaps& pair, const MapChoice& choice,
                       const AlignOptions& options, const AlignViewOptions& view) {
  check_drawing(options, view);
  Cells cells = view.pieces ? piece_cells(run, pair, choice, options)
                            : word_cells(run, pair, choice, options);
  AlignFigure figure;
  figure.text.title = title_of(run, SiteKind::kCross, "alignment");
  figure.text.caption = align_caption(cells, choice, options, view);
  figure.text.metadata = metadata(run, choice, options, cells.links);
  if (view.hard) {
    for (int64_t r = 0; r < cells.weights.rows(); ++r) {
      std::ranges::fill(cells.weights.row(r), 0.0);
    }
    for (const Link& link : cells.links) cells.weights(link.target, link.source) = 1;
    figure.value_name = "link";
  } else if (options.norms) {
    figure.value_name = "share of the norms";
  }
  for (const Link& link : cells.links) {
    figure.links.push_back({.row = link.target, .col = link.source});
  }
  if (view.drawing.of == MapValue::kTimesEven) divide_by_even(cells.weights, pair, view.pieces);
  figure.source = std::move(cells.source);
  figure.target = std::move(cells.target);
  figure.weights = as_tensor(cells.weights);
  figure.scale = {0, 1};
  if (view.drawing.is_plain()) return figure;
  const auto values = figure.weights.values<float>();
  figure.scale = scale_of(view.drawing, values);
  if (!options.norms) figure.value_name = value_name(view.drawing.of);
  figure.text.caption += colors_note(view.drawing, figure.scale, values);
  return figure;
}

}  // namespace fovea
