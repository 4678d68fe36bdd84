#include "fovea/checkpoint/gguf_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/gguf_architecture.h"
#include "fovea/checkpoint/gguf_config.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

void check_mixed_rows(int64_t rows, int64_t heads, std::string_view where) {
  if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) {
    fail(ErrorKind::kBadFile,
         "{}: its {} rows do not divide into {} heads of even size; convert the model again", where,
         rows, heads);
  }
}

// Heads of the tensor whose rows llama.cpp mixes; 0 for all others.
int64_t mixed_heads(const GgufArchitecture& architecture, std::string_view name,
                    const Config& config) {
  if (!architecture.mixes_halves || !name.starts_with("blk.")) return 0;
  const std::string_view part = name.substr(std::min(name.size(), name.find('.', 4)));
  if (part.starts_with(".attn_q.")) return config.get_size("num_attention_heads");
  if (part.starts_with(".attn_k.")) return config.get_size("num_key_value_heads");
  return 0;
}

Tensor minus(const Tensor& tensor, float offset) {
  Tensor result = convert(tensor, DType::kF32).clone();
  for (float& value : result.mutable_values<float>()) value -= offset;
  return result;
}

Tensor transposed(const Tensor& tensor) {
  const int64_t rows = tensor.size(0), cols = tensor.size(1);
  Tensor result = Tensor::uninitialized({cols, rows}, tensor.dtype());
  const size_t size = dtype_bytes(tensor.dtype());
  std::byte* to = result.mutable_raw();
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r, to += size) {
      std::memcpy(to, tensor.raw() + static_cast<size_t>(r * cols + c) * size, size);
    }
  }
  return result;
}

class GgufSource final : public WeightSource {
 public:
  explicit GgufSource(GgufFile file) : file_(std::move(file)) {
    const GgufArchitecture& architecture = gguf_architecture(file_);
    const Config config = gguf_config(file_);
    for (const GgufFile::Entry& entry : file_.entries()) {
      const bool in_block = entry.name.starts_with("blk.");
      Change change;
      change.heads = mixed_heads(architecture, entry.name, config);
      change.transposed = architecture.transposes && in_block && entry.shape.rank() == 2;
      if (entry.name.ends_with("norm.weight")) change.offset = architecture.norm_offset;
      if (change.heads > 0) check_heads(entry, change.heads);
      TensorInfo info{architecture.hub_name(entry.name), entry.type->dtype, entry.shape,
                      std::string(entry.type->name)};
      if (change.transposed) info.shape = {entry.shape[1], entry.shape[0]};
      if (change.offset != 0) info.dtype = DType::kF32;
      infos_.push_back(std::move(info));
      changes_.push_back(change);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override {
    const GgufFile::Entry& entry = file_.entries()[index];
    const Change& change = changes_[index];
    const Tensor tensor = file_.tensor(entry);
    if (change.heads != 0) return unpermute_heads(tensor, change.heads, place_of(entry));
    if (change.transposed) return transposed(tensor);
    return change.offset != 0 ? minus(tensor, change.offset) : tensor;
  }
  StoredMatrix matrix(size_t index) const override {
    const Change& change = changes_[index];
    const StoredMatrix matrix = file_.matrix(file_.entries()[index]);
    return change.transposed ? matrix.transposed() : matrix.with_halves_mixed(change.heads);
  }
  const std::string& file(size_t index) const override {
    return file_.source(file_.entries()[index].part);
  }
  const std::string& name() const override { return file_.source(); }

 private:
  // In what the file's tensor differs from the hub's.
  struct Change {
    int64_t heads = 0;  // whose rows are mixed
    bool transposed = false;
    float offset = 0;
  };
  std::string place_of(const GgufFile::Entry& entry) const {
    return fmt::format("{}: tensor {}", file_.source(entry.part), quote_name(entry.name));
  }
  void check_heads(const GgufFile::Entry& entry, int64_t heads) const {
    check_mixed_rows(entry.shape.rank() == 0 ? 1 : entry.shape[0], heads, place_of(entry));
  }

  GgufFile file_;
  std::vector<TensorInfo> infos_;
  std::vector<Change> changes_;
};

}  // namespace

Tensor unpermute_heads(const Tensor& tensor, int64_t heads, std::string_view where) {
  const int64_t rows = tensor.rank() == 0 ? 1 : tensor.size(0);
  check_mixed_rows(rows, heads, where);
  Tensor result = Tensor::uninitialized(tensor.shape(), tensor.dtype());
  if (rows == 0) return result;
  const int64_t half = rows / heads / 2;
  const size_t row_bytes = tensor.bytes() / static_cast<size_t>(rows);
  const auto row_at = [&](int64_t row) { return static_cast<size_t>(row) * row_bytes; };
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t part = 0; part < 2; ++part) {  // row 2i + part was row i of that half
        const int64_t first = head * half * 2;
        std::memcpy(result.mutable_raw() + row_at(first + part * half + i),
                    tensor.raw() + row_at(first + 2 * i + part), row_bytes);
      }
    }
  }
  return result;
}

std::shared_ptr<const WeightSource> gguf_weights(GgufFile file) {
  return std::make_shared<GgufSource>(std::move(file));
}

}  // namespace fovea
