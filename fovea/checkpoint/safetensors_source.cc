#include "fovea/checkpoint/safetensors_source.h"

#include <utility>

#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

class SafetensorsSource final : public WeightSource {
 public:
  SafetensorsSource(SafetensorsFile file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {
    infos_.reserve(file_.entries().size());
    for (const SafetensorsFile::Entry& entry : file_.entries()) {
      infos_.push_back(
          {entry.name, entry.dtype, entry.shape, std::string(dtype_name(entry.dtype))});
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override { return file_.tensor(file_.entries()[index]); }
  const std::string& file(size_t) const override { return name_; }
  const std::string& name() const override { return name_; }

 private:
  SafetensorsFile file_;
  std::string name_;
  std::vector<TensorInfo> infos_;
};

}  // namespace

std::shared_ptr<const WeightSource> open_safetensors_weights(const std::filesystem::path& path) {
  return std::make_shared<SafetensorsSource>(SafetensorsFile::open(path), path.string());
}

}  // namespace fovea
