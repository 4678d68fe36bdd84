#include "fovea/explain/sinks.h"

#include <fmt/ranges.h>

#include <map>

#include "fovea/explain/method.h"
#include "fovea/explain/pictures/artifacts.h"
#include "fovea/explain/rollout.h"

namespace fovea {

Method sinks_method();

namespace {

constexpr size_t kNamedSinks = 5;

// The lengths of the states that enter each layer, if they can be had.
using LayerNorms = std::map<int, std::vector<double>>;

void add_norms(LayerNorms& norms, const AttentionRecord& record, SiteKind kind) {
  if (record.site.kind != kind || record.row_axis != record.col_axis) return;
  if (!record.block || record.block->input.rank() != 2) return;
  norms[record.site.layer] = row_norms(record.block->input);
}

LayerNorms layer_norms(const ExplainRequest& request) {
  LayerNorms norms;
  for (const auto& record : request.run.records) add_norms(norms, *record, request.kind);
  if (!norms.empty() || request.subject == nullptr) return norms;
  // Records are freed at once, so that the states of many layers do not pile up.
  RecorderOptions states{
      .values = false,
      .block = true,
      .wanted = [&](SiteId site) { return site.kind == request.kind; },
      .give_to = [&](int64_t,
                     const AttentionRecord& record) { add_norms(norms, record, request.kind); }};
  request.subject->run({}, states);
  return norms;
}

std::string sink_name(const Axis& axis, int64_t position) {
  return fmt::format("{} ({})", axis.positions[static_cast<size_t>(position)].text, position);
}

std::string sinks_note(const Axis& axis, const Sinks& sinks, double threshold) {
  const std::vector<int64_t> found = sinks.positions();
  if (found.empty()) {
    return fmt::format(
        "no sinks: no position gets more than {} of the attention in any of {} heads", threshold,
        sinks.heads);
  }
  std::vector<std::string> named;
  double mass = 0;
  for (const int64_t position : found) {
    mass += sinks.mass_share[static_cast<size_t>(position)];
    if (named.size() == kNamedSinks) continue;
    const std::string of_all = named.empty() ? fmt::format(" of {} heads", sinks.heads) : "";
    named.push_back(fmt::format("{} in {}{}", sink_name(axis, position),
                                sinks.sink_in[static_cast<size_t>(position)], of_all));
  }
  const std::string more =
      found.size() > kNamedSinks ? fmt::format(" and {} more", found.size() - kNamedSinks) : "";
  return fmt::format("{}: {}{}; {:.1f} % of all attention", found.size() == 1 ? "sink" : "sinks",
                     fmt::join(named, ", "), more, 100 * mass);
}

// How long the state of the foremost sink becomes, in the layer where it stands out most.
std::string massive_note(const Axis& axis, const LayerNorms& norms, int64_t position) {
  int at = norms.begin()->first;
  for (const auto& [layer, lengths] : norms) {
    if (times_median(lengths, position) > times_median(norms.at(at), position)) at = layer;
  }
  return fmt::format(
      "the state of {} is {:.1f} times as long as the median where it enters layer {}",
      sink_name(axis, position), times_median(norms.at(at), position), at);
}

std::string artifacts_note(const Axis& axis, const LayerNorms& norms, const Sinks& sinks) {
  const auto& [layer, lengths] = *norms.rbegin();
  const PictureAxis picture = PictureAxis::of(axis);
  const Artifacts found = find_artifacts(lengths, picture);
  if (found.count() == 0) {
    return fmt::format("no artifact patches: none has an outlying norm where it enters layer {}",
                       layer);
  }
  double mass = 0;
  for (size_t i = 0; i < found.norms.size(); ++i) {
    if (found.outliers.cells[i] != 0) mass += sinks.mass_share[i + size_t(picture.specials)];
  }
  return fmt::format(
      "artifacts: {} of {} patches with outlying norms, above {:.1f}, where they enter layer {}; "
      "{:.1f} % of all attention",
      found.count(), found.norms.size(), found.cut, layer, 100 * mass);
}

Explanation explain_sinks(const ExplainRequest& request) {
  const double threshold = number_parameter(sinks_method(), request, "threshold");
  const Sinks sinks = find_sinks(layers_of(request.run, request.kind), threshold);
  Explanation explanation{
      .axis = columns_of(request.run, request.kind),
      .measures = fmt::format("share of heads that give it more than {}", threshold)};
  for (size_t k = 0; k < sinks.sink_in.size(); ++k) {
    explanation.scores.push_back(sinks.share(static_cast<int64_t>(k)));
  }
  explanation.notes.push_back(sinks_note(explanation.axis, sinks, threshold));
  const LayerNorms norms = layer_norms(request);
  if (norms.empty()) return explanation;
  if (const auto found = sinks.positions(); !found.empty()) {
    explanation.notes.push_back(massive_note(explanation.axis, norms, found.front()));
  }
  if (explanation.axis.grid_rows > 0) {
    explanation.notes.push_back(artifacts_note(explanation.axis, norms, sinks));
  }
  return explanation;
}

}  // namespace

Method sinks_method() {
  return {
      .name = "sinks",
      .summary = "positions that many heads look at whatever the input says, and artifacts",
      .answers =
          "Where does attention go that has nothing to look for? The score is the share of all "
          "heads whose mean weight on a position is above the threshold. A sink carries little: "
          "its value is short. In short texts a real word can pass the threshold.",
      .cost = "L H N^2 d, memory N d; one run of the model more for the lengths of states",
      .needs = {},
      .parameters = {{.name = "threshold",
                      .help = "mean weight above which a head has a sink",
                      .otherwise = "0.3"}},
      .explain = explain_sinks};
}

}  // namespace fovea
