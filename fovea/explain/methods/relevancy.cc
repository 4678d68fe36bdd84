#include "fovea/explain/relevancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/method.h"
#include "fovea/explain/target_gradient.h"

namespace fovea {

Method relevancy_method();

namespace {

bool has_cross(const Run& run) {
  return std::ranges::any_of(
      run.records, [](const auto& record) { return record->site.kind == SiteKind::kCross; });
}

void fail_without_gradient(const ExplainRequest& request) {
  fail(ErrorKind::kUnsupported, Field{"site"},
       "the answer asked about does not depend on attention like {}; choose another",
       to_string(SiteId{request.kind, 0}));
}

// A negative number counts from the last layer, as in the authors' notebook for CLIP.
int64_t first_layer(const ExplainRequest& request, int64_t layers) {
  const int64_t given = whole_parameter(relevancy_method(), request, "start-layer");
  const int64_t first = given < 0 ? layers + given : given;
  if (first >= 0 && first < layers) return first;
  fail(ErrorKind::kInvalidArgument,
       "start-layer of relevancy is {} but there are layers 0 to {}; -1 is the last", given,
       layers - 1);
}

std::vector<std::string> relevancy_notes(const std::vector<double>& read, bool pooled,
                                         int64_t first, int64_t layers) {
  std::vector<std::string> notes;
  const auto count = std::ranges::count_if(read, [](double weight) { return weight > 0; });
  if (count > 1) {
    notes.push_back(fmt::format("the answer reads {} positions: mean of their rows{}", count,
                                pooled ? "" : ", without the 1 that each has of itself"));
  }
  if (first > 0) notes.push_back(fmt::format("layers {} to {} alone", first, layers - 1));
  return notes;
}

// Layers arrive from the last to the first, so that only one is in memory at a time.
Explanation explain_stack(const ExplainRequest& request) {
  int64_t layers = 0, first = 0;
  const bool pools = request.kind == SiteKind::kSelf || request.kind == SiteKind::kVisionSelf;
  std::vector<double> r, read;
  bool pooled = false;
  RecorderOptions record{
      .wanted =
          [&](SiteId site) {
            return site.kind == request.kind || (pools && site.kind == SiteKind::kPool);
          },
      .give_to =
          [&](int64_t, const AttentionRecord& layer) {
            if (r.empty()) r = read = rows_read(layer);
            if (!is_self_attention(layer.site.kind)) {  // a pooling head, which is no position
              r = read = relevancy_times_left(layer, r);
              pooled = true;
              return;
            }
            if (layers == 0) {
              layers = layer.site.layer + 1;
              first = first_layer(request, layers);
            }
            if (layer.site.layer >= first) pass_relevancy(layer, r);
          }};
  target_gradient(request, {.target = {}, .inputs = false, .record = record, .at = {}});
  if (r.empty()) fail_without_gradient(request);
  const auto row = std::ranges::find(read, 1.0);
  // If the answer reads many positions, the identity in R adds the same constant to each of their
  // scores. It is larger than everything else and would hide it, so it is taken away.
  if (row == read.end() && !pooled) {
    for (size_t i = 0; i < r.size(); ++i) r[i] -= read[i];
  }
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .scores = std::move(r),
                          .measures = "what raises the answer",
                          .notes = relevancy_notes(read, pooled, first, layers)};
  if (row != read.end()) explanation.row = row - read.begin();
  return explanation;
}

Explanation explain_stacks(const ExplainRequest& request, ZeroRows zero_rows) {
  if (whole_parameter(relevancy_method(), request, "start-layer") != 0) {
    fail(ErrorKind::kInvalidArgument,
         "start-layer of relevancy is for models of one stack; leave it out");
  }
  const SubjectGradient gradient = target_gradient(
      request,
      {.target = {},
       .inputs = false,
       .record =
           RecorderOptions{.wanted = [](SiteId site) { return site.kind != SiteKind::kPanoptic; }},
       .at = {}});
  RelevancyStacks stacks;
  for (const auto& record : gradient.records) {
    if (record->site.kind == SiteKind::kEncoderSelf) stacks.encoder.push_back(record);
    if (record->site.kind == SiteKind::kDecoderSelf) stacks.decoder.push_back(record);
    if (record->site.kind == SiteKind::kCross) stacks.cross.push_back(record);
  }
  if (stacks.cross.empty()) fail_without_gradient(request);
  std::vector<double> rows = rows_read(*stacks.cross.back());
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .measures = "what raises the answer"};
  if (request.kind == SiteKind::kDecoderSelf) {
    for (size_t layer = stacks.decoder.size(); layer-- > 0;) {
      pass_relevancy(*stacks.decoder[layer], rows);
    }
    explanation.scores = std::move(rows);
    return explanation;
  }
  CrossRelevancy found = cross_relevancy(stacks, rows, zero_rows);
  explanation.scores = std::move(found.source);
  if (zero_rows == ZeroRows::kDropsLayer) {
    explanation.notes = {
        fmt::format("{} of {} layers of cross-attention are left out, as the authors' program does",
                    found.zero_layers, stacks.cross.size())};
  }
  return explanation;
}

Explanation explain_relevancy(const ExplainRequest& request) {
  const bool reference = choice_parameter(relevancy_method(), request, "compat") == "reference";
  if (!has_cross(request.run)) return explain_stack(request);
  if (request.kind == SiteKind::kEncoderSelf) {
    fail(ErrorKind::kUnsupported, Field{"site"},
         "relevancy goes through decoder and encoder to the source; leave it out, or choose the "
         "decoder for what has been written");
  }
  return explain_stacks(request, reference ? ZeroRows::kDropsLayer : ZeroRows::kIdentity);
}

}  // namespace

Method relevancy_method() {
  return {
      .name = "relevancy",
      .summary = "attention times its gradient through all layers: what speaks for an answer",
      .answers =
          "Which positions did the answer come from, counting only attention that raises it? The "
          "best general map of a class, a word, an object or a similarity. What speaks against "
          "the answer is cut off in every layer, and feed-forward parts count only through the "
          "gradient, so that small numbers say little.",
      .cost = "one run forward and back, and L N^2 d; memory N d",
      .needs = {.subject = true, .target = true, .gradient = true},
      .parameters = {{.name = "start-layer",
                      .help = "leave out the layers before this one",
                      .otherwise = "0",
                      .least = -4095,
                      .most = 4095},
                     {.name = "compat",
                      .help = "compute it as another program does, mistake for mistake",
                      .otherwise = "none",
                      .choices = {"none", "reference"}}},
      .explain = explain_relevancy};
}

}  // namespace fovea
