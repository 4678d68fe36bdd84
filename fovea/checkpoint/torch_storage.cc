#include "fovea/checkpoint/torch_storage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"

namespace fovea {
namespace {

constexpr uint64_t kLargestPickle = uint64_t{1} << 30;
constexpr uint64_t kLargestStorage = uint64_t{64} << 30;
constexpr int64_t kStreamVersion = 1001;
// torch's magic number as a pickle has it, in the first pickle of a stream.
constexpr std::string_view kStreamMagic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12);
constexpr size_t kMagicWithin = 32;  // behind a protocol and perhaps a frame

// In one list, so that a name is allowed exactly if it is understood.
constexpr std::array<std::string_view, 42> kGlobals{"torch._utils._rebuild_tensor",
                                                    "torch._utils._rebuild_tensor_v2",
                                                    "torch._utils._rebuild_tensor_v3",
                                                    "torch._utils._rebuild_parameter",
                                                    "torch._utils._rebuild_parameter_with_state",
                                                    "torch.Size",
                                                    "torch.device",
                                                    "torch.storage.UntypedStorage",
                                                    "torch.UntypedStorage",
                                                    "torch.FloatStorage",
                                                    "torch.DoubleStorage",
                                                    "torch.HalfStorage",
                                                    "torch.BFloat16Storage",
                                                    "torch.LongStorage",
                                                    "torch.IntStorage",
                                                    "torch.ShortStorage",
                                                    "torch.CharStorage",
                                                    "torch.ByteStorage",
                                                    "torch.BoolStorage",
                                                    "torch.cuda.FloatStorage",
                                                    "torch.cuda.DoubleStorage",
                                                    "torch.cuda.HalfStorage",
                                                    "torch.cuda.BFloat16Storage",
                                                    "torch.cuda.LongStorage",
                                                    "torch.cuda.IntStorage",
                                                    "torch.cuda.ShortStorage",
                                                    "torch.cuda.CharStorage",
                                                    "torch.cuda.ByteStorage",
                                                    "torch.cuda.BoolStorage",
                                                    "torch.float32",
                                                    "torch.float64",
                                                    "torch.float16",
                                                    "torch.bfloat16",
                                                    "torch.int64",
                                                    "torch.int32",
                                                    "torch.int16",
                                                    "torch.int8",
                                                    "torch.uint8",
                                                    "torch.uint16",
                                                    "torch.uint32",
                                                    "torch.uint64",
                                                    "torch.bool"};

constexpr std::array<std::pair<std::string_view, DType>, 10> kStorageTypes{
    {{"FloatStorage", DType::kF32},
     {"DoubleStorage", DType::kF64},
     {"HalfStorage", DType::kF16},
     {"BFloat16Storage", DType::kBF16},
     {"LongStorage", DType::kI64},
     {"IntStorage", DType::kI32},
     {"ShortStorage", DType::kI16},
     {"CharStorage", DType::kI8},
     {"ByteStorage", DType::kU8},
     {"BoolStorage", DType::kBool}}};

constexpr std::array<std::pair<std::string_view, DType>, 13> kTorchTypes{
    {{"float32", DType::kF32},
     {"float64", DType::kF64},
     {"float16", DType::kF16},
     {"bfloat16", DType::kBF16},
     {"int64", DType::kI64},
     {"int32", DType::kI32},
     {"int16", DType::kI16},
     {"int8", DType::kI8},
     {"uint8", DType::kU8},
     {"uint16", DType::kU16},
     {"uint32", DType::kU32},
     {"uint64", DType::kU64},
     {"bool", DType::kBool}}};

template <typename Table>
std::optional<DType> find_type(const Table& table, std::string_view global) {
  const std::string_view name = global.substr(global.rfind('.') + 1);
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

uint64_t element_bytes(const TorchStorageId& id) {
  return id.dtype ? dtype_bytes(*id.dtype) : 1;
}

[[noreturn]] void fail_stream(std::string_view source, std::string_view what) {
  fail(ErrorKind::kBadFile, "{}: damaged PyTorch file: {}; perhaps an incomplete download", source,
       what);
}

[[noreturn]] void fail_big_endian(std::string_view source) {
  fail(ErrorKind::kUnsupported,
       "{}: was saved on a big-endian machine but fovea reads little-endian; save it again there "
       "as safetensors",
       source);
}

// archive/data.pkl, archive/data/0, archive/data/1 ...; `archive` is any name.
class ZipContainer final : public TorchContainer {
 public:
  ZipContainer(ZipReader zip, std::string_view source) : zip_(std::move(zip)) {
    const ZipEntry* main = nullptr;
    for (const ZipEntry& entry : zip_.entries()) {
      if (entry.name.ends_with("/data.pkl") && main == nullptr) main = &entry;
    }
    if (main == nullptr) {
      fail(ErrorKind::kBadFile, "{}: is a zip archive without data.pkl, so not a PyTorch file",
           source);
    }
    folder_ = main->name.substr(0, main->name.size() - std::string_view("data.pkl").size());
    if (zip_.find(folder_ + "constants.pkl") != nullptr) {
      fail(ErrorKind::kUnsupported,
           "{}: is a TorchScript program; save its state_dict() with torch.save or as safetensors",
           source);
    }
    if (const ZipEntry* order = zip_.find(folder_ + "byteorder")) {
      if (as_text(zip_.read(*order, 64).bytes) != "little") fail_big_endian(source);
    }
    data_ = zip_.read(*main, kLargestPickle);
    pickle_ = Pickle::parse(data_.bytes, source, torch_globals());
  }

  std::optional<uint64_t> find(std::string_view key) const override {
    const ZipEntry* entry = zip_.find(entry_name(key));
    return entry == nullptr ? std::nullopt : std::optional(entry->size);
  }

  SharedBytes read(std::string_view key) const override {
    const std::lock_guard lock(mutex_);
    if (const auto it = read_.find(key); it != read_.end()) return it->second;
    SharedBytes bytes = zip_.read(*zip_.find(entry_name(key)), kLargestStorage);
    read_.emplace(key, bytes);
    return bytes;
  }

 private:
  std::string entry_name(std::string_view key) const {
    return fmt::format("{}data/{}", folder_, key);
  }

  ZipReader zip_;
  std::string folder_;
  SharedBytes data_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, SharedBytes, std::less<>> read_;  // checksums checked
};

// Pickles one after the other (magic, version, system, object, keys), then each storage as its
// element count and its bytes.
class StreamContainer final : public TorchContainer {
 public:
  StreamContainer(Bytes bytes, std::string_view source, std::shared_ptr<const void> keep_alive)
      : keep_alive_(std::move(keep_alive)) {
    Bytes rest = bytes;
    static_cast<void>(next_pickle(rest, source));  // the magic number
    check_version(next_pickle(rest, source), source);
    check_system(next_pickle(rest, source), source);
    pickle_ = next_pickle(rest, source);
    const Pickle keys = next_pickle(rest, source);
    read_storages(keys, rest, source);
  }

  std::optional<uint64_t> find(std::string_view key) const override {
    const auto it = storages_.find(key);
    return it == storages_.end() ? std::nullopt : std::optional<uint64_t>(it->second.size());
  }
  SharedBytes read(std::string_view key) const override {
    return {.bytes = storages_.find(key)->second, .keep_alive = keep_alive_};
  }

 private:
  static Pickle next_pickle(Bytes& rest, std::string_view source) {
    Pickle pickle = Pickle::parse(rest, source, torch_globals());
    rest = rest.subspan(pickle.size());
    return pickle;
  }

  static void check_version(const Pickle& pickle, std::string_view source) {
    const PickleNode& version = pickle.root();
    if (version.kind != PickleKind::kInt || version.number != kStreamVersion) {
      fail(ErrorKind::kUnsupported,
           "{}: has version {} of PyTorch's stream format but fovea reads {}; save it again with a "
           "newer torch",
           source, version.number, kStreamVersion);
    }
  }

  static void check_system(const Pickle& pickle, std::string_view source) {
    const auto& items = pickle.root().items;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i]->text == "little_endian" && items[i + 1]->number == 0) fail_big_endian(source);
    }
  }

  void read_storages(const Pickle& keys, Bytes rest, std::string_view source) {
    std::map<std::string_view, TorchStorageId> ids;
    for (const PickleNode& node : pickle_->nodes()) {
      if (node.kind != PickleKind::kPersistent) continue;
      const TorchStorageId id = read_storage_id(node, source);
      ids.emplace(id.key, id);
    }
    if (keys.root().kind != PickleKind::kList) fail_stream(source, "it lists no storages");
    for (const PickleNode* key : keys.root().items) {
      const auto id = ids.find(key->text);
      if (key->kind != PickleKind::kString || id == ids.end()) {
        fail_stream(source, "it holds a storage that no tensor uses");
      }
      if (rest.size() < sizeof(int64_t)) fail_stream(source, "a storage is missing");
      const auto elements = load_little_endian<uint64_t>(rest, 0);
      rest = rest.subspan(sizeof(int64_t));
      const uint64_t unit = element_bytes(id->second);
      if (elements > rest.size() / unit) {
        fail_stream(source, fmt::format("storage {} should have {} elements of {} bytes but {} "
                                        "bytes are left",
                                        quote_name(key->text), elements, unit, rest.size()));
      }
      storages_.insert_or_assign(std::string(key->text), rest.first(elements * unit));
      rest = rest.subspan(elements * unit);
    }
  }

  std::shared_ptr<const void> keep_alive_;
  std::map<std::string, Bytes, std::less<>> storages_;
};

}  // namespace

