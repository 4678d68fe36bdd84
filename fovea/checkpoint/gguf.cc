#include "fovea/checkpoint/gguf.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kLongestTensorName = 1024;
constexpr uint32_t kMostGgufAxes = 4;
constexpr int64_t kDefaultAlignment = 32;
constexpr int64_t kLargestAlignment = 1 << 20;

void check_magic_and_version(GgufCursor& cursor) {
  const std::string_view source = cursor.source();
  if (cursor.left() < kMagic.size() || as_text(cursor.take_bytes(kMagic.size(), "")) != kMagic) {
    fail(ErrorKind::kBadFile, "{}: does not begin with 'GGUF'; is it another kind of file?",
         source);
  }
  const auto version = cursor.take<uint32_t>();
  if (version != 0 && (version & 0xffff) == 0) {
    fail(ErrorKind::kUnsupported,
         "{}: is a big-endian GGUF file but fovea reads little-endian ones; convert it", source);
  }
  if (version != 2 && version != 3) {
    fail(ErrorKind::kUnsupported,
         "{}: has version {} of GGUF but fovea reads 2 and 3; convert it with a newer llama.cpp",
         source, version);
  }
}

const GgmlType& take_ggml_type(GgufCursor& cursor, std::string_view where) {
  const auto id = cursor.take<uint32_t>();
  const GgmlType* type = find_ggml_type(id);
  if (type == nullptr || type->block_bytes == 0) {
    fail(ErrorKind::kUnsupported, "{}: has the type {}; fovea reads {}: take a Q8_0 or F16 file",
         where, type == nullptr ? fmt::format("number {}", id) : std::string(type->name),
         readable_ggml_types());
  }
  return *type;
}

// The range is counted from the beginning of the data until set_ranges.
GgufFile::Entry take_entry(GgufCursor& cursor) {
  GgufFile::Entry entry;
  entry.name = cursor.take_text("a tensor name", kLongestTensorName);
  const std::string where = fmt::format("{}: tensor {}", cursor.source(), quote_name(entry.name));
  if (find_invalid_utf8(entry.name) != std::string::npos) {
    fail(ErrorKind::kBadFile, "{}: has a name that is not UTF-8", where);
  }
  const auto axes = cursor.take<uint32_t>();
  if (axes > kMostGgufAxes) {
    fail(ErrorKind::kBadFile, "{}: says that it has {} axes, more than the {} allowed", where, axes,
         kMostGgufAxes);
  }
  std::vector<int64_t> sizes;
  for (uint32_t i = 0; i < axes; ++i) sizes.push_back(cursor.take<int64_t>());
  std::reverse(sizes.begin(), sizes.end());
  entry.shape = shape_from_file(std::move(sizes), where);
  entry.type = &take_ggml_type(cursor, where);
  const int64_t row = axes == 0 ? 1 : entry.shape.back();
  if (row % entry.type->block_elements != 0) {
    fail(ErrorKind::kBadFile, "{}: its rows of {} elements are not whole blocks of {} as {} has",
         where, row, entry.type->block_elements, entry.type->name);
  }
  entry.begin = cursor.take<uint64_t>();
  const auto blocks = static_cast<uint64_t>(entry.shape.elements() / entry.type->block_elements);
  entry.end = blocks * entry.type->block_bytes;  // below 2^63: so Shape bounds the elements
  return entry;
}

int64_t read_alignment(const GgufMetadata& metadata, std::string_view source) {
  const int64_t alignment = metadata.get_int("general.alignment").value_or(kDefaultAlignment);
  if (alignment < 1 || alignment > kLargestAlignment ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    fail(ErrorKind::kBadFile, "{}: 'general.alignment' should be a power of two up to {} but is {}",
         source, kLargestAlignment, alignment);
  }
  return alignment;
}

void set_range(GgufFile::Entry& entry, uint64_t data, uint64_t alignment, uint64_t file_size,
               std::string_view source) {
  const uint64_t size = entry.end;
  const uint64_t offset = entry.begin;
  if (offset % alignment != 0) {
    fail(ErrorKind::kBadFile, "{}: tensor {} begins at byte {} of the data, not a multiple of {}",
         source, quote_name(entry.name), offset, alignment);
  }
  const uint64_t available = data > file_size ? 0 : file_size - data;
  if (offset > available || size > available - offset) {
    fail(ErrorKind::kBadFile,
         "{}: tensor {} needs {} bytes from byte {} of the data but the file has {}; perhaps an "
         "incomplete download",
         source, quote_name(entry.name), size, offset, available);
  }
  entry.begin = data + offset;
  entry.end = entry.begin + size;
}

}  // namespace

