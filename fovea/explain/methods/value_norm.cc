#include "fovea/explain/value_norm.h"

#include <fmt/format.h>

#include "fovea/explain/method.h"

namespace fovea {

Method value_norm_method();

namespace {

// Notes for the user: how much of the row is its own residual, and that the block has no norm
// although one was asked for.
std::vector<std::string> value_norm_notes(const std::shared_ptr<const AttentionRecord>& record,
                                          const ExplainRequest& request, BlockExtent extent) {
  if (extent == BlockExtent::kAttention) return {};
  std::vector<std::string> notes;
  const BlockSum sum(record, extent, {request.position, request.position + 1});
  if (sum.has_residual()) {
    notes.push_back(fmt::format("{:.1f} % of this row comes from {}, the rest is its residual",
                                100 * mixing_ratios(sum).front(),
                                sum.residual_in_columns() ? "other positions" : "the source"));
  }
  if (extent == BlockExtent::kNorm && record->block->norm_weight.empty()) {
    notes.emplace_back("the block ends without a norm, so the residual is all that is counted in");
  }
  return notes;
}

Explanation explain_value_norm(const ExplainRequest& request) {
  const auto record = layer_asked(request);
  // A head alone has no residual.
  const BlockExtent extent =
      request.head && !request.parameters.contains("with")
          ? BlockExtent::kAttention
          : kBlockExtents.named(choice_parameter(value_norm_method(), request, "with"));
  std::vector<double> scores = value_norm_row(record, request.position, extent, request.head);
  scores.resize(static_cast<size_t>(record->shape().cols));  // a residual of no column is a note
  return {.axis = columns_of(request.run, request.kind),
          .scores = std::move(scores),
          .layer = record->site.layer,
          .measures = "length of what it brings",
          .notes = value_norm_notes(record, request, extent)};
}

}  // namespace

Method value_norm_method() {
  return {.name = "value-norm",
          .summary = "how long the vectors are that attention brings: weight times value",
          .answers =
              "How much does each position add to this one in this layer? A large weight on a "
              "short value adds little, as on separators. It is one layer, and length is not use: "
              "vectors may cancel, and later layers may ignore them.",
          .cost = "N H d for a row of N columns, H heads and width d",
          .needs = {.position = true, .block = true},
          .parameters = {{.name = "with",
                          .help = "what is counted in beside attention: the residual, and the norm "
                                  "after it",
                          .otherwise = "norm",
                          .choices = kBlockExtents.names()}},
          .takes_layer = true,
          .takes_head = true,
          .explain = explain_value_norm};
}

}  // namespace fovea
