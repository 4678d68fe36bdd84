#include "fovea/checkpoint/gguf.h"
#include "fovea/checkpoint/gguf_source.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const std::shared_ptr<const void> owner(data, [](const void*) {});
  try {
    const auto file = fovea::GgufFile::parse(bytes, "input", owner);
    for (const auto& entry : file.entries()) {
      fovea::require(file.find(entry.name) == &entry);
      const fovea::Tensor tensor = file.tensor(entry);
      fovea::require(tensor.shape() == entry.shape && tensor.dtype() == entry.type->dtype);
      fovea::touch(tensor);
      const bool floats = tensor.dtype() == fovea::DType::kF32 ||
                          tensor.dtype() == fovea::DType::kF16 ||
                          tensor.dtype() == fovea::DType::kBF16;
      if (tensor.rank() == 2 && floats) fovea::touch(file.matrix(entry).numbers());
    }
    try {
      static_cast<void>(fovea::read_gguf_tokenizer(file));
    } catch (const fovea::Error&) {  // says nothing about the tensors
    }
    const auto weights = fovea::gguf_weights(file);
    for (size_t i = 0; i < weights->tensors().size(); ++i) fovea::touch(weights->read(i));
  } catch (const fovea::Error&) {
  }
  return 0;
}
