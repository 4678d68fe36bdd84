#include "fovea/checkpoint/torch_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/pickle.h"
#include "fovea/checkpoint/torch_storage.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

constexpr std::array<std::string_view, 3> kContainers{"model_state_dict", "state_dict", "model"};
constexpr int kDeepestContainer = 4;
constexpr int kDeepestName = 8;
constexpr size_t kMostVisits = size_t{1} << 22;
constexpr size_t kMostTorchAxes = 32;
constexpr size_t kLongestWeightName = 4096;
// A tensor that repeats its elements (stride 0) may not grow beyond this.
constexpr int64_t kMostRepeatedElements = int64_t{1} << 26;

bool is_call_of(const PickleNode& node, std::string_view function) {
  return node.kind == PickleKind::kCall && node.items[0]->text.starts_with("torch._utils.") &&
         node.items[0]->text.substr(std::string_view("torch._utils.").size()).starts_with(function);
}

// The call that makes the tensor, within the parameter that may be around it; nullptr if it is
// neither.
const PickleNode* as_tensor(const PickleNode& node) {
  const PickleNode* inner = &node;
  for (int depth = 0; depth < 4 && is_call_of(*inner, "_rebuild_parameter"); ++depth) {
    if (inner->items[1]->items.empty()) return nullptr;
    inner = inner->items[1]->items[0];
  }
  return is_call_of(*inner, "_rebuild_tensor") ? inner : nullptr;
}

const PickleNode* find_member(const PickleNode& dict, std::string_view key) {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (dict.items[i]->kind == PickleKind::kString && dict.items[i]->text == key) {
      return dict.items[i + 1];
    }
  }
  return nullptr;
}

bool holds_tensors(const PickleNode& dict) {
  for (size_t i = 1; i < dict.items.size(); i += 2) {
    if (as_tensor(*dict.items[i]) != nullptr) return true;
  }
  return false;
}

// The dict whose members are the weights.
const PickleNode& state_dict_in(const PickleNode& root, std::string_view source) {
  const PickleNode* dict = &root;
  for (int depth = 0; depth < kDeepestContainer && dict->kind == PickleKind::kDict; ++depth) {
    if (holds_tensors(*dict)) return *dict;
    const PickleNode* next = nullptr;
    for (const std::string_view key : kContainers) {
      const PickleNode* member = find_member(*dict, key);
      if (next == nullptr && member != nullptr && member->kind == PickleKind::kDict) next = member;
    }
    if (next == nullptr) break;
    dict = next;
  }
  if (root.kind != PickleKind::kDict) {
    fail(ErrorKind::kUnsupported,
         "{}: holds {} where a dict of tensors is expected; save the model's state_dict", source,
         kind_name(root.kind));
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < root.items.size() && keys.size() < 8; i += 2) {
    keys.push_back(quote_name(root.items[i]->text));
  }
  fail(ErrorKind::kUnsupported,
       "{}: has no tensors on top nor under '{}'; its members are {}; save the model's state_dict",
       source, fmt::join(kContainers, "', '"),
       keys.empty() ? "none" : shorten(fmt::format("{}", fmt::join(keys, ", ")), 300));
}

std::vector<int64_t> read_ints(const PickleNode& node, std::string_view where) {
  const PickleNode* list = &node;
  if (node.kind == PickleKind::kCall && node.items[0]->text == "torch.Size" &&
      !node.items[1]->items.empty()) {
    list = node.items[1]->items[0];
  }
  if ((list->kind != PickleKind::kTuple && list->kind != PickleKind::kList) ||
      list->items.size() > kMostTorchAxes) {
    fail(ErrorKind::kBadFile, "{}: its sizes are {} of {} items; expected up to {} numbers", where,
         kind_name(list->kind), list->items.size(), kMostTorchAxes);
  }
  std::vector<int64_t> values;
  for (const PickleNode* item : list->items) {
    if (item->kind != PickleKind::kInt) {
      fail(ErrorKind::kBadFile, "{}: a size is {}; expected whole numbers", where,
           kind_name(item->kind));
    }
    values.push_back(item->number);
  }
  return values;
}

