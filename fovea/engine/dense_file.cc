#include "fovea/engine/dense_file.h"

#include <algorithm>

#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

constexpr int64_t kBlockCells = int64_t{1} << 22;  // 16 MiB at a time

StreamedTensor streamed_map(std::shared_ptr<const AttentionRecord> record) {
  const AttentionShape shape = record->shape();
  return {to_string(record->site), DType::kF32, Shape({shape.heads, shape.rows, shape.cols}),
          [record = std::move(record), shape](FileWriter& file) {
            const int64_t step =
                std::max<int64_t>(1, kBlockCells / std::max<int64_t>(shape.cols, 1));
            for (int64_t head = 0; head < shape.heads; ++head) {
              const AttentionMap map(record, head);
              for (int64_t row = 0; row < shape.rows; row += step) {
                const int64_t end = std::min(row + step, shape.rows);
                const Tensor tile = map.tile({row, end, 0, shape.cols});
                file.write(Bytes{tile.raw(), tile.bytes()});
              }
            }
          }};
}

StreamedTensor streamed(std::string name, const Tensor& tensor) {
  return {std::move(name), tensor.dtype(), tensor.shape(), [tensor](FileWriter& file) {
            file.write(Bytes{tensor.raw(), tensor.bytes()});
          }};
}

std::vector<StreamedTensor> all_tensors(const RunResult& result) {
  std::vector<StreamedTensor> tensors;
  for (const auto& record : result.run.records) tensors.push_back(streamed_map(record));
  const ModelOutputs& outputs = result.outputs;
  const std::initializer_list<std::pair<const char*, const Value*>> values{
      {"last_hidden_state", &outputs.last_hidden_state},
      {"encoder_last_hidden_state", &outputs.encoder_last_hidden_state},
      {"text_last_hidden_state", &outputs.text_last_hidden_state},
      {"pooler_output", &outputs.pooler_output},
      {"image_embeds", &outputs.image_embeds},
      {"text_embeds", &outputs.text_embeds},
      {"logits", &outputs.logits},
      {"pred_boxes", &outputs.pred_boxes},
      {"pred_masks", &outputs.pred_masks}};
  for (const auto& [name, value] : values) {
    if (!value->tensor.empty()) tensors.push_back(streamed(name, value->tensor));
  }
  return tensors;
}

std::string tokens_json(const Run& run) {
  Json axes = Json::object();
  for (const Axis& axis : run.axes) {
    Json texts = Json::array();
    for (const Position& position : axis.positions) texts.push_back(position.text);
    axes.set(axis.name, std::move(texts));
  }
  return axes.dump();
}

// Which of those each map's rows and columns count along.
std::string axes_json(const Run& run) {
  Json axes = Json::object();
  for (const auto& record : run.records) {
    axes.set(to_string(record->site),
             Json::array_of(std::vector{record->row_axis, record->col_axis}));
  }
  return axes.dump();
}

}  // namespace

uint64_t dense_bytes(const RunResult& result) {
  uint64_t bytes = 0;
  for (const StreamedTensor& tensor : all_tensors(result)) bytes += tensor.bytes();
  return bytes;
}

void write_dense(const RunResult& result, const std::filesystem::path& path) {
  const Metadata metadata{{"model", result.run.model},
                          {"model_hash", result.run.model_hash},
                          {"tokens", tokens_json(result.run)},
                          {"axes", axes_json(result.run)}};
  stream_safetensors(path, all_tensors(result), metadata);
}

}  // namespace fovea
