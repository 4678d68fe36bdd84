#include "fovea/io/zip_writer.h"

#include <zlib.h>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"

namespace fovea {
namespace {

constexpr uint16_t kVersionPlain = 20;
constexpr uint16_t kVersionZip64 = 45;
constexpr uint16_t kMadeByUnix = 3 << 8;
constexpr uint32_t kRegularFile0644 = 0100644U << 16;
constexpr uint16_t kTime = 0;
constexpr uint16_t kDate = (0 << 9) | (1 << 5) | 1;  // 1980-01-01
constexpr uint64_t kMemberAlignment = 64;
constexpr uint16_t kPaddingExtraId = 0xd935;  // the alignment field of Android's zipalign
constexpr size_t kPaddingExtraBytes = 6;

uint32_t field_32(uint64_t value, bool full) {
  return full ? kZip32Full : static_cast<uint32_t>(value);
}

}  // namespace

void ZipWriter::add(std::string_view name, std::span<const Bytes> parts) {
  if (name.empty() || name.size() > kZip16Full || find_invalid_utf8(name) != name.npos) {
    fail(ErrorKind::kInvalidArgument,
         "the zip entry name {} must be UTF-8 of 1 to {} bytes but has {}; rename it",
         quote_name(name), kZip16Full, name.size());
  }
  Record record{.name = std::string(name), .size = 0, .offset = file_.position(), .crc32 = 0};
  for (const Bytes part : parts) {
    // An empty part may have a null pointer, with which zlib would start its checksum anew.
    if (part.empty()) continue;
    record.size += part.size();
    record.crc32 = static_cast<uint32_t>(
        crc32_z(record.crc32, reinterpret_cast<const Bytef*>(part.data()), part.size()));
  }
  file_.write(local_header(record));
  for (const Bytes part : parts) file_.write(part);
  records_.push_back(std::move(record));
}

std::string ZipWriter::local_header(const Record& record) const {
  std::string extra;
  if (full(record.size)) {
    append_little_endian(extra, kZip64ExtraId);
    append_little_endian(extra, uint16_t{16});
    append_little_endian(extra, record.size);  // unpacked and packed
    append_little_endian(extra, record.size);
  }
  const uint64_t begin = record.offset + kZipLocalBytes + record.name.size() + extra.size();
  if (begin % kMemberAlignment != 0) {
    const uint64_t least = begin + kPaddingExtraBytes;
    const size_t padding = (kMemberAlignment - least % kMemberAlignment) % kMemberAlignment;
    append_little_endian(extra, kPaddingExtraId);
    append_little_endian(extra, static_cast<uint16_t>(2 + padding));
    append_little_endian(extra, uint16_t{kMemberAlignment});
    extra.append(padding, '\0');
  }
  std::string header;
  append_little_endian(header, kZipLocalSignature);
  append_little_endian(header, full(record.size) ? kVersionZip64 : kVersionPlain);
  append_little_endian(header, kZipFlagUtf8);
  append_little_endian(header, kZipStored);
  append_little_endian(header, kTime);
  append_little_endian(header, kDate);
  append_little_endian(header, record.crc32);
  append_little_endian(header, field_32(record.size, full(record.size)));
  append_little_endian(header, field_32(record.size, full(record.size)));
  append_little_endian(header, static_cast<uint16_t>(record.name.size()));
  append_little_endian(header, static_cast<uint16_t>(extra.size()));
  return header + record.name + extra;
}

std::string ZipWriter::central_record(const Record& record) const {
  std::string values;  // those that did not fit, in this order
  if (full(record.size)) {
    append_little_endian(values, record.size);
    append_little_endian(values, record.size);
  }
  if (full(record.offset)) append_little_endian(values, record.offset);
  std::string extra;
  if (!values.empty()) {
    append_little_endian(extra, kZip64ExtraId);
    append_little_endian(extra, static_cast<uint16_t>(values.size()));
    extra += values;
  }
  const uint16_t version = values.empty() ? kVersionPlain : kVersionZip64;
  std::string text;
  append_little_endian(text, kZipCentralSignature);
  append_little_endian(text, static_cast<uint16_t>(kMadeByUnix | version));
  append_little_endian(text, version);
  append_little_endian(text, kZipFlagUtf8);
  append_little_endian(text, kZipStored);
  append_little_endian(text, kTime);
  append_little_endian(text, kDate);
  append_little_endian(text, record.crc32);
  append_little_endian(text, field_32(record.size, full(record.size)));
  append_little_endian(text, field_32(record.size, full(record.size)));
  append_little_endian(text, static_cast<uint16_t>(record.name.size()));
  append_little_endian(text, static_cast<uint16_t>(extra.size()));
  append_little_endian(text, uint16_t{0});  // comment
  append_little_endian(text, uint16_t{0});  // disk
  append_little_endian(text, uint16_t{0});  // internal attributes
  append_little_endian(text, kRegularFile0644);
  append_little_endian(text, field_32(record.offset, full(record.offset)));
  return text + record.name + extra;
}

void ZipWriter::finish() {
  const uint64_t offset = file_.position();
  for (const Record& record : records_) file_.write(central_record(record));
  const uint64_t end = file_.position();
  const uint64_t size = end - offset;
  const uint64_t entries = records_.size();
  std::string text;
  if (entries >= kZip16Full || full(size) || full(offset)) {
    append_little_endian(text, kZip64EndSignature);
    append_little_endian(text, uint64_t{kZip64EndBytes - 12});  // what follows this field
    append_little_endian(text, static_cast<uint16_t>(kMadeByUnix | kVersionZip64));
    append_little_endian(text, kVersionZip64);
    append_little_endian(text, uint32_t{0});  // this disk, the directory's disk
    append_little_endian(text, uint32_t{0});
    append_little_endian(text, entries);  // on this disk, in all
    append_little_endian(text, entries);
    append_little_endian(text, size);
    append_little_endian(text, offset);
    append_little_endian(text, kZip64LocatorSignature);
    append_little_endian(text, uint32_t{0});
    append_little_endian(text, end);
    append_little_endian(text, uint32_t{1});  // disks
  }
  const auto count = static_cast<uint16_t>(std::min<uint64_t>(entries, kZip16Full));
  append_little_endian(text, kZipEndSignature);
  append_little_endian(text, uint16_t{0});
  append_little_endian(text, uint16_t{0});
  append_little_endian(text, count);
  append_little_endian(text, count);
  append_little_endian(text, field_32(size, full(size)));
  append_little_endian(text, field_32(offset, full(offset)));
  append_little_endian(text, uint16_t{0});  // comment
  file_.write(text);
}

}  // namespace fovea