// How many elements of the storage the tensor reaches over, from its first; 0 if it is empty.
// Checks that nothing overflows.
uint64_t reach_of(const TorchFile::Entry& entry, std::string_view where) {
  if (entry.strides.size() != static_cast<size_t>(entry.shape.rank())) {
    fail(ErrorKind::kBadFile, "{}: has {} sizes but {} strides", where, entry.shape.rank(),
         entry.strides.size());
  }
  if (entry.shape.elements() == 0) return 0;
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t last = 0;
  for (int axis = 0; axis < entry.shape.rank(); ++axis) {
    const int64_t stride = entry.strides[static_cast<size_t>(axis)];
    if (stride < 0) fail(ErrorKind::kBadFile, "{}: has the negative stride {}", where, stride);
    const auto steps = static_cast<uint64_t>(entry.shape[axis] - 1);
    const auto step = static_cast<uint64_t>(stride);
    if (step != 0 && steps > (kLargest - last) / step) {
      fail(ErrorKind::kBadFile, "{}: its strides reach beyond what memory can address", where);
    }
    last += steps * step;
  }
  return last + 1;
}

void check_extent(TorchFile::Entry& entry, const TorchStorageId& id, int64_t offset,
                  std::optional<uint64_t> storage_bytes, std::string_view where) {
  const uint64_t reach = reach_of(entry, where);
  if (!storage_bytes) {
    if (reach == 0) return;
    fail(ErrorKind::kBadFile,
         "{}: its storage {} is not in the file; perhaps an incomplete download", where,
         quote_name(id.key));
  }
  const uint64_t unit = dtype_bytes(entry.dtype);
  const uint64_t view_unit = id.dtype ? unit : 1;
  const uint64_t in_file = *storage_bytes / view_unit;
  const auto begin = static_cast<uint64_t>(id.view_offset);
  uint64_t room = begin > in_file ? 0 : std::min(in_file - begin, uint64_t(id.view_elements));
  if (!id.dtype) room /= unit;
  if (offset < 0 || static_cast<uint64_t>(offset) > room ||
      reach > room - static_cast<uint64_t>(offset)) {
    fail(ErrorKind::kBadFile,
         "{}: reaches over {} elements from {} but its storage has {}; perhaps an incomplete "
         "download",
         where, reach, offset, room);
  }
  if (entry.shape.elements() > kMostRepeatedElements &&
      static_cast<uint64_t>(entry.shape.elements()) > reach) {
    fail(ErrorKind::kUnsupported, "{}: repeats {} stored elements to {}, more than the {} allowed",
         where, reach, entry.shape.elements(), kMostRepeatedElements);
  }
  entry.offset = begin / (id.dtype ? 1 : unit) + static_cast<uint64_t>(offset);
}

// _rebuild_tensor(storage, offset, size, stride), _v2 with flags behind, _v3 with a dtype too.
TorchFile::Entry read_tensor(std::string name, const PickleNode& call,
                             const TorchContainer& container, std::string_view source) {
  const std::string where = fmt::format("{}: tensor {}", source, quote_name(name));
  const auto& arguments = call.items[1]->items;
  if (arguments.size() < 4 || arguments[1]->kind != PickleKind::kInt) {
    fail(ErrorKind::kBadFile,
         "{}: is made from {} values; expected storage, offset, sizes, strides", where,
         arguments.size());
  }
  const TorchStorageId id = read_storage_id(*arguments[0], source);
  TorchFile::Entry entry{.name = std::move(name)};
  if (id.dtype) {
    entry.dtype = *id.dtype;
  } else {
    const auto dtype = arguments.size() > 6 ? find_torch_dtype(arguments[6]->text) : std::nullopt;
    if (!dtype) {
      fail(ErrorKind::kUnsupported, "{}: has an element type that fovea does not read", where);
    }
    entry.dtype = *dtype;
  }
  entry.storage = id.key;
  entry.shape = shape_from_file(read_ints(*arguments[2], where), where);
  entry.strides = read_ints(*arguments[3], where);
  check_extent(entry, id, arguments[1]->number, container.find(id.key), where);
  return entry;
}

// Walks dicts within dicts. A hostile pickle can make few objects look like very many, or put a
// dict into itself, so depth and steps are bounded.
class Flattener {
 public:
  Flattener(const TorchContainer& container, std::string_view source,
            std::vector<TorchFile::Entry>& entries)
      : container_(container), source_(source), entries_(entries) {}

