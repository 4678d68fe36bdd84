#include "fovea/io/safetensors.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;  // the limit of the format's own reader
constexpr size_t kDataAlignment = 64;
constexpr std::string_view kMetadataKey = "__metadata__";

Bytes header_of(Bytes file, std::string_view source) {
  if (file.size() < kLengthBytes) {
    fail(ErrorKind::kBadFile,
         "{}: has {} bytes, too few for a safetensors file; perhaps an incomplete download", source,
         file.size());
  }
  const auto length = load_little_endian<uint64_t>(file, 0);
  if (length > kLongestHeader) {
    fail(ErrorKind::kBadFile,
         "{}: says that its header has {} bytes, more than the {} allowed; not a safetensors file?",
         source, length, kLongestHeader);
  }
  if (length > file.size() - kLengthBytes) {
    fail(ErrorKind::kBadFile,
         "{}: says that its header has {} bytes but only {} follow; perhaps an incomplete download",
         source, length, file.size() - kLengthBytes);
  }
  const Bytes header = file.subspan(kLengthBytes, length);
  if (header.empty() || header.front() != std::byte{'{'}) {
    fail(ErrorKind::kBadFile, "{}: its header does not begin with '{{'; not a safetensors file?",
         source);
  }
  return header;
}

uint64_t read_offset(const Json& value, std::string_view where) {
  if (!value.is_int() || value.as_int(where) < 0) {
    fail(ErrorKind::kBadFile, "{}: a data offset must be a whole number from 0, but is {}", where,
         shorten(value.dump(), 40));
  }
  return static_cast<uint64_t>(value.as_int(where));
}

Shape read_shape(const Json& value, std::string_view where) {
  std::vector<int64_t> sizes;
  for (const Json& size : value.as_array(fmt::format("{}: shape", where))) {
    if (!size.is_int()) {
      fail(ErrorKind::kBadFile, "{}: the sizes of a shape must be whole numbers, but one is {}",
           where, shorten(size.dump(), 40));
    }
    sizes.push_back(size.as_int(where));
  }
  return shape_from_file(std::move(sizes), where);
}

SafetensorsFile::Entry read_entry(const std::string& name, const Json& value, uint64_t data_size,
                                  std::string_view source) {
  const std::string where = fmt::format("{}: tensor {}", source, quote_name(name));
  const std::string& type = value.at("dtype", where).as_string(fmt::format("{}: dtype", where));
  const auto dtype = find_dtype(type);
  if (!dtype) {
    fail(ErrorKind::kUnsupported,
         "{}: has the type {}, which fovea does not read; convert the file to F32, F16 or BF16",
         where, quote_name(type));
  }
  SafetensorsFile::Entry entry{.name = name, .dtype = *dtype};
  entry.shape = read_shape(value.at("shape", where), where);
  const auto& offsets =
      value.at("data_offsets", where).as_array(fmt::format("{}: data_offsets", where));
  if (offsets.size() != 2) {
    fail(ErrorKind::kBadFile, "{}: data_offsets must hold begin and end, but holds {} numbers",
         where, offsets.size());
  }
  entry.begin = read_offset(offsets[0], where);
  entry.end = read_offset(offsets[1], where);
  if (entry.begin > entry.end) {
    fail(ErrorKind::kBadFile, "{}: begins at byte {} but ends before it, at {}", where, entry.begin,
         entry.end);
  }
  if (entry.end > data_size) {
    fail(ErrorKind::kBadFile,
         "{}: ends at byte {} of the data but the file has {}; perhaps an incomplete download",
         where, entry.end, data_size);
  }
  const uint64_t needed = static_cast<uint64_t>(entry.shape.elements()) * dtype_bytes(*dtype);
  if (entry.end - entry.begin != needed) {
    fail(ErrorKind::kBadFile, "{}: shape {} of {} needs {} bytes but {} are set aside", where,
         shorten(to_string(entry.shape), 80), type, needed, entry.end - entry.begin);
  }
  return entry;
}

Metadata read_metadata(const Json& value, std::string_view source) {
  const std::string where = fmt::format("{}: {}", source, kMetadataKey);
  Metadata metadata;
  for (const auto& [key, text] : value.as_object(where)) {
    metadata.emplace_back(key, text.as_string(fmt::format("{}: {}", where, quote_name(key))));
  }
  return metadata;
}

// The largest element size first keeps every tensor aligned; the name makes the order certain.
std::vector<const StreamedTensor*> layout_order(std::span<const StreamedTensor> tensors) {
  std::vector<const StreamedTensor*> order;
  for (const StreamedTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const StreamedTensor* a, const StreamedTensor* b) {
    const size_t a_bytes = dtype_bytes(a->dtype);
    const size_t b_bytes = dtype_bytes(b->dtype);
    return a_bytes != b_bytes ? a_bytes > b_bytes : a->name < b->name;
  });
  return order;
}

void check_all_names(std::span<const StreamedTensor> tensors, const Metadata& metadata,
                     std::string_view source) {
  std::vector<std::string_view> names;
  for (const StreamedTensor& tensor : tensors) names.push_back(tensor.name);
  if (std::find(names.begin(), names.end(), kMetadataKey) != names.end()) {
    fail(ErrorKind::kInvalidArgument, "{}: a tensor cannot be called '{}'; rename it", source,
         kMetadataKey);
  }
  check_names(std::move(names), "tensors", source);
  std::vector<std::string_view> keys;
  for (const auto& [key, text] : metadata) {
    keys.push_back(key);
    if (find_invalid_utf8(text) != std::string_view::npos) {
      fail(ErrorKind::kInvalidArgument, "{}: the metadata {} is not valid UTF-8 text", source,
           quote_name(key));
    }
  }
  check_names(std::move(keys), "metadata entries", source);
}

