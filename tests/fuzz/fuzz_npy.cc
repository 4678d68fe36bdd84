#include "fovea/io/npy.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const std::shared_ptr<const void> owner(data, [](const void*) {});
  try {
    const fovea::Tensor borrowed = fovea::parse_npy(bytes, "input", owner);
    fovea::require(borrowed.bytes() <= size);
    fovea::touch(borrowed);
    fovea::touch(fovea::parse_npy(bytes, "input"));
  } catch (const fovea::Error&) {
  }
  return 0;
}