std::span<const std::string_view> torch_globals() {
  return kGlobals;
}

std::optional<DType> find_torch_dtype(std::string_view global) {
  return find_type(kTorchTypes, global);
}

TorchStorageId read_storage_id(const PickleNode& node, std::string_view source) {
  const auto damaged = [&] {
    fail_stream(source, "a tensor's storage is not named as torch does");
  };
  if (node.kind != PickleKind::kPersistent || node.items.empty()) damaged();
  const auto& parts = node.items[0]->items;
  if (node.items[0]->kind != PickleKind::kTuple || parts.size() < 5 ||
      parts[0]->text != "storage" || parts[1]->kind != PickleKind::kGlobal ||
      parts[2]->kind != PickleKind::kString || parts[4]->kind != PickleKind::kInt ||
      parts[4]->number < 0) {
    damaged();
  }
  TorchStorageId id{.key = parts[2]->text, .elements = parts[4]->number};
  id.dtype = find_type(kStorageTypes, parts[1]->text);
  if (!id.dtype && !parts[1]->text.ends_with(".UntypedStorage")) damaged();
  id.view_elements = id.elements;
  if (parts.size() > 5 && parts[5]->kind == PickleKind::kTuple) {
    const auto& view = parts[5]->items;  // (key, offset, elements)
    if (view.size() != 3 || view[1]->kind != PickleKind::kInt ||
        view[2]->kind != PickleKind::kInt || view[1]->number < 0 || view[2]->number < 0 ||
        view[1]->number > id.elements || view[2]->number > id.elements - view[1]->number) {
      damaged();
    }
    id.view_offset = view[1]->number;
    id.view_elements = view[2]->number;
  }
  return id;
}

std::unique_ptr<TorchContainer> TorchContainer::parse(Bytes bytes, std::string_view source,
                                                      std::shared_ptr<const void> keep_alive) {
  const std::string_view text = as_text(bytes);
  if (text.starts_with("PK")) {
    return std::make_unique<ZipContainer>(ZipReader::parse(bytes, source, std::move(keep_alive)),
                                          source);
  }
  if (text.substr(0, kMagicWithin).find(kStreamMagic) != text.npos) {
    return std::make_unique<StreamContainer>(bytes, source, std::move(keep_alive));
  }
  if (text.size() > 262 && text.substr(257, 5) == "ustar") {
    fail(ErrorKind::kUnsupported,
         "{}: is a tar archive of PyTorch 0.1, which fovea does not read; save it with a newer "
         "torch",
         source);
  }
  if (text.starts_with("version https://git-lfs")) {
    fail(ErrorKind::kBadFile,
         "{}: is a Git LFS pointer, not the file itself; run 'git lfs pull' or download the file",
         source);
  }
  fail(ErrorKind::kBadFile,
       "{}: is not a PyTorch file: it begins neither as a zip archive nor with torch's magic "
       "number; perhaps an incomplete download",
       source);
}

}  // namespace fovea