std::string make_header(const std::vector<const StreamedTensor*>& order, const Metadata& metadata) {
  std::string header = "{";
  if (!metadata.empty()) {
    Json texts = Json::object();
    for (const auto& [key, text] : metadata) texts.set(key, text);
    header += fmt::format("{}:{}", Json(kMetadataKey).dump(), texts.dump());
  }
  uint64_t offset = 0;
  for (const StreamedTensor* tensor : order) {
    const uint64_t end = offset + tensor->bytes();
    if (header.size() > 1) header += ',';
    header += fmt::format(R"({}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          Json(tensor->name).dump(), dtype_name(tensor->dtype),
                          Json::array_of(tensor->shape.sizes()).dump(), offset, end);
    offset = end;
  }
  header += '}';
  const size_t used = (kLengthBytes + header.size()) % kDataAlignment;
  if (used != 0) header.append(kDataAlignment - used, ' ');
  return header;
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  const Bytes bytes = mapped->bytes();
  return parse(bytes, path.string(), std::move(mapped));
}

SafetensorsFile SafetensorsFile::parse(Bytes bytes, std::string_view source,
                                       std::shared_ptr<const void> keep_alive) {
  SafetensorsFile file;
  file.source_ = source;
  file.keep_alive_ = std::move(keep_alive);
  const Bytes header = header_of(bytes, source);
  file.data_ = bytes.subspan(kLengthBytes + header.size());
  file.read_header(header);
  file.check_coverage();
  file.build_index();
  for (const Entry& entry : file.entries_) {
    if (entry.dtype != DType::kBool) continue;
    check_bool_bytes(file.data_.subspan(entry.begin, entry.end - entry.begin),
                     fmt::format("{}: tensor {}", source, quote_name(entry.name)));
  }
  return file;
}

void SafetensorsFile::read_header(Bytes header) {
  const Json json = Json::parse(as_text(header), source_ + ": header");
  for (const auto& [name, value] : json.as_object(source_ + ": header")) {
    if (name == kMetadataKey) {
      metadata_ = read_metadata(value, source_);
    } else {
      entries_.push_back(read_entry(name, value, data_.size(), source_));
    }
  }
}

void SafetensorsFile::check_coverage() const {
  std::vector<const Entry*> order;
  order.reserve(entries_.size());
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t covered = 0;
  for (const Entry* entry : order) {
    if (entry->begin != covered) {
      fail(ErrorKind::kBadFile, "{}: tensor {} begins at byte {} of the data, {} {}", source_,
           quote_name(entry->name), entry->begin,
           entry->begin < covered ? "inside the tensor that ends at" : "leaving a hole from",
           covered);
    }
    covered = entry->end;
  }
  if (covered != data_.size()) {
    fail(ErrorKind::kBadFile, "{}: its tensors end at byte {} of the data but the file has {}",
         source_, covered, data_.size());
  }
}

void SafetensorsFile::build_index() {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](uint32_t a, uint32_t b) { return entries_[a].name < entries_[b].name; });
}

const std::string* SafetensorsFile::find_metadata(std::string_view key) const {
  const auto it = std::find_if(metadata_.begin(), metadata_.end(),
                               [&](const auto& item) { return item.first == key; });
  return it == metadata_.end() ? nullptr : &it->second;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

const SafetensorsFile::Entry* SafetensorsFile::find(std::string_view name) const {
  const auto it =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return it == by_name_.end() || entries_[*it].name != name ? nullptr : &entries_[*it];
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const Entry* entry = find(name);
  if (entry == nullptr) {
    fail(ErrorKind::kNotFound, "{}: has no tensor {} among its {}; list their names to choose one",
         source_, quote_name(name), entries_.size());
  }
  return tensor(*entry);
}

Tensor SafetensorsFile::tensor(const Entry& entry) const {
  return tensor_from_bytes(entry.shape, entry.dtype,
                           data_.subspan(entry.begin, entry.end - entry.begin), keep_alive_);
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata) {
  std::vector<StreamedTensor> streamed;
  for (const NamedTensor& named : tensors) {
    const Tensor& tensor = named.tensor;
    streamed.push_back({named.name, tensor.dtype(), tensor.shape(), [&tensor](FileWriter& file) {
                          file.write(Bytes{tensor.raw(), tensor.bytes()});
                        }});
  }
  stream_safetensors(path, streamed, metadata);
}

void stream_safetensors(const std::filesystem::path& path, std::span<const StreamedTensor> tensors,
                        const Metadata& metadata) {
  check_all_names(tensors, metadata, path.string());
  const auto order = layout_order(tensors);
  const std::string header = make_header(order, metadata);
  if (header.size() > kLongestHeader) {
    fail(ErrorKind::kInvalidArgument,
         "{}: names and metadata need a header of {} bytes but {} are allowed; shorten them",
         path.string(), header.size(), kLongestHeader);
  }
  write_file_atomic(path, [&](FileWriter& file) {
    std::string length;
    append_little_endian(length, uint64_t{header.size()});
    file.write(length);
    file.write(header);
    for (const StreamedTensor* tensor : order) {
      const uint64_t begin = file.position();
      tensor->write(file);
      if (file.position() - begin != tensor->bytes()) {
        fail(ErrorKind::kInternal, "{}: tensor {} wrote {} bytes instead of {}; please report this",
             path.string(), quote_name(tensor->name), file.position() - begin, tensor->bytes());
      }
    }
  });
}

}  // namespace fovea
