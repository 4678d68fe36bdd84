#include "fovea/io/npz.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 1 << 22;
  const fovea::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  try {
    const auto zip = fovea::ZipReader::parse(bytes, "input");
    for (const fovea::ZipEntry& entry : zip.entries()) {
      try {
        fovea::require(zip.find(entry.name) == &entry);
        fovea::require(zip.read(entry, kLimit).bytes.size() == entry.size);
      } catch (const fovea::Error&) {  // a damaged entry does not hide the next
      }
    }
    const std::shared_ptr<const void> owner(data, [](const void*) {});
    const auto file = fovea::NpzFile::parse(bytes, "input", owner, kLimit);
    for (const std::string& name : file.names()) {
      try {
        fovea::touch(file.tensor(name));
      } catch (const fovea::Error&) {
      }
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
