#include "fovea/io/safetensors.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  // With an owner aligned tensors are borrowed, without one all are copied.
  const std::shared_ptr<const void> owner(data, [](const void*) {});
  try {
    for (const auto& keep_alive : {owner, std::shared_ptr<const void>()}) {
      const auto file = fovea::SafetensorsFile::parse(bytes, "input", keep_alive);
      for (const auto& entry : file.entries()) {
        fovea::require(file.find(entry.name) == &entry);
        const fovea::Tensor tensor = file.tensor(entry);
        fovea::require(tensor.bytes() == entry.end - entry.begin);
        fovea::touch(tensor);
      }
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
