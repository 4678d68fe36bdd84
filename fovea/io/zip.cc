#include "fovea/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"
#include "fovea/io/zip_format.h"

namespace fovea {
namespace {

constexpr uint64_t kBestDeflateRatio = 1032;  // 258 bytes in two bits

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
  uint64_t end = 0;  // where the records that end the archive begin
};

[[noreturn]] void fail_damaged(std::string_view source, std::string_view what) {
  fail(ErrorKind::kBadFile, "{}: damaged zip archive: {}; perhaps an incomplete download", source,
       what);
}

bool has_signature(Bytes bytes, uint64_t offset, size_t record_bytes, uint32_t signature) {
  return offset <= bytes.size() && bytes.size() - offset >= record_bytes &&
         load_little_endian<uint32_t>(bytes, offset) == signature;
}

// The end record is the last thing in the file but for a comment whose length it tells.
size_t end_record_of(Bytes bytes, std::string_view source) {
  if (bytes.size() < kZipEndBytes) fail_damaged(source, "no end record");
  const size_t last = bytes.size() - kZipEndBytes;
  const size_t first = last > kZip16Full ? last - kZip16Full : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (has_signature(bytes, at, kZipEndBytes, kZipEndSignature) &&
        at + kZipEndBytes + load_little_endian<uint16_t>(bytes, at + 20) == bytes.size()) {
      return at;
    }
  }
  fail_damaged(source, "no end record");
}

[[noreturn]] void fail_disks(std::string_view source) {
  fail(ErrorKind::kUnsupported, "{}: is one part of a zip archive on several disks; join the parts",
       source);
}

Directory read_zip64_end(Bytes bytes, size_t locator, std::string_view source) {
  const auto at = load_little_endian<uint64_t>(bytes, locator + 8);
  if (load_little_endian<uint32_t>(bytes, locator + 4) != 0 ||
      load_little_endian<uint32_t>(bytes, locator + 16) > 1) {
    fail_disks(source);
  }
  if (!has_signature(bytes.first(locator), at, kZip64EndBytes, kZip64EndSignature)) {
    fail_damaged(source, "its zip64 end record is not where it should be");
  }
  const auto entries = load_little_endian<uint64_t>(bytes, at + 32);
  if (load_little_endian<uint32_t>(bytes, at + 16) != 0 ||
      load_little_endian<uint32_t>(bytes, at + 20) != 0 ||
      load_little_endian<uint64_t>(bytes, at + 24) != entries) {
    fail_disks(source);
  }
  return {.offset = load_little_endian<uint64_t>(bytes, at + 48),
          .size = load_little_endian<uint64_t>(bytes, at + 40),
          .entries = entries,
          .end = at};
}

Directory directory_of(Bytes bytes, std::string_view source) {
  const size_t at = end_record_of(bytes, source);
  const auto disk = load_little_endian<uint16_t>(bytes, at + 4);
  const auto directory_disk = load_little_endian<uint16_t>(bytes, at + 6);
  const auto entries_here = load_little_endian<uint16_t>(bytes, at + 8);
  const auto entries = load_little_endian<uint16_t>(bytes, at + 10);
  const auto size = load_little_endian<uint32_t>(bytes, at + 12);
  const auto offset = load_little_endian<uint32_t>(bytes, at + 16);
  const bool full =
      disk == kZip16Full || entries == kZip16Full || size == kZip32Full || offset == kZip32Full;
  Directory directory{.offset = offset, .size = size, .entries = entries, .end = at};
  if (full && at >= kZip64LocatorBytes &&
      has_signature(bytes, at - kZip64LocatorBytes, kZip64LocatorBytes, kZip64LocatorSignature)) {
    directory = read_zip64_end(bytes, at - kZip64LocatorBytes, source);
  } else if (disk != 0 || directory_disk != 0 || entries_here != entries) {
    fail_disks(source);
  }
  if (directory.offset > directory.end || directory.size > directory.end - directory.offset ||
      directory.entries > directory.size / kZipCentralBytes) {
    fail_damaged(source, fmt::format("its directory of {} entries and {} bytes at {} does not fit",
                                     directory.entries, directory.size, directory.offset));
  }
  return directory;
}

std::string_view method_name(uint16_t method) {
  switch (method) {
    case 1:
      return "shrink";
    case 6:
      return "implode";
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "LZMA";
    case 93:
      return "zstd";
    case 95:
      return "xz";
    case 98:
      return "PPMd";
    case 99:
      return "AES encryption";
    default:
      return "an unknown method";
  }
}

void check_method(uint16_t method, uint16_t flags, std::string_view where) {
  if ((flags & (kZipFlagEncrypted | kZipFlagStrongEncryption | kZipFlagMasked)) != 0) {
    fail(ErrorKind::kUnsupported, "{}: is encrypted; write the archive without a password", where);
  }
  if ((flags & kZipFlagPatched) != 0 || (method != kZipStored && method != kZipDeflated)) {
    fail(ErrorKind::kUnsupported,
         "{}: is compressed with {} (method {}); fovea reads stored and deflated entries", where,
         (flags & kZipFlagPatched) != 0 ? "patches" : method_name(method), method);
  }
}

