#include "fovea/engine/check_maps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr double kRowSumTolerance = 1e-5;   // the contract on each weight
constexpr double kOutputTolerance = 1e-4;   // the contract on outputs
constexpr double kRoundedTolerance = 5e-3;  // the same where products are of 16-bit integers

// The larger of both. NaN counts as infinite, so that it cannot pass.
double worse(double worst, double error) {
  if (std::isnan(error)) return std::numeric_limits<double>::infinity();
  return std::max(worst, error);
}

// One head: row sums, and the map times the values against what the layer gave.
void check_head(const AttentionMap& map, MapCheck& check, double& largest_output,
                double& largest_error) {
  const AttentionRecord& record = map.record();
  const AttentionShape shape = record.shape();
  const Tensor weights = map.tile(map.whole());
  const Tensor all_values = convert(record.values, DType::kF32);
  const MatrixView<const float> values = all_values.matrix<float>(shape.kv_head(map.head()));
  const MatrixView<const float> output = record.output.matrix<float>(map.head());
  const bool sums_to_one = record.rule.sink_logit.empty();
  for (int64_t i = 0; i < map.rows(); ++i) {
    const float* row = weights.values<float>().data() + i * map.cols();
    double sum = 0;
    for (int64_t j = 0; j < map.cols(); ++j) sum += double{row[j]};
    if (sums_to_one && sum != 0) {
      check.row_sum_error = worse(check.row_sum_error, std::abs(sum - 1));
    }
    for (int64_t d = 0; d < values.cols; ++d) {
      double mixed = 0;
      for (int64_t j = 0; j < map.cols(); ++j) {
        mixed += double{row[j]} * double{values.data[j * values.cols + d]};
      }
      const double own = output.data[i * output.cols + d];
      largest_output = std::max(largest_output, std::abs(own));
      largest_error = worse(largest_error, std::abs(mixed - own));
    }
  }
}

// Heads that share one softmax and mix no values: all of a query's weights together.
void check_joint(const std::shared_ptr<const AttentionRecord>& record, MapCheck& check) {
  const AttentionShape shape = record->shape();
  std::vector<double> sums(static_cast<size_t>(shape.rows));
  for (int64_t head = 0; head < shape.heads; ++head) {
    const AttentionMap map(record, head);
    const Tensor weights = map.tile(map.whole());
    for (int64_t i = 0; i < shape.rows; ++i) {
      const float* row = weights.values<float>().data() + i * shape.cols;
      for (int64_t j = 0; j < shape.cols; ++j) sums[static_cast<size_t>(i)] += double{row[j]};
    }
    ++check.maps;
  }
  for (const double sum : sums) check.row_sum_error = worse(check.row_sum_error, std::abs(sum - 1));
}

}  // namespace

double MapCheck::output_tolerance() const {
  return rounded ? kRoundedTolerance : kOutputTolerance;
}

bool MapCheck::passed() const {
  return maps > 0 && row_sum_error <= kRowSumTolerance && output_error <= output_tolerance();
}

namespace {

std::vector<int64_t> some_ids(const TextFacts& facts) {
  const int64_t most = facts.most_tokens == 0 ? 16 : std::min<int64_t>(16, facts.most_tokens);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < most; ++i) ids.push_back((7 * i + 3) % facts.vocabulary);
  return ids;
}

Tensor some_numbers(const Shape& shape) {
  Tensor numbers(shape);
  float* out = numbers.mutable_values<float>().data();
  for (int64_t i = 0; i < numbers.elements(); ++i) {
    out[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i % 1009)));
  }
  return numbers;
}

}  // namespace

EncodedInput check_input(const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  ModelInputs inputs;
  if (facts.takes_features()) {
    inputs.input_features = some_numbers(
        {engine.checkpoint().config.get_size("num_mel_bins", 80), 2 * facts.sound->positions});
  } else if (facts.finds_objects()) {
    const int64_t stride = facts.objects->stride;
    inputs.pixel_values = some_numbers({facts.picture->channels, 5 * stride, 7 * stride});
  } else if (facts.takes_pixels()) {
    const PictureFacts& picture = *facts.picture;
    inputs.pixel_values =
        some_numbers({picture.channels, picture.image_height, picture.image_width});
    if (facts.takes_text()) inputs.input_ids = some_ids(*facts.text);
  } else if (engine.find_tokenizer() != nullptr) {
    EncodedInput input =
        engine.encode("The quick brown fox jumps over the lazy dog, and the dog sleeps on.");
    if (!facts.has_decoder()) return input;
    inputs.input_ids = input.inputs.input_ids;
  } else {
    inputs.input_ids = some_ids(*facts.text);
  }
  if (facts.has_decoder()) {
    inputs.decoder_input_ids = some_ids(*facts.target);
  }
  return engine.label(inputs);
}

MapCheck check_maps(const Engine& engine, const EncodedInput& input) {
  const RunResult result = engine.run(input, {.record = {.outputs = true}});
  MapCheck check{.tokens = result.run.records.front()->shape().cols,
                 .rounded = engine.options().compute == DType::kI16};
  for (const auto& record : result.run.records) {
    if (record->site.kind == SiteKind::kPanoptic) {
      check_joint(record, check);
      continue;
    }
    double largest_output = 0, largest_error = 0;
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      check_head(AttentionMap(record, head), check, largest_output, largest_error);
      ++check.maps;
    }
    check.output_error =
        std::max(check.output_error, largest_error / std::max(1e-30, largest_output));
  }
  return check;
}

void require_passed(const MapCheck& check) {
  if (check.passed()) return;
  fail(ErrorKind::kInternal,
       "the maps do not check out: row sums are off by {:.1e} (allowed {:.0e}), A·V by {:.1e} "
       "(allowed {:.0e}); please report this model",
       check.row_sum_error, kRowSumTolerance, check.output_error, check.output_tolerance());
}

Json to_json(const MapCheck& check) {
  return Json::object({{"maps", check.maps},
                       {"tokens", check.tokens},
                       {"row_sum_error", check.row_sum_error},
                       {"output_error", check.output_error},
                       {"passed", check.passed()}});
}

}  // namespace fovea