GgufFile GgufFile::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  const Bytes bytes = mapped->bytes();
  return parse(bytes, path.string(), std::move(mapped));
}

GgufFile GgufFile::parse(Bytes bytes, std::string_view source,
                         std::shared_ptr<const void> keep_alive) {
  auto contents = std::make_shared<Contents>();
  contents->source = source;
  contents->keep_alive = std::move(keep_alive);
  contents->bytes = bytes;
  GgufCursor cursor(bytes, source);
  check_magic_and_version(cursor);
  const auto tensors = cursor.take<uint64_t>();
  const auto pairs = cursor.take<uint64_t>();
  contents->metadata.read(cursor, pairs);
  cursor.check_count(tensors, 8 + 4 + 4 + 8, "tensors");
  auto& entries = contents->entries;
  entries.reserve(tensors);
  for (uint64_t i = 0; i < tensors; ++i) entries.push_back(take_entry(cursor));

  const auto alignment = static_cast<uint64_t>(read_alignment(contents->metadata, source));
  const uint64_t data = (cursor.position() + alignment - 1) / alignment * alignment;
  for (Entry& entry : entries) set_range(entry, data, alignment, bytes.size(), source);

  auto& by_name = contents->by_name;
  by_name.resize(entries.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(),
            [&](uint32_t a, uint32_t b) { return entries[a].name < entries[b].name; });
  const auto twice = std::adjacent_find(
      by_name.begin(), by_name.end(),
      [&](uint32_t a, uint32_t b) { return entries[a].name == entries[b].name; });
  if (twice != by_name.end()) {
    fail(ErrorKind::kBadFile, "{}: two tensors are called {}", source,
         quote_name(entries[*twice].name));
  }
  return GgufFile(std::move(contents));
}

const GgufFile::Entry* GgufFile::find(std::string_view name) const {
  const auto& entries = contents_->entries;
  const auto& by_name = contents_->by_name;
  const auto it =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [&](uint32_t i, std::string_view n) { return entries[i].name < n; });
  return it == by_name.end() || entries[*it].name != name ? nullptr : &entries[*it];
}

Tensor GgufFile::tensor(const Entry& entry) const {
  const Bytes bytes = contents_->bytes.subspan(entry.begin, entry.end - entry.begin);
  if (entry.type->dequantize == nullptr) {
    return tensor_from_bytes(entry.shape, entry.type->dtype, bytes, contents_->keep_alive);
  }
  Tensor tensor = Tensor::uninitialized(entry.shape, DType::kF32);
  dequantize(*entry.type, bytes, tensor.mutable_values<float>());
  return tensor;
}

std::optional<GgufTokenizer> read_gguf_tokenizer(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  const auto key = [](std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); };
  const auto model = metadata.get_string(key("model"));
  if (!model) return std::nullopt;
  GgufTokenizer tokenizer{.model = *model};
  tokenizer.pre = metadata.get_string(key("pre")).value_or("");
  tokenizer.tokens = metadata.get_strings(key("tokens"));
  tokenizer.types = metadata.get_ints(key("token_type"));
  tokenizer.scores = metadata.get_floats(key("scores"));
  tokenizer.merges = metadata.get_strings(key("merges"));
  const size_t count = tokenizer.tokens.size();
  for (const size_t other : {tokenizer.types.size(), tokenizer.scores.size()}) {
    if (other != 0 && other != count) {
      fail(ErrorKind::kBadFile,
           "{}: its tokenizer has {} tokens but {} types or scores; convert the model again",
           file.source(), count, other);
    }
  }
  const auto id = [&](std::string_view name) {
    const auto value = metadata.get_int(key(name));
    if (value && (*value < 0 || static_cast<uint64_t>(*value) >= count)) {
      fail(ErrorKind::kBadFile, "{}: '{}' is {} but there are {} tokens", file.source(), key(name),
           *value, count);
    }
    return value;
  };
  tokenizer.bos_id = id("bos_token_id");
  tokenizer.eos_id = id("eos_token_id");
  tokenizer.unknown_id = id("unknown_token_id");
  tokenizer.padding_id = id("padding_token_id");
  tokenizer.add_bos = metadata.get_bool(key("add_bos_token"));
  tokenizer.add_eos = metadata.get_bool(key("add_eos_token"));
  tokenizer.add_space_prefix = metadata.get_bool(key("add_space_prefix"));
  return tokenizer;
}

}  // namespace fovea
