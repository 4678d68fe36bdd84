#include "fovea/checkpoint/pickle.h"
#include "fovea/checkpoint/torch_file.h"
#include "fovea/checkpoint/torch_storage.h"
#include "fuzz/fuzz_touch.h"

// The bytes as a PyTorch file, and as a pickle by itself, which no checksum guards.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMostElements = 1 << 16;  // a repeated element may make a large tensor
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const std::shared_ptr<const void> owner(data, [](const void*) {});
  try {
    for (const auto& keep_alive : {owner, std::shared_ptr<const void>()}) {
      const auto file = fovea::TorchFile::parse(bytes, "input", keep_alive);
      for (const auto& entry : file.entries()) {
        if (entry.shape.elements() > kMostElements) continue;
        try {
          const fovea::Tensor tensor = file.tensor(entry);
          fovea::require(tensor.shape() == entry.shape && tensor.dtype() == entry.dtype);
          fovea::touch(tensor);
        } catch (const fovea::Error&) {  // a damaged storage does not hide the next
        }
      }
    }
  } catch (const fovea::Error&) {
  }
  try {
    const auto pickle = fovea::Pickle::parse(bytes, "input", fovea::torch_globals());
    fovea::require(pickle.size() <= size);
  } catch (const fovea::Error&) {
  }
  return 0;
}
