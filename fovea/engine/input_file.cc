#include "fovea/engine/input_file.h"

#include "fovea/base/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/io/tensor_bytes.h"

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

}  // namespace

ModelInputs read_inputs(const std::filesystem::path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  ModelInputs inputs;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    const std::string where = fmt::format("{}: {}", path.string(), quote_name(entry.name));
    std::vector<int64_t>* target = nullptr;
    if (entry.name == "input_ids") target = &inputs.input_ids;
    if (entry.name == "token_type_ids") target = &inputs.token_type_ids;
    if (entry.name == "attention_mask") target = &inputs.attention_mask;
    if (target == nullptr) {
      fail(ErrorKind::kUnsupported,
           "{} is not an input that fovea's models take; they take input_ids, token_type_ids and "
           "attention_mask",
           where);
    }
    *target = whole_numbers(file.tensor(entry), where);
  }
  if (inputs.input_ids.empty()) {
    fail(ErrorKind::kBadFile, "{}: holds no input_ids; save them under that name", path.string());
  }
  return inputs;
}

}  // namespace fovea
