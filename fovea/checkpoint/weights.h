// A checkpoint's named tensors, as models ask for them: weights["encoder.layer"][3].
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/weight_source.h"

namespace fovea {

// A tensor that the file calls ".. in_file" is found as ".. wanted". Both are whole parts between
// dots: {"LayerNorm.gamma", "LayerNorm.weight"}.
struct Rename {
  std::string_view in_file;
  std::string_view wanted;
};

// A view of all tensors whose names begin with a prefix. Copies and narrower views share the source
// and remember together which tensors were read. All const members may be called from any thread.
class Weights {
 public:
  Weights();  // holds nothing
  explicit Weights(std::shared_ptr<const WeightSource> source);

  // The tensors below "<part>.".
  Weights operator[](std::string_view part) const;
  Weights operator[](int64_t index) const;
  // The tensors below the first prefix ("bert.", "model.", "") that holds `probe`. Throws
  // Error{kBadFile} if none does.
  Weights below_one_of(std::initializer_list<std::string_view> prefixes,
                       std::string_view probe) const;
  // The same tensors, old names replaced. A name that is there already is not replaced.
  Weights renamed(std::span<const Rename> table) const;

  // The file, for messages.
  const std::string& source() const;
  // All files that hold tensors, sorted.
  std::vector<std::string> files() const;
  // "" or "encoder.layer.3."
  const std::string& prefix() const { return prefix_; }
  // Names within this view, sorted, without its prefix.
  std::vector<std::string> names() const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // nullptr if there is no such tensor. The name within is the file's own.
  const TensorInfo* find(std::string_view name) const;

  // In the file's own type. Throws Error{kBadFile} if there is no such tensor.
  Tensor tensor(std::string_view name) const;
  // As above, and throws Error{kBadFile} with both shapes if it has another one.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  // As above, converted to a floating-point type.
  Tensor tensor(std::string_view name, const Shape& shape, DType dtype) const;
  // A matrix as the file stores it, or the rows of several: [experts, rows, cols] become [experts
  // rows, cols]. Throws as tensor() does.
  StoredMatrix matrix(std::string_view name, const Shape& shape) const;

  // The file's names that nobody has read, sorted; of the whole checkpoint, not only of this view.
  std::vector<std::string> unused() const;

 private:
  struct Shared;
  struct Index;
  Weights(std::shared_ptr<const Shared> shared, std::shared_ptr<const Index> index,
          std::string prefix);
  // Position in the source's list, or -1.
  int64_t position(std::string_view name) const;
  size_t require(std::string_view name) const;
  void check_shape(size_t at, const Shape& shape) const;

  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<const Index> index_;
  std::string prefix_;
};

}  // namespace fovea