// One record of the central directory, with the zip64 values in place of full fields.
struct CentralRecord {
  ZipEntry entry;
  uint16_t method = 0;
  uint64_t local_offset = 0;
  size_t record_bytes = 0;
};

// Takes the next 8 bytes of the zip64 field for each value that did not fit into 32 bits.
void read_zip64_extra(Bytes extra, CentralRecord& record, std::string_view where) {
  uint64_t* const values[] = {&record.entry.size, &record.entry.compressed_size,
                              &record.local_offset};
  if (std::none_of(std::begin(values), std::end(values),
                   [](const uint64_t* value) { return *value == kZip32Full; })) {
    return;
  }
  while (extra.size() >= 4) {
    const auto id = load_little_endian<uint16_t>(extra, 0);
    const size_t length = load_little_endian<uint16_t>(extra, 2);
    extra = extra.subspan(4);
    if (length > extra.size()) break;
    if (id != kZip64ExtraId) {
      extra = extra.subspan(length);
      continue;
    }
    Bytes field = extra.first(length);
    for (uint64_t* value : values) {
      if (*value != kZip32Full) continue;
      if (field.size() < 8) fail_damaged(where, "its zip64 field is too short");
      *value = load_little_endian<uint64_t>(field, 0);
      field = field.subspan(8);
    }
    return;
  }
  fail_damaged(where, "its zip64 field is missing");
}

CentralRecord read_central(Bytes directory, std::string_view source) {
  if (!has_signature(directory, 0, kZipCentralBytes, kZipCentralSignature)) {
    fail_damaged(source, "a directory record is missing");
  }
  const auto flags = load_little_endian<uint16_t>(directory, 8);
  const size_t name_bytes = load_little_endian<uint16_t>(directory, 28);
  const size_t extra_bytes = load_little_endian<uint16_t>(directory, 30);
  const size_t comment_bytes = load_little_endian<uint16_t>(directory, 32);
  CentralRecord record;
  record.record_bytes = kZipCentralBytes + name_bytes + extra_bytes + comment_bytes;
  if (record.record_bytes > directory.size()) {
    fail_damaged(source, "a directory record is longer than the directory");
  }
  record.entry.name = as_text(directory.subspan(kZipCentralBytes, name_bytes));
  const std::string where = fmt::format("{}: {}", source, quote_name(record.entry.name));
  if (find_invalid_utf8(record.entry.name) != std::string::npos) {
    fail(ErrorKind::kUnsupported, "{}: is a zip entry whose name is not UTF-8; rename it", where);
  }
  record.method = load_little_endian<uint16_t>(directory, 10);
  check_method(record.method, flags, where);
  record.entry.stored = record.method == kZipStored;
  record.entry.crc32 = load_little_endian<uint32_t>(directory, 16);
  record.entry.compressed_size = load_little_endian<uint32_t>(directory, 20);
  record.entry.size = load_little_endian<uint32_t>(directory, 24);
  if (load_little_endian<uint16_t>(directory, 34) != 0) fail_disks(source);
  record.local_offset = load_little_endian<uint32_t>(directory, 42);
  read_zip64_extra(directory.subspan(kZipCentralBytes + name_bytes, extra_bytes), record, where);
  return record;
}

// Sets data_offset from the entry's local header, which must agree with the directory.
void locate_data(Bytes before_directory, CentralRecord& record, std::string_view source) {
  ZipEntry& entry = record.entry;
  const std::string where = fmt::format("{}: {}", source, quote_name(entry.name));
  const uint64_t at = record.local_offset;
  if (!has_signature(before_directory, at, kZipLocalBytes, kZipLocalSignature)) {
    fail_damaged(where, fmt::format("no entry begins at byte {}", at));
  }
  const size_t name_bytes = load_little_endian<uint16_t>(before_directory, at + 26);
  const size_t extra_bytes = load_little_endian<uint16_t>(before_directory, at + 28);
  const uint64_t left = before_directory.size() - at - kZipLocalBytes;
  if (name_bytes + extra_bytes > left || entry.compressed_size > left - name_bytes - extra_bytes) {
    fail_damaged(where,
                 fmt::format("it says {} bytes, more than are there", entry.compressed_size));
  }
  if (as_text(before_directory.subspan(at + kZipLocalBytes, name_bytes)) != entry.name ||
      load_little_endian<uint16_t>(before_directory, at + 8) != record.method) {
    fail_damaged(where, "the directory and the entry disagree");
  }
  entry.data_offset = at + kZipLocalBytes + name_bytes + extra_bytes;
  const bool possible = entry.stored ? entry.size == entry.compressed_size
                                     : entry.size / kBestDeflateRatio <= entry.compressed_size;
  if (!possible) {
    fail_damaged(where, fmt::format("{} bytes cannot come out of {} {}", entry.size,
                                    entry.compressed_size, entry.stored ? "stored" : "deflated"));
  }
}

