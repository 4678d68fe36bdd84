// Weights without a file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/checkpoint/weight_source.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

class MemorySource final : public WeightSource {
 public:
  explicit MemorySource(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {
    for (const NamedTensor& tensor : tensors_) {
      infos_.push_back({tensor.name, tensor.tensor.dtype(), tensor.tensor.shape(),
                        std::string(dtype_name(tensor.tensor.dtype()))});
    }
  }
  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override { return tensors_[index].tensor; }
  const std::string& file(size_t) const override { return name_; }
  const std::string& name() const override { return name_; }

 private:
  std::string name_ = "memory";
  std::vector<NamedTensor> tensors_;
  std::vector<TensorInfo> infos_;
};

}  // namespace fovea
