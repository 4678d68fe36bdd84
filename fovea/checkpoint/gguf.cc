#include "fovea/checkpoint/gguf.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/gguf_parts.h"
#include "fovea/checkpoint/weight_source.h"
#include "fovea/io/tensor_bytes.h"
#include "fovea/kernels/unpack.h"

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
    fail(ErrorKind::kUnsupported,
         "{}: has the type {}; fovea reads {}: take a Q4_K_M, Q8_0 or F16 file", where,
         type == nullptr ? fmt::format("number {}", id) : std::string(type->name),
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
  entry.end = blocks * static_cast<uint64_t>(
                           entry.type->block_bytes);  // below 2^63: so Shape bounds the elements
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
  std::vector<Part> parts;
  for (const std::filesystem::path& file : gguf_part_files(path)) {
    auto mapped = MappedFile::open(file);
    const Bytes bytes = mapped->bytes();
    parts.push_back(read_part(bytes, file.string(), std::move(mapped)));
    check_gguf_part(parts.back().metadata, parts.size() - 1, file);
  }
  return GgufFile(std::move(parts));
}

GgufFile GgufFile::parse(Bytes bytes, std::string_view source,
                         std::shared_ptr<const void> keep_alive) {
  std::vector<Part> parts;
  parts.push_back(read_part(bytes, source, std::move(keep_alive)));
  return GgufFile(std::move(parts));
}

GgufFile::Part GgufFile::read_part(Bytes bytes, std::string_view source,
                                   std::shared_ptr<const void> keep_alive) {
  Part part{.source = std::string(source), .keep_alive = std::move(keep_alive), .bytes = bytes};
  GgufCursor cursor(bytes, source);
  check_magic_and_version(cursor);
  const auto tensors = cursor.take<uint64_t>();
  const auto pairs = cursor.take<uint64_t>();
  part.metadata.read(cursor, pairs);
  cursor.check_count(tensors, 8 + 4 + 4 + 8, "tensors");
  part.entries.reserve(tensors);
  for (uint64_t i = 0; i < tensors; ++i) part.entries.push_back(take_entry(cursor));

  const auto alignment = static_cast<uint64_t>(read_alignment(part.metadata, source));
  const uint64_t data = (cursor.position() + alignment - 1) / alignment * alignment;
  for (Entry& entry : part.entries) set_range(entry, data, alignment, bytes.size(), source);
  return part;
}

GgufFile::GgufFile(std::vector<Part> parts) {
  auto contents = std::make_shared<Contents>();
  auto& entries = contents->entries;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (Entry& entry : parts[i].entries) {
      entry.part = i;
      entries.push_back(std::move(entry));
    }
    parts[i].entries = {};
  }
  contents->parts = std::move(parts);
  auto& by_name = contents->by_name;
  by_name.resize(entries.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(),
            [&](uint32_t a, uint32_t b) { return entries[a].name < entries[b].name; });
  const auto twice = std::adjacent_find(
      by_name.begin(), by_name.end(),
      [&](uint32_t a, uint32_t b) { return entries[a].name == entries[b].name; });
  if (twice != by_name.end()) {
    fail(ErrorKind::kBadFile, "{}: two tensors are called {}",
         contents->parts[entries[*twice].part].source, quote_name(entries[*twice].name));
  }
  contents_ = std::move(contents);
}

const GgufFile::Entry* GgufFile::find(std::string_view name) const {
  const auto& entries = contents_->entries;
  const auto& by_name = contents_->by_name;
  const auto it =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [&](uint32_t i, std::string_view n) { return entries[i].name < n; });
  return it == by_name.end() || entries[*it].name != name ? nullptr : &entries[*it];
}

Bytes GgufFile::bytes_of(const Entry& entry) const {
  return contents_->parts[entry.part].bytes.subspan(entry.begin, entry.end - entry.begin);
}

void GgufFile::check_scales(const Entry& entry) const {
  constexpr int64_t kPiece = 1 << 20;
  const Bytes bytes = bytes_of(entry);
  const GgmlType& type = *entry.type;
  const int64_t count = entry.shape.elements();
  parallel_for((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    if (!has_finite_scales(*type.format,
                           bytes.data() + first / type.block_elements * type.block_bytes,
                           std::min(kPiece, count - first))) {
      fail(ErrorKind::kBadFile,
           "{}: tensor {} has a block of {} whose scale is not a finite number; the file is "
           "damaged: fetch it again",
           source(entry.part), quote_name(entry.name), type.name);
    }
  });
}

Tensor GgufFile::tensor(const Entry& entry) const {
  const Bytes bytes = bytes_of(entry);
  if (!entry.type->format) {
    return tensor_from_bytes(entry.shape, entry.type->dtype, bytes,
                             contents_->parts[entry.part].keep_alive);
  }
  constexpr int64_t kPiece = 1 << 17;  // numbers that one thread takes at a time
  check_scales(entry);
  const GgmlType& type = *entry.type;
  Tensor tensor = Tensor::uninitialized(entry.shape, DType::kF32);
  const std::span<float> result = tensor.mutable_values<float>();
  const int64_t count = tensor.elements();
  parallel_for((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    unpack(*type.format, bytes.data() + first / type.block_elements * type.block_bytes,
           std::min(kPiece, count - first), result.data() + first);
  });
  return tensor;
}

StoredMatrix GgufFile::matrix(const Entry& entry) const {
  const bool blocks = entry.type->format && (entry.shape.rank() == 2 || entry.shape.rank() == 3);
  if (!blocks) return StoredMatrix(WeightSource::as_matrix(tensor(entry)));
  check_scales(entry);
  const Bytes bytes = bytes_of(entry);
  return {*entry.type->format, entry.shape.elements() / entry.shape.back(), entry.shape.back(),
          Tensor::borrow({static_cast<int64_t>(bytes.size())}, DType::kU8, bytes.data(),
                         contents_->parts[entry.part].keep_alive)};
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
  const GgufFile::Entry* words = file.find("token_embd.weight");
  if (words != nullptr && words->shape.rank() == 2 &&
      static_cast<size_t>(words->shape[0]) < count) {
    fail(ErrorKind::kBadFile,
         "{}: its tokenizer has {} tokens but its table of words {} rows; convert the model again",
         file.source(), count, words->shape[0]);
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
  tokenizer.separator_id = id("seperator_token_id");  // the key's own spelling
  tokenizer.padding_id = id("padding_token_id");
  tokenizer.cls_id = id("cls_token_id");
  tokenizer.mask_id = id("mask_token_id");
  tokenizer.add_bos = metadata.get_bool(key("add_bos_token"));
  tokenizer.add_eos = metadata.get_bool(key("add_eos_token"));
  tokenizer.add_separator = metadata.get_bool(key("add_sep_token"));
  tokenizer.add_space_prefix = metadata.get_bool(key("add_space_prefix"));
  return tokenizer;
}

}  // namespace fovea
