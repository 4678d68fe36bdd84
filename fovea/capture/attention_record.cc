#include "fovea/capture/attention_record.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "fovea/capture/weight_scan.h"

namespace fovea {
namespace {

void check(const AttentionRecord& record, bool holds, std::string_view part, const Tensor& tensor,
           std::string_view wanted) {
  if (holds) return;
  fail(ErrorKind::kInvalidArgument, "{}: {} is {} {} but should be {}", to_string(record.site),
       part, dtype_name(tensor.dtype()), to_string(tensor.shape()), wanted);
}

bool is_float(const Tensor& tensor) {
  return tensor.dtype() == DType::kF32 || tensor.dtype() == DType::kF16 ||
         tensor.dtype() == DType::kBF16;
}

// Whether no exponent is all ones, which NaNs and infinities have. Without a way out of the loop,
// so that it goes by vectors.
template <typename Bits, typename T>
bool no_exponent_is(Bits ones, std::span<const T> values) {
  Bits largest = 0;
  for (const T& value : values) {
    largest = std::max<Bits>(largest, std::bit_cast<Bits>(value) & ones);
  }
  return largest != ones;
}

bool all_finite(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kF64:
      return no_exponent_is(uint64_t{0x7FF} << 52, tensor.values<double>());
    case DType::kF32:
      return no_exponent_is(uint32_t{0xFF} << 23, tensor.values<float>());
    case DType::kBF16:
      return no_exponent_is(uint16_t{0x7F80}, tensor.values<BF16>());
    case DType::kF16:
      return no_exponent_is(uint16_t{0x7C00}, tensor.values<F16>());
    default:
      return true;
  }
}

void check_finite(const AttentionRecord& record, std::string_view part, const Tensor& tensor) {
  if (all_finite(tensor)) return;
  fail(ErrorKind::kBadFile,
       "{}: {} hold a NaN or an infinity, so there is no map to show; check the weights and input",
       to_string(record.site), part);
}

// Of a record that holds weights alone.
void validate_weights(const AttentionRecord& record) {
  const Tensor& weights = record.weights;
  check(record, (is_float(weights) || weights.dtype() == DType::kF64) && weights.rank() == 3,
        "the map", weights, "floating point [heads, rows, columns]");
  const Tensor* others[] = {&record.queries, &record.keys, &record.values, &record.lse};
  if (!std::ranges::all_of(others, &Tensor::empty) || record.block || record.positions) {
    fail(ErrorKind::kInvalidArgument,
         "{}: has weights and what they are computed from; give one of them",
         to_string(record.site));
  }
  scan_weights(weights, to_string(record.site));
}

void validate_rule(const AttentionRecord& record) {
  AttentionShape shape = record.shape();
  if (!record.has_queries()) shape.head_dim = 1;  // what it is of vectors does not matter
  try {
    validate(record.rule, shape);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", to_string(record.site), error.what());
  }
}

void validate_context(const AttentionRecord& record, const AttentionShape& shape) {
  // Without values their size is not known.
  const auto fits_values = [&](int64_t size, int64_t heads) {
    return record.values.empty() || size == heads * shape.value_dim;
  };
  if (const Tensor& gradient = record.output_gradient; !gradient.empty()) {
    check(record,
          is_float(gradient) && gradient.rank() == 3 && gradient.size(0) == shape.heads &&
              gradient.size(1) == shape.rows && fits_values(gradient.size(2), 1),
          "the output gradient", gradient, "[heads, rows, value size]");
  }
  if (record.positions) {
    const auto& [queries, keys] = *record.positions;
    check(record, is_float(queries) && queries.shape() == record.queries.shape(),
          "the positions' part of Q", queries, "floating point of the shape of Q");
    check(record, is_float(keys) && keys.shape() == record.keys.shape(), "the positions' part of K",
          keys, "floating point of the shape of K");
    check_finite(record, "the positions' parts", queries);
    check_finite(record, "the positions' parts", keys);
  }
  if (!record.block) return;
  const BlockContext& block = *record.block;
  check(record,
        is_float(block.output_weight) && block.output_weight.rank() == 2 &&
            fits_values(block.output_weight.size(1), shape.heads),
        "the output weight", block.output_weight, "[width, heads * value size]");
  const int64_t width = block.output_weight.size(0);
  check(record,
        block.input.empty() ||
            (is_float(block.input) && block.input.shape() == Shape{shape.rows, width}),
        "the block input", block.input, "[rows, width]");
  for (const Tensor* vector : {&block.output_bias, &block.norm_weight, &block.norm_bias}) {
    check(record, vector->empty() || (is_float(*vector) && vector->shape() == Shape{width}),
          "a bias or norm weight", *vector, "[width]");
  }
  const auto check_bias = [&](std::string_view part, const Tensor& bias, int64_t size) {
    check(record, bias.empty() || (is_float(bias) && bias.shape() == Shape{size}), part, bias,
          "[heads * head size]");
  };
  check_bias("the query bias", block.query_bias, shape.heads * shape.head_dim);
  check_bias("the key bias", block.key_bias, shape.kv_heads * shape.head_dim);
  if (!record.values.empty()) {
    check_bias("the value bias", block.value_bias, shape.kv_heads * shape.value_dim);
  }
}

}  // namespace

AttentionShape AttentionRecord::shape() const {
  if (!has_queries()) {
    return {weights.size(0), weights.size(0), weights.size(1), weights.size(2), 0, 0};
  }
  return {queries.size(0), keys.size(0),    queries.size(1),
          keys.size(1),    queries.size(2), values.empty() ? 0 : values.size(2)};
}

void check_has_queries(const AttentionRecord& record, std::string_view what) {
  if (record.has_queries()) return;
  fail(ErrorKind::kUnsupported,
       "{} is an array of weights without the queries and keys that {}; capture the model itself",
       to_string(record.site), what);
}

void validate(const AttentionRecord& record) {
  if (!record.has_queries()) {
    validate_weights(record);
    return validate_rule(record);
  }
  check(record, is_float(record.queries) && record.queries.rank() == 3, "Q", record.queries,
        "floating point [heads, rows, head size]");
  check(record,
        is_float(record.keys) && record.keys.rank() == 3 &&
            record.keys.size(2) == record.queries.size(2),
        "K", record.keys, "floating point [key heads, columns, head size]");
  const AttentionShape shape = record.shape();
  if (!record.values.empty()) {
    check(record,
          is_float(record.values) && record.values.rank() == 3 &&
              record.values.size(0) == shape.kv_heads && record.values.size(1) == shape.cols,
          "V", record.values, "floating point [key heads, columns, value size]");
  }
  check(record,
        (record.lse.dtype() == DType::kF64 || record.lse.dtype() == DType::kF32) &&
            record.lse.shape() == Shape{shape.heads, shape.rows},
        "LSE", record.lse, "F64 [heads, rows]");
  validate_rule(record);
  check_finite(record, "the queries", record.queries);
  check_finite(record, "the keys", record.keys);
  check_finite(record, "the values", record.values);
  check_finite(record, "the log-sum-exps", record.lse);
  validate_context(record, shape);
}

}  // namespace fovea
