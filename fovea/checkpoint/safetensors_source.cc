#include "fovea/checkpoint/safetensors_source.h"

#include "fovea/checkpoint/file_source.h"
#include "fovea/io/safetensors.h"

namespace fovea {

std::shared_ptr<const WeightSource> open_safetensors_weights(const std::filesystem::path& path) {
  return std::make_shared<FileSource<SafetensorsFile>>(SafetensorsFile::open(path), path.string());
}

}  // namespace fovea
