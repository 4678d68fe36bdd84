#include "fovea/explain/span_mass.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"

namespace fovea {
namespace {

constexpr size_t kNamedInSpan = 3;

// Its text, or its numbers where there is none.
std::string span_name(const Axis& axis, PositionSpan span) {
  constexpr int kColumns = 24;
  const int64_t begin = axis.positions[static_cast<size_t>(span.begin)].source_begin;
  const int64_t end = axis.positions[static_cast<size_t>(span.end - 1)].source_end;
  if (begin >= 0 && begin < end && end <= static_cast<int64_t>(axis.source.size())) {
    const auto text = std::string_view(axis.source).substr(size_t(begin), size_t(end - begin));
    const size_t first = text.find_first_not_of(' ');
    return fmt::format("\"{}\"",
                       shorten(to_one_line(text.substr(first == text.npos ? 0 : first)), kColumns));
  }
  return span.size() == 1 ? fmt::format("position {}", span.begin)
                          : fmt::format("positions {} to {}", span.begin, span.end - 1);
}

// The heads with most mass, and the mean against an even spread.
std::vector<std::string> span_notes(const LayerRecords& layers, const ExplainRequest& request,
                                    const Explanation& explanation) {
  const std::vector<double>& mass = explanation.scores;
  std::vector<size_t> order(mass.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return mass[i]; });
  std::vector<std::string> most;
  for (size_t i = 0; i < std::min(kNamedInSpan, order.size()); ++i) {
    most.push_back(fmt::format("{} ({:.1f} %)", explanation.axis.positions[order[i]].text,
                               100 * mass[order[i]]));
  }
  double even = 0;
  for (const auto& record : layers) even += even_share(*record, request.position, *request.span);
  even /= static_cast<double>(layers.size());
  if (even == 0) {
    return {fmt::format("position {} may not see {}", request.position,
                        span_name(columns_of(request.run, request.kind), *request.span))};
  }
  const double mean =
      std::accumulate(mass.begin(), mass.end(), 0.0) / static_cast<double>(mass.size());
  return {fmt::format("most in {}", fmt::join(most, ", ")),
          fmt::format("mean of all heads {:.1f} %, {:.2g} times the {:.1f} % of an even spread",
                      100 * mean, mean / even, 100 * even)};
}

Explanation explain_span_mass(const ExplainRequest& request) {
  const auto asked = layer_asked(request);
  const LayerRecords layers =
      request.layer ? LayerRecords{asked} : layers_of(request.run, request.kind);
  Explanation explanation{.axis = heads_axis(layers),
                          .scores = span_mass(layers, request.position, *request.span)};
  explanation.measures =
      fmt::format("share of the row's attention on {}",
                  span_name(columns_of(request.run, request.kind), *request.span));
  if (request.layer) explanation.layer = asked->site.layer;
  explanation.notes = span_notes(layers, request, explanation);
  return explanation;
}

}  // namespace

Method span_mass_method() {
  return {.name = "span-mass",
          .summary = "which heads look at a stretch of the input (a needle): all layers x heads",
          .answers =
              "Which heads find this part of the text when they stand at this position? A head may "
              "look there for its place or its punctuation rather than for what it says, and what "
              "it does with it the weights do not tell.",
          .cost = "L H N d",
          .needs = {.position = true, .span = true},
          .parameters = {},
          .takes_layer = true,
          .scores_heads = true,
          .explain = explain_span_mass};
}

}  // namespace fovea
