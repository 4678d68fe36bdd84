#include "fovea/atlas/attention_map.h"
#include "fovea/capture/run_file.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const std::shared_ptr<const void> owner(data, [](const void*) {});
  try {
    const auto file = fovea::SafetensorsFile::parse(bytes, "input", owner);
    const fovea::Run run = fovea::load_run(file, "input");
    // What loads must also compute: the corners of every head's map.
    for (const auto& record : run.records) {
      const fovea::AttentionShape shape = record->shape();
      for (int64_t head = 0; head < std::min<int64_t>(shape.heads, 3); ++head) {
        const fovea::AttentionMap map(record, head);
        const int64_t rows = std::min<int64_t>(map.rows(), 20);
        const int64_t cols = std::min<int64_t>(map.cols(), 40);
        fovea::touch(map.tile({map.rows() - rows, map.rows(), map.cols() - cols, map.cols()}));
        fovea::touch(map.tile({0, rows, 0, cols}));
      }
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
