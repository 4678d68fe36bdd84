#include "fovea/layers/experts.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

// The experts of every token, those with the largest scores first; the first of equals.
std::vector<int64_t> best_columns(const Tensor& scores, int64_t count) {
  std::vector<int64_t> chosen;
  std::vector<int64_t> columns(static_cast<size_t>(scores.size(1)));
  for (int64_t row = 0; row < scores.size(0); ++row) {
    const float* of = scores.matrix<float>().row(row);
    std::iota(columns.begin(), columns.end(), 0);
    std::ranges::stable_sort(columns, [of](int64_t a, int64_t b) { return of[a] > of[b]; });
    chosen.insert(chosen.end(), columns.begin(), columns.begin() + count);
  }
  return chosen;
}

void note_choice(const Pass& pass, SiteId site, int64_t experts, int64_t taken,
                 const std::vector<int64_t>& chosen, const Tensor& shares) {
  if (pass.recorder == nullptr || !pass.texts.empty() || !pass.recorder->wants(site)) return;
  const Shape shape{static_cast<int64_t>(chosen.size()) / taken, taken};
  pass.recorder->add(ExpertChoice{.layer = site.layer,
                                  .experts = experts,
                                  .chosen = Tensor::from<int64_t>(shape, chosen),
                                  .shares = shares.reshaped(shape)});
}

// Columns 0, 2, 4, ... or 1, 3, 5, ...
Value every_other(const Value& x, int64_t first) {
  const int64_t rows = x.shape()[0], half = x.shape()[1] / 2;
  const Value pairs = ops::reshape(x, {rows, half, 2});
  return ops::reshape(ops::slice(pairs, 2, first, first + 1), {rows, half});
}

}  // namespace

Value ExpertFeedForward::run_expert(const Expert& expert, const Value& x) const {
  Value gate = expert.in.front()(x), up;
  if (expert.in.size() == 1) {
    up = every_other(gate, 1);
    gate = every_other(gate, 0);
  } else {
    up = expert.in[1](x);
  }
  if (activation_.limit == 0) {
    return expert.down(ops::multiply(ops::activation(gate, activation_.activation), up));
  }
  constexpr float kNoLimit = -3e38F;
  gate = ops::clamp(gate, kNoLimit, activation_.limit);
  up = ops::clamp(up, -activation_.limit, activation_.limit);
  const Value opened = ops::multiply(
      gate, ops::activation(ops::scale(gate, activation_.slope), Activation::kSigmoid));
  return expert.down(ops::add(ops::multiply(up, opened), opened));
}

Value ExpertFeedForward::operator()(const Pass& pass, SiteId site, const Value& x,
                                    const Value& residual) const {
  const Value scores = router_(x);
  const std::vector<int64_t> chosen = best_columns(scores.tensor, taken_);
  const Value shares = ops::chosen_softmax(scores, chosen, over_);
  note_choice(pass, site, static_cast<int64_t>(experts_.size()), taken_, chosen, shares.tensor);
  std::vector<ops::PlacedRows> parts;
  for (size_t e = 0; e < experts_.size(); ++e) {
    std::vector<int64_t> rows, places;  // tokens of this expert, and where their shares stand
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] != static_cast<int64_t>(e)) continue;
      rows.push_back(static_cast<int64_t>(i) / taken_);
      places.push_back(static_cast<int64_t>(i));
    }
    if (rows.empty()) continue;
    const Value given = run_expert(experts_[e], ops::take_rows(x, rows));
    parts.push_back({ops::scale_rows(given, ops::take_rows(shares, places)), std::move(rows)});
  }
  const Value sum = ops::sum_rows(parts, x.shape()[0], x.shape()[1]);
  return residual.tensor.empty() ? sum : ops::add(residual, sum);
}

ExpertCounts ExpertCounts::of(const Config& config, std::string_view experts_key,
                              std::string_view taken_key, int64_t taken_otherwise) {
  constexpr int64_t kMostExperts = 4096;
  const ExpertCounts counts{config.get_size(experts_key),
                            config.get_size(taken_key, taken_otherwise)};
  if (counts.experts > kMostExperts) {
    fail(ErrorKind::kBadFile, "{}: {} is {} but no model has more than {}; is the file damaged?",
         config.source(), experts_key, counts.experts, kMostExperts);
  }
  if (counts.taken > counts.experts) {
    fail(ErrorKind::kBadFile,
         "{}: {} is {} but {} is {}; a token cannot go to more experts than "
         "there are",
         config.source(), taken_key, counts.taken, experts_key, counts.experts);
  }
  return counts;
}

namespace {

// All experts in one tensor: the part of each is rows of it.
std::vector<ops::Linear> load_stacked(const LayerSource& source, std::string_view name,
                                      int64_t experts, int64_t in, int64_t out) {
  const StoredMatrix all = source.weights.matrix(name, {experts, out, in});
  std::vector<ops::Linear> linears;
  for (int64_t e = 0; e < experts; ++e) {
    linears.emplace_back(all.rows_between(e * out, (e + 1) * out), Tensor(), source.compute);
  }
  return linears;
}

// Gates and ups of all experts in one tensor, as transformers 5 has them in memory.
std::vector<Expert> load_joined_experts(const LayerSource& source, int64_t experts, int64_t width,
                                        int64_t inner) {
  const StoredMatrix in = source.weights.matrix("gate_up_proj", {experts, 2 * inner, width});
  std::vector<ops::Linear> down = load_stacked(source, "down_proj", experts, inner, width);
  std::vector<Expert> all;
  for (int64_t e = 0; e < experts; ++e) {
    std::vector<ops::Linear> parts;
    for (int64_t begin = 2 * e * inner; begin < 2 * (e + 1) * inner; begin += inner) {
      parts.emplace_back(in.rows_between(begin, begin + inner), Tensor(), source.compute);
    }
    all.push_back({std::move(parts), std::move(down[static_cast<size_t>(e)])});
  }
  return all;
}

}  // namespace

std::vector<Expert> load_experts(const LayerSource& source, int64_t experts, int64_t width,
                                 int64_t inner, const ExpertNames& names) {
  if (source.weights.has("gate_up_proj")) {
    return load_joined_experts(source, experts, width, inner);
  }
  std::vector<Expert> all;
  const auto stacked = [](std::string_view name) { return fmt::format("{}.weight", name); };
  if (source.weights.has(stacked(names.gate))) {
    auto gate = load_stacked(source, stacked(names.gate), experts, width, inner);
    auto up = load_stacked(source, stacked(names.up), experts, width, inner);
    auto down = load_stacked(source, stacked(names.down), experts, inner, width);
    for (size_t e = 0; e < down.size(); ++e) {
      all.push_back({{std::move(gate[e]), std::move(up[e])}, std::move(down[e])});
    }
    return all;
  }
  for (int64_t e = 0; e < experts; ++e) {
    const LayerSource one = source[e];
    all.push_back({{load_linear(one[names.gate], width, inner, /*bias=*/false),
                    load_linear(one[names.up], width, inner, /*bias=*/false)},
                   load_linear(one[names.down], inner, width, /*bias=*/false)});
  }
  return all;
}

}  // namespace fovea