// Frees zlib's state when a scope ends, however it ends.
class InflateStream {
 public:
  InflateStream() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {  // negative: no zlib header around the data
      fail(ErrorKind::kIo, "zlib could not be started; free some memory");
    }
  }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  ~InflateStream() { inflateEnd(&stream_); }
  z_stream& get() { return stream_; }

 private:
  z_stream stream_{};
};

// Whether `compressed` inflates to exactly `result`. zlib counts in 32 bits, so both go in pieces.
bool inflate_exactly(Bytes compressed, std::span<std::byte> result) {
  constexpr size_t kPiece = size_t{1} << 30;
  InflateStream inflater;
  z_stream& stream = inflater.get();
  std::byte nothing{};  // zlib wants a place to write to even when it is to write nothing
  std::byte* out = result.empty() ? &nothing : result.data();
  const std::byte* in = compressed.data();
  size_t in_left = compressed.size();
  size_t out_left = result.size();
  for (;;) {
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in));
    stream.avail_in = static_cast<uInt>(std::min(in_left, kPiece));
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = static_cast<uInt>(std::min(out_left, kPiece));
    const uInt in_given = stream.avail_in;
    const uInt out_given = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    const size_t taken = in_given - stream.avail_in;
    const size_t made = out_given - stream.avail_out;
    in += taken;
    in_left -= taken;
    out += made;
    out_left -= made;
    if (status == Z_STREAM_END) return in_left == 0 && out_left == 0;
    if (status != Z_OK || (taken == 0 && made == 0)) return false;
  }
}

}  // namespace

ZipReader ZipReader::open(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  const Bytes bytes = mapped->bytes();
  return parse(bytes, path.string(), std::move(mapped));
}

ZipReader ZipReader::parse(Bytes bytes, std::string_view source,
                           std::shared_ptr<const void> keep_alive) {
  ZipReader reader;
  reader.source_ = source;
  reader.keep_alive_ = std::move(keep_alive);
  reader.bytes_ = bytes;
  reader.read_directory();
  reader.build_index();
  return reader;
}

void ZipReader::read_directory() {
  const Directory directory = directory_of(bytes_, source_);
  Bytes records = bytes_.subspan(directory.offset, directory.size);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    CentralRecord record = read_central(records, source_);
    locate_data(bytes_.first(directory.offset), record, source_);
    records = records.subspan(record.record_bytes);
    entries_.push_back(std::move(record.entry));
  }
  if (!records.empty()) {
    fail_damaged(source_, fmt::format("{} bytes follow the last directory record", records.size()));
  }
  check_apart();
}

// Entries that share bytes are how a small archive unpacks to petabytes.
void ZipReader::check_apart() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const ZipEntry& entry : entries_) {
    const uint64_t header = kZipLocalBytes + entry.name.size();
    ranges.emplace_back(entry.data_offset - header, entry.data_offset + entry.compressed_size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      fail_damaged(source_, fmt::format("two entries share byte {}", ranges[i].first));
    }
  }
}

void ZipReader::build_index() {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](uint32_t a, uint32_t b) { return entries_[a].name < entries_[b].name; });
  const auto same = [&](uint32_t a, uint32_t b) { return entries_[a].name == entries_[b].name; };
  const auto twice = std::adjacent_find(by_name_.begin(), by_name_.end(), same);
  if (twice != by_name_.end()) {
    fail(ErrorKind::kBadFile, "{}: two zip entries are called {}; remove one", source_,
         quote_name(entries_[*twice].name));
  }
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto it =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return it == by_name_.end() || entries_[*it].name != name ? nullptr : &entries_[*it];
}

SharedBytes ZipReader::read(const ZipEntry& entry, uint64_t limit) const {
  const std::string where = fmt::format("{}: {}", source_, quote_name(entry.name));
  if (entry.size > limit) {
    fail(ErrorKind::kBadFile, "{}: unpacks to {} bytes, more than the {} that are allowed here",
         where, entry.size, limit);
  }
  const Bytes packed = bytes_.subspan(entry.data_offset, entry.compressed_size);
  SharedBytes result{.bytes = packed, .keep_alive = keep_alive_};
  if (!entry.stored) {
    std::shared_ptr<std::byte[]> memory(new (std::nothrow) std::byte[entry.size]);
    if (memory == nullptr) {
      fail(ErrorKind::kOutOfMemory, "{}: unpacks to {} bytes, more memory than is to be had", where,
           entry.size);
    }
    const std::span<std::byte> unpacked(memory.get(), entry.size);
    if (!inflate_exactly(packed, unpacked)) {
      fail_damaged(where, fmt::format("it does not unpack to {} bytes", entry.size));
    }
    result = {.bytes = unpacked, .keep_alive = std::move(memory)};
  }
  const auto checksum = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(result.bytes.data()), result.bytes.size()));
  if (checksum != entry.crc32) {
    fail_damaged(where,
                 fmt::format("its checksum is {:08x} but should be {:08x}", checksum, entry.crc32));
  }
  return result;
}

}  // namespace fovea
