#include "fovea/io/npz.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"
#include "fovea/io/npy.h"
#include "fovea/io/npy_header.h"
#include "fovea/io/zip_writer.h"

namespace fovea {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string entry_name(std::string_view name) {
  return std::string(name).append(kSuffix);
}

void check_entry_names(std::span<const NamedTensor> tensors, std::span<const NamedTexts> texts,
                       std::string_view source) {
  std::vector<std::string_view> all, names;
  for (const NamedTensor& tensor : tensors) all.push_back(tensor.name);
  for (const NamedTexts& each : texts) all.push_back(each.name);
  for (const std::string_view name : all) {
    if (name.empty() || name.size() + kSuffix.size() > kZip16Full || name.find('\0') != name.npos ||
        find_invalid_utf8(name) != name.npos) {
      fail(ErrorKind::kInvalidArgument,
           "{}: the name {} must be UTF-8 of 1 to {} bytes but has {}; rename it", source,
           quote_name(name), kZip16Full - kSuffix.size(), name.size());
    }
    names.push_back(name);
  }
  check_names(std::move(names), "tensors", source);
}

// Its letters as numbers of 32 bits.
std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  for (size_t at = 0; at < text.size();) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
    char32_t letter = bytes == 1 ? byte(0) : byte(0) & (0x7FU >> bytes);
    for (size_t i = 1; i < bytes; ++i) letter = letter << 6U | (byte(i) & 0x3FU);
    letters += letter;
    at += bytes;
  }
  return letters;
}

// A .npy file of texts, all as long as the longest.
std::string npy_of_texts(const NamedTexts& texts) {
  std::vector<std::u32string> all;
  size_t longest = 1;
  for (const std::string& text : texts.texts) {
    all.push_back(letters_of(to_valid_utf8(text)));
    longest = std::max(longest, all.back().size());
  }
  const Shape shape = texts.alone ? Shape{} : Shape{static_cast<int64_t>(all.size())};
  std::string file = make_npy_header_of_texts(shape, longest);
  for (const std::u32string& letters : all) {
    for (size_t i = 0; i < longest; ++i) {
      append_little_endian(file, static_cast<uint32_t>(i < letters.size() ? letters[i] : 0));
    }
  }
  return file;
}

}  // namespace

NpzFile::NpzFile(ZipReader zip, std::string_view source, uint64_t limit)
    : zip_(std::move(zip)), source_(source), limit_(limit) {
  for (const ZipEntry& entry : zip_.entries()) {
    std::string_view name = entry.name;
    if (!name.ends_with(kSuffix)) continue;
    name.remove_suffix(kSuffix.size());
    names_.emplace_back(name);
  }
}

NpzFile NpzFile::open(const std::filesystem::path& path, uint64_t limit) {
  return NpzFile(ZipReader::open(path), path.string(), limit);
}

NpzFile NpzFile::parse(Bytes bytes, std::string_view source, std::shared_ptr<const void> keep_alive,
                       uint64_t limit) {
  return NpzFile(ZipReader::parse(bytes, source, std::move(keep_alive)), source, limit);
}

bool NpzFile::contains(std::string_view name) const {
  return zip_.find(entry_name(name)) != nullptr;
}

bool NpzFile::is_of_texts(std::string_view name) const {
  const ZipEntry* entry = zip_.find(entry_name(name));
  return entry != nullptr && begins_npy_of_texts(zip_.read(*entry, limit_).bytes);
}

Tensor NpzFile::tensor(std::string_view name) const {
  const ZipEntry* entry = zip_.find(entry_name(name));
  if (entry == nullptr) {
    fail(ErrorKind::kNotFound, "{}: has no array {} among its {}; list their names to choose one",
         source_, quote_name(name), names_.size());
  }
  SharedBytes contents = zip_.read(*entry, limit_);
  return parse_npy(contents.bytes, fmt::format("{}: {}", source_, quote_name(name)),
                   std::move(contents.keep_alive));
}

void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
               std::span<const NamedTexts> texts) {
  check_entry_names(tensors, texts, path.string());
  std::vector<std::string> headers;
  for (const NamedTensor& tensor : tensors) {
    headers.push_back(
        make_npy_header(tensor.tensor.shape(), tensor.tensor.dtype(),
                        fmt::format("{}: tensor {}", path.string(), quote_name(tensor.name))));
  }
  write_file_atomic(path, [&](FileWriter& file) {
    ZipWriter zip(file);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = tensors[i].tensor;
      const Bytes parts[] = {as_bytes(headers[i]), Bytes{tensor.raw(), tensor.bytes()}};
      zip.add(entry_name(tensors[i].name), parts);
    }
    for (const NamedTexts& each : texts) {
      const std::string array = npy_of_texts(each);
      const Bytes parts[] = {as_bytes(array)};
      zip.add(entry_name(each.name), parts);
    }
    zip.finish();
  });
}

}  // namespace fovea
