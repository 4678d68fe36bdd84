#include "fovea/checkpoint/torch_source.h"

#include "fovea/checkpoint/file_source.h"
#include "fovea/checkpoint/torch_file.h"

namespace fovea {

std::shared_ptr<const WeightSource> open_torch_weights(const std::filesystem::path& path) {
  return std::make_shared<FileSource<TorchFile>>(TorchFile::open(path), path.string());
}

}  // namespace fovea
