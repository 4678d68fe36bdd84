#include "fovea/checkpoint/file_source.h"

#include <string>
#include <utility>
#include <vector>

#include "fovea/checkpoint/torch_file.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

// The reader of either kind lists entries (name, dtype, shape) and gives their tensors.
template <typename File>
class FileSource final : public WeightSource {
 public:
  FileSource(File file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
    infos_.reserve(file_.entries().size());
    for (const auto& entry : file_.entries()) {
      infos_.push_back(
          {entry.name, entry.dtype, entry.shape, std::string(dtype_name(entry.dtype))});
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override { return file_.tensor(file_.entries()[index]); }
  const std::string& file(size_t) const override { return name_; }
  const std::string& name() const override { return name_; }

 private:
  File file_;
  std::string name_;
  std::vector<TensorInfo> infos_;
};

}  // namespace

std::shared_ptr<const WeightSource> open_safetensors_weights(const std::filesystem::path& path) {
  return std::make_shared<FileSource<SafetensorsFile>>(SafetensorsFile::open(path), path.string());
}

std::shared_ptr<const WeightSource> open_torch_weights(const std::filesystem::path& path) {
  return std::make_shared<FileSource<TorchFile>>(TorchFile::open(path), path.string());
}

}  // namespace fovea
