#include "fovea/layers/attend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/attention.h"
#include "fovea/kernels/fixed_point.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/layers/interventions.h"
#include "fovea/layers/run_block.h"
#include "fovea/ops/layout.h"

namespace fovea {
namespace {

// log of the sum over heads of exp lse, for each row of [heads, rows].
Tensor joint_lse(const Tensor& lse) {
  const int64_t heads = lse.size(0), rows = lse.size(1);
  const std::span<const double> each = lse.values<double>();
  Tensor joint = Tensor::uninitialized({rows}, DType::kF64);
  for (int64_t row = 0; row < rows; ++row) {
    const auto of_head = [&](int64_t head) { return each[static_cast<size_t>(head * rows + row)]; };
    double largest = of_head(0);
    for (int64_t head = 1; head < heads; ++head) largest = std::max(largest, of_head(head));
    double sum = 0;
    for (int64_t head = 0; head < heads; ++head) sum += std::exp(of_head(head) - largest);
    joint.mutable_values<double>()[static_cast<size_t>(row)] = largest + std::log(sum);
  }
  return joint;
}

// Rows [begin, begin + count) of every head.
HeadsView rows_of(const Tensor& tensor, int64_t begin, int64_t count) {
  HeadsView view = HeadsView::of(tensor);
  view.data += static_cast<size_t>(begin * view.row_stride) * dtype_bytes(view.dtype);
  view.rows = count;
  return view;
}

// Copies the rows in their own type. Rows of a head lie one after the other.
Tensor copy_of(const HeadsView& view) {
  Tensor copy = Tensor::uninitialized({view.heads, view.rows, view.dim}, view.dtype);
  const auto bytes = static_cast<size_t>(view.rows * view.row_stride) * dtype_bytes(view.dtype);
  const auto apart = static_cast<size_t>(view.head_stride) * dtype_bytes(view.dtype);
  std::byte* to = copy.mutable_raw();
  for (size_t head = 0; head < static_cast<size_t>(view.heads); ++head) {
    std::memcpy(to + head * bytes, view.data + head * apart, bytes);
  }
  return copy;
}

// Rounds queries and keys, if `compute` asks for it. Attention is computed from the rounded numbers
// and the record holds the same ones: a map that is computed from the record later agrees with its
// LSE only then.
AttentionParts rounded(AttentionParts parts, DType compute) {
  parts.compute = compute;
  if (compute == DType::kF32) return parts;
  Tensor queries = parts.queries.tensor.clone(), keys = parts.keys.tensor.clone();
  round_to_units(queries.mutable_matrix<float>());
  parallel_for(keys.size(0),
               [&](int64_t head) { round_to_common_unit(keys.mutable_matrix<float>(head)); });
  parts.queries.tensor = std::move(queries);
  parts.keys.tensor = std::move(keys);
  return parts;
}

AttentionRecord record_of(const AttentionPlace& place, Tensor queries, Tensor keys, Tensor lse,
                          const ScoreRule& rule) {
  AttentionRecord record;
  record.site = place.site;
  record.row_axis = place.row_axis;
  record.col_axis = place.col_axis;
  record.queries = std::move(queries);
  record.keys = std::move(keys);
  record.lse = std::move(lse);
  record.rule = rule;
  return record;
}

// Runs several texts in one pass, each by itself. Texts are short, so each takes one thread. That
// thread also makes its record and gives it away.
Value attend_packed(const Pass& pass, const AttentionPlace& place, const AttentionParts& parts) {
  const Tensor &queries = parts.queries.tensor, &keys = parts.keys.tensor,
               &values = parts.values.tensor;
  const ScoreRule& rule = *parts.rule;
  const bool any_length = std::holds_alternative<std::monostate>(rule.bias) ||
                          std::holds_alternative<AlibiSlopes>(rule.bias);
  if (!rule.mask.range_only() || !any_length || pass.changes != nullptr) {
    fail(ErrorKind::kUnsupported,
         "{} has a bias or a mask that depends on the length of its text; run texts one by one",
         to_string(place.site));
  }
  std::vector<int64_t> begins(pass.texts.size(), 0);
  std::partial_sum(pass.texts.begin(), pass.texts.end() - 1, begins.begin() + 1);
  const int64_t heads = queries.shape()[0];
  const bool mixes = !values.empty();
  Tensor output;
  MutableHeadsView whole;
  if (mixes) {
    output = Tensor::uninitialized({heads, queries.shape()[1], values.shape()[2]});
    whole = MutableHeadsView::of(output);
  }
  const bool recorded = pass.recorder != nullptr && pass.recorder->wants(place.site);
  parallel_for(static_cast<int64_t>(begins.size()), [&](int64_t text) {
    const SingleThread single(true);
    const int64_t begin = begins[static_cast<size_t>(text)];
    const int64_t length = pass.texts[static_cast<size_t>(text)];
    const AttentionInputs inputs{rows_of(queries, begin, length), rows_of(keys, begin, length),
                                 mixes ? rows_of(values, begin, length) : HeadsView(), &rule,
                                 parts.compute};
    Tensor lse = Tensor::uninitialized({heads, length}, DType::kF64);
    MutableHeadsView view = whole;
    view.data += begin * view.row_stride;
    attention(inputs, view, lse.mutable_values<double>());
    if (!recorded) return;
    AttentionRecord record =
        record_of(place, copy_of(inputs.queries), copy_of(inputs.keys), std::move(lse), rule);
    if (pass.recorder->options().values) record.values = copy_of(inputs.values);
    pass.recorder->add(std::move(record), text);
  });
  if (pass.last_site == place.site) throw EndOfPass();
  return ops::merge_heads(output);
}

// The first run of a block keeps the result. The second run, on a tape, takes it and does not
// compute it again.
ops::AttentionResult mix(const Pass& pass, SiteId site, const AttentionParts& parts) {
  if (pass.known != nullptr && pass.tape != nullptr) {
    const auto known = pass.known->attentions.find(site);
    if (known != pass.known->attentions.end()) {
      return ops::known_attention(parts.queries, parts.keys, parts.values, parts.rule,
                                  known->second.output, known->second.lse);
    }
  }
  ops::AttentionResult result =
      ops::attention(parts.queries, parts.keys, parts.values, parts.rule, parts.compute);
  if (pass.known != nullptr && pass.tape == nullptr) {
    pass.known->attentions.insert_or_assign(
        site, KnownResults::Attention{result.output.tensor, result.lse});
  }
  return result;
}

// The record, with everything that the recorder asks for.
AttentionRecord record_of(const RecorderOptions& options, const AttentionPlace& place,
                          const AttentionParts& parts, const ops::AttentionResult& result) {
  AttentionRecord record =
      record_of(place, parts.queries.tensor, parts.keys.tensor, result.lse, *parts.rule);
  if (options.values) record.values = parts.values.tensor;
  if (options.outputs) record.output = result.output.tensor;
  if (options.block && place.block) record.block = place.block();
  if (options.positions && place.positions) record.positions = place.positions();
  return record;
}

}  // namespace

AttentionPlace AttentionPlace::of(SiteId site) {
  switch (site.kind) {
    case SiteKind::kEncoderSelf:
      return {.site = site, .row_axis = "source", .col_axis = "source"};
    case SiteKind::kDecoderSelf:
      return {.site = site, .row_axis = "steps", .col_axis = "target"};
    case SiteKind::kCross:
      return {.site = site, .row_axis = "steps", .col_axis = "source"};
    case SiteKind::kVisionSelf:
      return {.site = site, .row_axis = "patches", .col_axis = "patches"};
    case SiteKind::kPool:
      return {.site = site, .row_axis = "pool", .col_axis = "patches"};
    default:
      return {.site = site};
  }
}

Value attend(const Pass& pass, const AttentionPlace& place, const Value& queries, const Value& keys,
             const Value& values, const std::shared_ptr<const ScoreRule>& rule) {
  check_cancelled();
  if (pass.tape != nullptr &&
      (pass.cache != nullptr || pass.changes != nullptr || !pass.texts.empty())) {
    fail(ErrorKind::kUnsupported,
         "gradients are those of one input and the model as it is; {} is in a generation, changed "
         "or shared by several texts",
         to_string(place.site));
  }
  if (pass.cache != nullptr && place.site.kind != SiteKind::kCross) {
    // The records of a generation are made from the cache once it is over.
    return ops::merge_heads(
        pass.cache->attend(place.site, queries.tensor, keys.tensor, values.tensor, *rule));
  }
  AttentionParts parts{queries, keys, values, rule};
  if (!pass.texts.empty()) {
    return attend_packed(pass, place, rounded(std::move(parts), place.compute));
  }
  if (pass.changes != nullptr) parts = pass.changes->before(place, std::move(parts));
  if (pass.cache == nullptr) parts = rounded(std::move(parts), place.compute);
  ops::AttentionResult result = mix(pass, place.site, parts);
  if (pass.changes != nullptr) {
    result.output = pass.changes->after(place, result.output.tensor);
  }
  if (pass.recorder != nullptr && pass.recorder->wants(place.site)) {
    AttentionRecord record = record_of(pass.recorder->options(), place, parts, result);
    if (pass.tape == nullptr) {
      pass.recorder->add(std::move(record));
    } else {
      result.output = pass.tape->observe(
          result.output, [record = std::move(record), to = pass.recorder](const Tensor& gradient) {
            AttentionRecord whole = record;
            whole.output_gradient = gradient;
            to->add(std::move(whole));
          });
    }
  }
  if (pass.progress != nullptr) pass.progress->advance();
  if (pass.last_site == place.site) throw EndOfPass();
  return ops::merge_heads(result.output);
}

Tensor attend_jointly(const Pass& pass, const AttentionPlace& place, const Tensor& queries,
                      const Tensor& keys, const std::shared_ptr<const ScoreRule>& rule) {
  check_cancelled();
  const AttentionInputs inputs{HeadsView::of(queries), HeadsView::of(keys), {}, rule.get()};
  validate(inputs);
  const AttentionShape shape = inputs.shape();
  Tensor lse = Tensor::uninitialized({shape.heads, shape.rows}, DType::kF64);
  fovea::attention(inputs, {}, lse.mutable_values<double>());
  const Tensor joint = joint_lse(lse);
  for (int64_t head = 0; head < shape.heads; ++head) {
    std::ranges::copy(joint.values<double>(),
                      lse.mutable_values<double>().begin() + head * shape.rows);
  }
  if (pass.recorder != nullptr && pass.recorder->wants(place.site)) {
    pass.recorder->add(record_of(place, queries, keys, lse, *rule));
  }
  if (pass.progress != nullptr) pass.progress->advance();
  return joint;
}

}  // namespace fovea
