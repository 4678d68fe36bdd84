#include "fovea/checkpoint/weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/tensor/convert.h"

namespace fovea {

struct Weights::Shared {
  explicit Shared(std::shared_ptr<const WeightSource> tensors)
      : source(std::move(tensors)), used(source == nullptr ? 0 : source->tensors().size()) {}

  std::shared_ptr<const WeightSource> source;  // null: no tensors
  mutable std::vector<std::atomic<bool>> used;
};

// Maps a name to its position in the source's list; sorted by name.
struct Weights::Index {
  using Entry = std::pair<std::string, uint32_t>;
  std::vector<Entry> entries;

  void sort() { std::sort(entries.begin(), entries.end()); }
  std::vector<Entry>::const_iterator lower_bound(std::string_view name) const {
    return std::lower_bound(entries.begin(), entries.end(), name,
                            [](const Entry& e, std::string_view n) { return e.first < n; });
  }
  bool contains(std::string_view name) const {
    const auto it = lower_bound(name);
    return it != entries.end() && it->first == name;
  }
};

namespace {

// `name` with the parts `from` replaced by `to`, wherever they stand between dots; "" if nowhere.
std::string replace_parts(std::string_view name, std::string_view from, std::string_view to) {
  std::string result;
  size_t copied = 0;
  for (size_t at = name.find(from); at != name.npos && !from.empty(); at = name.find(from, at)) {
    const size_t end = at + from.size();
    const bool whole = (at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.');
    if (whole) {
      result.append(name.substr(copied, at - copied)).append(to);
      copied = end;
    }
    at = end;
  }
  return copied == 0 ? "" : result.append(name.substr(copied));
}

// Most weights are packed and then not read again: what was mapped of them leaves memory with their
// last tensor, so that it does not hold them twice.
Tensor held_once(Tensor tensor) {
  constexpr size_t kSmall = size_t{1} << 16;
  const auto bytes = [](const Tensor& of) { return Bytes(of.raw(), of.bytes()); };
  if (tensor.bytes() < kSmall || !is_mapped(bytes(tensor))) return tensor;
  const std::shared_ptr<const Tensor> owner(new Tensor(tensor), [bytes](const Tensor* last) {
    let_pages_go(bytes(*last));
    delete last;
  });
  return Tensor::borrow(tensor.shape(), tensor.dtype(), tensor.raw(), owner);
}

}  // namespace

Weights::Weights() : Weights(nullptr) {}

Weights::Weights(std::shared_ptr<const WeightSource> source)
    : shared_(std::make_shared<Shared>(std::move(source))) {
  auto index = std::make_shared<Index>();
  if (shared_->source != nullptr) {
    for (const TensorInfo& info : shared_->source->tensors()) {
      index->entries.emplace_back(info.name, static_cast<uint32_t>(index->entries.size()));
    }
  }
  index->sort();
  index_ = std::move(index);
}

Weights::Weights(std::shared_ptr<const Shared> shared, std::shared_ptr<const Index> index,
                 std::string prefix)
    : shared_(std::move(shared)), index_(std::move(index)), prefix_(std::move(prefix)) {}

Weights Weights::operator[](std::string_view part) const {
  return Weights(shared_, index_, fmt::format("{}{}.", prefix_, part));
}

Weights Weights::operator[](int64_t index) const {
  return Weights(shared_, index_, fmt::format("{}{}.", prefix_, index));
}

Weights Weights::below_one_of(std::initializer_list<std::string_view> prefixes,
                              std::string_view probe) const {
  for (const std::string_view prefix : prefixes) {
    if (has(fmt::format("{}{}", prefix, probe))) {
      return Weights(shared_, index_, fmt::format("{}{}", prefix_, prefix));
    }
  }
  fail(ErrorKind::kBadFile,
       "{}: has no tensor {} below any of the prefixes '{}' among its {} tensors; are weights and "
       "config.json of the same model?",
       source(), quote_name(prefix_ + std::string(probe)), fmt::join(prefixes, "', '"),
       index_->entries.size());
}

Weights Weights::renamed(std::span<const Rename> table) const {
  auto index = std::make_shared<Index>(*index_);
  for (Index::Entry& entry : index->entries) {
    std::string name = entry.first;
    for (const Rename& rename : table) {
      std::string next = replace_parts(name, rename.in_file, rename.wanted);
      if (!next.empty()) name = std::move(next);
    }
    if (!index_->contains(name)) entry.first = std::move(name);
  }
  index->sort();
  return Weights(shared_, std::move(index), prefix_);
}

const std::string& Weights::source() const {
  static const std::string nothing = "(no weights)";
  return shared_->source == nullptr ? nothing : shared_->source->name();
}

std::vector<std::string> Weights::files() const {
  std::vector<std::string> files;
  if (shared_->source == nullptr) return files;
  for (size_t i = 0; i < shared_->source->tensors().size(); ++i) {
    files.push_back(shared_->source->file(i));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (auto it = index_->lower_bound(prefix_);
       it != index_->entries.end() && it->first.starts_with(prefix_); ++it) {
    names.push_back(it->first.substr(prefix_.size()));
  }
  return names;
}

int64_t Weights::position(std::string_view name) const {
  const std::string whole = prefix_ + std::string(name);
  const auto it = index_->lower_bound(whole);
  return it == index_->entries.end() || it->first != whole ? -1 : int64_t{it->second};
}

size_t Weights::require(std::string_view name) const {
  const int64_t at = position(name);
  if (at < 0) {
    fail(ErrorKind::kBadFile,
         "{}: has no tensor {} among its {}; are weights and config.json of the same model?",
         source(), quote_name(prefix_ + std::string(name)), index_->entries.size());
  }
  return static_cast<size_t>(at);
}

const TensorInfo* Weights::find(std::string_view name) const {
  const int64_t at = position(name);
  return at < 0 ? nullptr : &shared_->source->tensors()[static_cast<size_t>(at)];
}

Tensor Weights::tensor(std::string_view name) const {
  const size_t at = require(name);
  Tensor result = shared_->source->read(at);
  shared_->used[at].store(true, std::memory_order_relaxed);
  return held_once(std::move(result));
}

void Weights::check_shape(size_t at, const Shape& shape) const {
  const Shape& found = shared_->source->tensors()[at].shape;
  if (!(found == shape)) {
    fail(ErrorKind::kBadFile,
         "{}: tensor {} has shape {} but the model's configuration asks for {}; are weights and "
         "config.json of the same model?",
         shared_->source->file(at), quote_name(shared_->source->tensors()[at].name),
         to_string(found), to_string(shape));
  }
}

Tensor Weights::tensor(std::string_view name, const Shape& shape) const {
  check_shape(require(name), shape);
  return tensor(name);
}

StoredMatrix Weights::matrix(std::string_view name, const Shape& shape) const {
  const size_t at = require(name);
  check_shape(at, shape);
  const TensorInfo& info = shared_->source->tensors()[at];
  if (info.dtype != DType::kF32 && info.dtype != DType::kF16 && info.dtype != DType::kBF16) {
    fail(
        ErrorKind::kUnsupported,
        "{}: tensor {} holds {}; of weights that are multiplied with fovea reads F32, F16 and BF16",
        shared_->source->file(at), quote_name(info.name), dtype_name(info.dtype));
  }
  const StoredMatrix result = shared_->source->matrix(at);
  shared_->used[at].store(true, std::memory_order_relaxed);
  return result.held_in(held_once(result.numbers()));
}

Tensor Weights::tensor(std::string_view name, const Shape& shape, DType dtype) const {
  return convert(tensor(name, shape), dtype);
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < shared_->used.size(); ++i) {
    if (!shared_->used[i].load(std::memory_order_relaxed)) {
      names.push_back(shared_->source->tensors()[i].name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fovea