  void walk(const PickleNode& dict, const std::string& prefix, int depth) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      if (++visits_ > kMostVisits) {
        fail(ErrorKind::kBadFile, "{}: has more than {} members", source_, kMostVisits);
      }
      const PickleNode& key = *dict.items[i];
      const PickleNode& value = *dict.items[i + 1];
      if (key.kind != PickleKind::kString || prefix.size() + key.text.size() > kLongestWeightName)
        continue;
      const PickleNode* tensor = as_tensor(value);
      if (tensor != nullptr) {
        add(prefix + std::string(key.text), *tensor);
      } else if (value.kind == PickleKind::kDict && depth < kDeepestName) {
        walk(value, fmt::format("{}{}.", prefix, key.text), depth + 1);
      }
    }
  }

 private:
  void add(std::string name, const PickleNode& tensor) {
    if (find_invalid_utf8(name) != std::string::npos) {
      fail(ErrorKind::kBadFile, "{}: the name {} is not valid UTF-8", source_, quote_name(name));
    }
    const auto [it, is_new] = positions_.try_emplace(name, entries_.size());
    TorchFile::Entry entry = read_tensor(std::move(name), tensor, container_, source_);
    if (is_new) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[it->second] = std::move(entry);  // as in Python, the last one stays
    }
  }

  const TorchContainer& container_;
  std::string_view source_;
  std::vector<TorchFile::Entry>& entries_;
  std::unordered_map<std::string, size_t> positions_;
  size_t visits_ = 0;
};

bool is_contiguous(const TorchFile::Entry& entry) {
  int64_t expected = 1;
  for (int axis = entry.shape.rank(); axis-- > 0;) {
    if (entry.shape[axis] == 1) continue;
    if (entry.strides[static_cast<size_t>(axis)] != expected) return false;
    expected *= entry.shape[axis];
  }
  return true;
}

// `from` is the tensor's first element. Its extent has been checked.
Tensor copy_strided(const TorchFile::Entry& entry, const std::byte* from) {
  Tensor tensor = Tensor::uninitialized(entry.shape, entry.dtype);
  const auto unit = static_cast<int64_t>(dtype_bytes(entry.dtype));
  const int rank = entry.shape.rank();
  std::vector<int64_t> position(static_cast<size_t>(rank), 0);
  std::byte* to = tensor.mutable_raw();
  const int64_t inner = entry.shape[rank - 1];
  // The stride of an axis of one element is never used and may be any number.
  const int64_t inner_stride = inner == 1 ? 0 : entry.strides.back() * unit;
  for (int64_t done = 0; done < entry.shape.elements(); done += inner) {
    for (int64_t i = 0; i < inner; ++i, to += unit) {
      std::memcpy(to, from + i * inner_stride, static_cast<size_t>(unit));
    }
    for (int axis = rank - 1; axis-- > 0;) {
      const auto at = static_cast<size_t>(axis);
      if (entry.shape[axis] == 1) continue;
      from += entry.strides[at] * unit;
      if (++position[at] < entry.shape[axis]) break;
      from -= position[at] * entry.strides[at] * unit;
      position[at] = 0;
    }
  }
  return tensor;
}

}  // namespace

TorchFile TorchFile::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  const Bytes bytes = mapped->bytes();
  return parse(bytes, path.string(), std::move(mapped));
}

TorchFile TorchFile::parse(Bytes bytes, std::string_view source,
                           std::shared_ptr<const void> keep_alive) {
  TorchFile file;
  file.source_ = source;
  file.container_ = TorchContainer::parse(bytes, source, std::move(keep_alive));
  file.read_entries();
  return file;
}

void TorchFile::read_entries() {
  const PickleNode& weights = state_dict_in(container_->pickle().root(), source_);
  Flattener(*container_, source_, entries_).walk(weights, "", 0);
}

std::vector<std::pair<std::string, int64_t>> TorchFile::numbers(std::string_view member) const {
  std::vector<std::pair<std::string, int64_t>> result;
  const PickleNode& root = container_->pickle().root();
  const PickleNode* dict = root.kind == PickleKind::kDict ? find_member(root, member) : nullptr;
  if (dict == nullptr || dict->kind != PickleKind::kDict) return result;
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    const PickleNode &key = *dict->items[i], &value = *dict->items[i + 1];
    if (key.kind == PickleKind::kString && value.kind == PickleKind::kInt) {
      result.emplace_back(key.text, value.number);
    }
  }
  return result;
}

Tensor TorchFile::tensor(const Entry& entry) const {
  if (entry.shape.elements() == 0) return Tensor(entry.shape, entry.dtype);
  const SharedBytes storage = container_->read(entry.storage);
  const size_t unit = dtype_bytes(entry.dtype);
  const Bytes bytes = storage.bytes.subspan(entry.offset * unit);
  if (entry.dtype == DType::kBool) {
    check_bool_bytes(storage.bytes, fmt::format("{}: tensor {}", source_, quote_name(entry.name)));
  }
  if (!is_contiguous(entry)) return copy_strided(entry, bytes.data());
  const auto size = static_cast<size_t>(entry.shape.elements()) * unit;
  return tensor_from_bytes(entry.shape, entry.dtype, bytes.first(size), storage.keep_alive);
}

}  // namespace fovea
