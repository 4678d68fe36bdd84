#include "fovea/layers/numeric_input.h"

#include "fovea/base/error.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {

Value numeric_input(const Pass& pass, std::string_view name, const Tensor& own) {
  if (pass.inputs == nullptr) return own;
  Tensor values = own;
  const auto given = pass.inputs->given.find(name);
  if (given != pass.inputs->given.end()) {
    values = given->second;
    if (values.dtype() != DType::kF32 || !(values.shape() == own.shape())) {
      fail(ErrorKind::kInvalidArgument,
           "{} is given as {} {} but the model reads F32 {}; give one number for each", name,
           dtype_name(values.dtype()), to_string(values.shape()), to_string(own.shape()));
    }
  }
  const Value read = pass.tape == nullptr ? Value(values) : pass.tape->watch(values);
  pass.inputs->read.insert_or_assign(std::string(name), read);
  return read;
}

Value embed_words(const Pass& pass, std::string_view name, const StoredMatrix& table,
                  std::span<const int64_t> ids, float scale) {
  const Value words = ops::embedding(table, ids);
  return numeric_input(pass, name, scale == 1 ? words.tensor : ops::scale(words, scale).tensor);
}

}  // namespace fovea
