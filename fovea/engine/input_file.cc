#include "fovea/engine/input_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/safetensors.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

template <typename T>
std::vector<int64_t> widened(const Tensor& tensor) {
  const std::span<const T> values = tensor.values<T>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> whole_numbers(const Tensor& tensor, const std::string& where) {
  const bool batch_of_one = tensor.rank() == 2 && tensor.size(0) == 1;
  if (tensor.rank() != 1 && !batch_of_one) {
    fail(ErrorKind::kBadFile, "{} has shape {}; it must be a list of numbers without a batch axis",
         where, to_string(tensor.shape()));
  }
  switch (tensor.dtype()) {
    case DType::kI64:
      return widened<int64_t>(tensor);
    case DType::kI32:
      return widened<int32_t>(tensor);
    case DType::kU8:
      return widened<uint8_t>(tensor);
    case DType::kBool:
      return widened<bool>(tensor);
    default:
      fail(ErrorKind::kBadFile, "{} is of the type {}; it must hold whole numbers, as I64 say",
           where, dtype_name(tensor.dtype()));
  }
}

// An input whose positions are all masked has nothing to show.
void check_mask(const std::vector<int64_t>& mask, const std::string& where) {
  if (mask.empty() || std::ranges::any_of(mask, [](int64_t entry) { return entry != 0; })) return;
  fail(ErrorKind::kBadFile,
       "{} is 0 at all {} positions, so that nothing may be looked at; put 1 where the input is",
       where, mask.size());
}

// [height, width] of whole numbers as I64.
Tensor mask_of_pixels(const Tensor& tensor, const std::string& where) {
  const bool batch_of_one = tensor.rank() == 3 && tensor.size(0) == 1;
  if ((tensor.rank() != 2 && !batch_of_one) || tensor.empty()) {
    fail(ErrorKind::kBadFile, "{} has shape {}; it must be [height, width] without a batch axis",
         where, to_string(tensor.shape()));
  }
  const int64_t height = tensor.size(tensor.rank() - 2), width = tensor.size(tensor.rank() - 1);
  const std::vector<int64_t> mask = whole_numbers(tensor.reshaped({height * width}), where);
  check_mask(mask, where);
  return Tensor::from({height, width}, mask);
}

// Numbers with the axes that `axes` names, `rank` of them, as f32.
Tensor numbers(const Tensor& tensor, int rank, std::string_view axes, const std::string& where) {
  const bool batch_of_one = tensor.rank() == rank + 1 && tensor.size(0) == 1;
  if ((tensor.rank() != rank && !batch_of_one) || tensor.empty()) {
    fail(ErrorKind::kBadFile, "{} has shape {}; it must be {} without a batch axis", where,
         to_string(tensor.shape()), axes);
  }
  const Tensor values = convert(tensor, DType::kF32);
  for (const float value : values.values<float>()) {
    if (!std::isfinite(value)) {
      fail(ErrorKind::kBadFile, "{} holds {}; every number must be finite", where, value);
    }
  }
  if (!batch_of_one) return values;
  const std::vector<int64_t>& sizes = tensor.shape().sizes();
  return values.reshaped(Shape(std::vector<int64_t>(sizes.begin() + 1, sizes.end())));
}

}  // namespace

ModelInputs read_inputs(const std::filesystem::path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  std::vector<NamedTensor> tensors;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    tensors.push_back({entry.name, file.tensor(entry)});
  }
  return model_inputs_of(tensors, path.string());
}

ModelInputs model_inputs_of(std::span<const NamedTensor> tensors, std::string_view source) {
  ModelInputs inputs;
  const std::array<std::pair<std::string_view, std::vector<int64_t>*>, 5> lists{
      {{"input_ids", &inputs.input_ids},
       {"token_type_ids", &inputs.token_type_ids},
       {"attention_mask", &inputs.attention_mask},
       {"decoder_input_ids", &inputs.decoder_input_ids},
       {"decoder_attention_mask", &inputs.decoder_attention_mask}}};
  for (const NamedTensor& entry : tensors) {
    const std::string where = fmt::format("{}: {}", source, quote_name(entry.name));
    if (entry.name == "input_features") {
      inputs.input_features = numbers(entry.tensor, 2, "[bands, frames]", where);
      continue;
    }
    if (entry.name == "pixel_values") {
      inputs.pixel_values = numbers(entry.tensor, 3, "[channels, height, width]", where);
      continue;
    }
    if (entry.name == "pixel_mask") {
      inputs.pixel_mask = mask_of_pixels(entry.tensor, where);
      continue;
    }
    const auto* list = std::ranges::find(lists, entry.name, [](const auto& l) { return l.first; });
    if (list == lists.end()) {
      fail(ErrorKind::kUnsupported,
           "{} is not an input that fovea's models take; they take input_ids, token_type_ids, "
           "attention_mask, decoder_input_ids, decoder_attention_mask, input_features, "
           "pixel_values and pixel_mask",
           where);
    }
    *list->second = whole_numbers(entry.tensor, where);
    if (list->second->empty()) {
      fail(ErrorKind::kBadFile, "{} is empty; give at least one number", where);
    }
    if (entry.name.ends_with("_mask")) check_mask(*list->second, where);
  }
  if (inputs.input_ids.empty() && inputs.input_features.empty() && inputs.pixel_values.empty()) {
    fail(ErrorKind::kBadFile,
         "{}: holds neither input_ids nor input_features nor pixel_values; save them under that "
         "name",
         source);
  }
  return inputs;
}

}  // namespace fovea
