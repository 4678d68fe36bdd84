// The weights of one file whose reader lists entries (name, dtype, shape) and gives their tensors:
// safetensors and PyTorch files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/checkpoint/weight_source.h"

namespace fovea {

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

}  // namespace fovea
