#include "fovea/io/zip.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "fovea/io/little_endian.h"
#include "fovea/io/zip_format.h"
#include "fovea/io/zip_writer.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/io/io_test_support.h"

namespace fovea {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kNoLimit = UINT64_MAX;

template <typename... Values>
std::string fields(Values... values) {
  std::string text;
  (append_little_endian(text, values), ...);
  return text;
}

uint32_t checksum(std::string_view text) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string deflated_member(std::string text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// One entry of a hand-made archive, so that each field can be wrong on its own.
struct Entry {
  std::string name = "a";
  std::string packed = "hello";
  uint64_t size = 5;
  uint32_t crc = checksum("hello");
  uint16_t method = kZipStored;
  uint16_t flags = 0;
  uint16_t disk = 0;
  uint32_t attributes = 0;
  bool zip64 = false;
  std::string local_name;  // if it differs
  uint32_t local_offset_shift = 0;
};

Entry deflated_entry(std::string name, const std::string& text) {
  return {.name = std::move(name),
          .packed = deflated_member(text),
          .size = text.size(),
          .crc = checksum(text),
          .method = kZipDeflated};
}

struct Archive {
  std::string bytes;
  size_t directory_offset = 0;
  size_t end_offset = 0;
};

std::string central_record(const Entry& entry, uint64_t offset) {
  std::string extra;
  if (entry.zip64) {
    extra = fields(uint16_t{0x9999}, uint16_t{1}, uint8_t{0});  // a field of another kind first
    extra += fields(kZip64ExtraId, uint16_t{24}, entry.size, uint64_t{entry.packed.size()}, offset);
  }
  const auto short_form = [&](uint64_t value) {
    return entry.zip64 ? kZip32Full : static_cast<uint32_t>(value);
  };
  return fields(kZipCentralSignature, uint16_t{20}, uint16_t{20}, entry.flags, entry.method,
                uint16_t{0}, uint16_t{0x21}, entry.crc, short_form(entry.packed.size()),
                short_form(entry.size), static_cast<uint16_t>(entry.name.size()),
                static_cast<uint16_t>(extra.size()), uint16_t{0}, entry.disk, uint16_t{0},
                entry.attributes, short_form(offset)) +
         entry.name + extra;
}

Archive make_archive(const std::vector<Entry>& entries, bool zip64_end = false) {
  Archive archive;
  std::string directory;
  for (const Entry& entry : entries) {
    directory += central_record(entry, archive.bytes.size() + entry.local_offset_shift);
    const std::string& name = entry.local_name.empty() ? entry.name : entry.local_name;
    // Sizes only follow the data here, as a streaming writer leaves them.
    archive.bytes += fields(kZipLocalSignature, uint16_t{20}, entry.flags, entry.method,
                            uint16_t{0}, uint16_t{0x21}, uint32_t{0}, uint32_t{0}, uint32_t{0},
                            static_cast<uint16_t>(name.size()), uint16_t{0}) +
                     name + entry.packed;
    archive.bytes += fields(uint32_t{0x08074b50}, entry.crc, uint32_t{0}, uint32_t{0});
  }
  archive.directory_offset = archive.bytes.size();
  archive.bytes += directory;
  const uint64_t end = archive.bytes.size();
  const uint64_t count = entries.size();
  if (zip64_end) {
    archive.bytes += fields(kZip64EndSignature, uint64_t{44}, uint16_t{45}, uint16_t{45},
                            uint32_t{0}, uint32_t{0}, count, count, uint64_t{directory.size()},
                            uint64_t{archive.directory_offset}, kZip64LocatorSignature, uint32_t{0},
                            end, uint32_t{1});
  }
  archive.end_offset = archive.bytes.size();
  const auto short_count = zip64_end ? kZip16Full : static_cast<uint16_t>(count);
  const auto short_form = [&](uint64_t value) {
    return zip64_end ? kZip32Full : static_cast<uint32_t>(value);
  };
  archive.bytes +=
      fields(kZipEndSignature, uint16_t{0}, uint16_t{0}, short_count, short_count,
             short_form(directory.size()), short_form(archive.directory_offset), uint16_t{0});
  return archive;
}

ZipReader parse_zip(std::string_view bytes) {
  return ZipReader::parse(as_bytes(bytes), "test");
}

std::string contents(std::string_view bytes, std::string_view name, uint64_t limit = kNoLimit) {
  const ZipReader zip = parse_zip(bytes);
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) return "no such entry";
  return std::string(as_text(zip.read(*entry, limit).bytes));
}

testing::AssertionResult zip_refuses(ErrorKind kind, std::string_view part,
                                     const std::vector<Entry>& entries) {
  return fails_with(kind, part, [&] {
    const ZipReader zip = parse_zip(make_archive(entries).bytes);
    for (const ZipEntry& entry : zip.entries()) zip.read(entry, kNoLimit);
  });
}

TEST(ZipReader, ReadsStoredAndDeflatedEntries) {
  const std::string text(10'000, 'x');
  const std::string bytes =
      make_archive({Entry{}, deflated_entry("b/c", text), deflated_entry("empty", "")}).bytes;
  EXPECT_THAT(parse_zip(bytes).entries(), SizeIs(3));
  EXPECT_EQ(contents(bytes, "a"), "hello");
  EXPECT_EQ(contents(bytes, "b/c"), text);
  EXPECT_EQ(contents(bytes, "empty"), "");
  EXPECT_EQ(parse_zip(bytes).find("c"), nullptr);
}

TEST(ZipReader, AnArchiveWithoutEntriesIsFine) {
  EXPECT_THAT(parse_zip(make_archive({}).bytes).entries(), IsEmpty());
  EXPECT_THAT(parse_zip(make_archive({}, /*zip64_end=*/true).bytes).entries(), IsEmpty());
}

TEST(ZipReader, StoredEntriesAreViewsThatKeepTheArchive) {
  auto owner = std::make_shared<const std::string>(make_archive({Entry{}}).bytes);
  const std::weak_ptr<const std::string> watch = owner;
  const char* begin = owner->data();
  SharedBytes view;
  {
    const ZipReader zip = ZipReader::parse(as_bytes(*owner), "test", owner);
    owner.reset();
    view = zip.read(zip.entries()[0], kNoLimit);
  }
  ASSERT_FALSE(watch.expired());
  EXPECT_EQ(as_text(view.bytes).data(), begin + 31);
  EXPECT_EQ(as_text(view.bytes), "hello");
}

TEST(ZipReader, ReadsZip64Records) {
  Entry entry;
  entry.zip64 = true;
  for (const bool zip64_end : {false, true}) {
    EXPECT_EQ(contents(make_archive({entry}, zip64_end).bytes, "a"), "hello");
  }
}

TEST(ZipReader, ReadsAnArchiveWithAComment) {
  std::string bytes = make_archive({Entry{}}).bytes;
  const std::string comment = "PK\x05\x06 looks like an end record";
  bytes.resize(bytes.size() - 2);
  bytes += fields(static_cast<uint16_t>(comment.size())) + comment;
  EXPECT_EQ(contents(bytes, "a"), "hello");
}

TEST(ZipReader, RefusesTruncationAtEveryByte) {
  for (const bool zip64_end : {false, true}) {
    const std::string bytes = make_archive({Entry{}, deflated_entry("b", "text")}, zip64_end).bytes;
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no end record", [&] {
        parse_zip(std::string_view(bytes).substr(0, size));
      })) << size;
    }
  }
}

TEST(ZipReader, AnyByteOfTheStructureMayBeWrongWithoutHarm) {
  const std::string good = make_archive({Entry{}, deflated_entry("b", "text")}, true).bytes;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string bytes = good;
      bytes[at] = value;
      try {
        const ZipReader zip = parse_zip(bytes);
        for (const ZipEntry& entry : zip.entries()) zip.read(entry, kNoLimit);
      } catch (const Error&) {  // the only thing that may leave
      }
    }
  }
}

TEST(ZipReader, RefusesDamagedContents) {
  Entry wrong_crc;
  wrong_crc.crc ^= 1;
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "checksum", {wrong_crc}));
  Entry garbage = deflated_entry("g", "some text");
  garbage.packed[0] = '\x07';
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "does not unpack to 9 bytes", {garbage}));
  Entry cut = deflated_entry("c", "some text");
  cut.packed.pop_back();
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "does not unpack", {cut}));
  Entry longer = deflated_entry("l", "some text");
  longer.packed += "x";
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "does not unpack", {longer}));
}

TEST(ZipReader, RefusesContentsOfAnotherSizeThanDeclared) {
  for (const uint64_t size : {0, 8, 10, 1000}) {
    Entry entry = deflated_entry("e", "some text");
    entry.size = size;
    EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "does not unpack", {entry})) << size;
  }
  Entry stored;
  stored.size = 6;
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "6 bytes cannot come out of 5 stored", {stored}));
}

TEST(ZipReader, RefusesSizesThatDeflateCannotGiveBeforeAllocating) {
  Entry bomb = deflated_entry("bomb", std::string(100'000, '\0'));
  bomb.zip64 = true;
  bomb.size = uint64_t{1} << 50;
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "cannot come out of", {bomb}));
}

TEST(ZipReader, TheBestRatioOfDeflateIsStillRead) {
  const std::string zeros(4'000'000, '\0');
  EXPECT_EQ(contents(make_archive({deflated_entry("z", zeros)}).bytes, "z"), zeros);
}

TEST(ZipReader, RefusesMoreThanTheCallerAllows) {
  const std::string bytes = make_archive({Entry{}, deflated_entry("b", "12345678")}).bytes;
  EXPECT_EQ(contents(bytes, "b", 8), "12345678");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "8 bytes, more than the 7",
                         [&] { contents(bytes, "b", 7); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "5 bytes, more than the 4",
                         [&] { contents(bytes, "a", 4); }));
}

TEST(ZipReader, RefusesWhatItDoesNotReadByName) {
  const auto with = [](auto change) {
    Entry entry;
    change(entry);
    return std::vector<Entry>{entry};
  };
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "'a': is encrypted",
                          with([](Entry& e) { e.flags = kZipFlagEncrypted; })));
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "is encrypted",
                          with([](Entry& e) { e.flags = kZipFlagMasked; })));
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "bzip2", with([](Entry& e) { e.method = 12; })));
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "LZMA", with([](Entry& e) { e.method = 14; })));
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "zstd", with([](Entry& e) { e.method = 93; })));
  EXPECT_TRUE(
      zip_refuses(ErrorKind::kUnsupported, "(method 77)", with([](Entry& e) { e.method = 77; })));
  EXPECT_TRUE(
      zip_refuses(ErrorKind::kUnsupported, "several disks", with([](Entry& e) { e.disk = 1; })));
  EXPECT_TRUE(zip_refuses(ErrorKind::kUnsupported, "not UTF-8",
                          with([](Entry& e) { e.name = "\xff\xfe"; })));
  Archive split = make_archive({Entry{}});
  split.bytes[split.end_offset + 4] = 1;
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "several disks", [&] { parse_zip(split.bytes); }));
}

TEST(ZipReader, RefusesEntriesThatShareBytesOrNames) {
  EXPECT_TRUE(
      zip_refuses(ErrorKind::kBadFile, "two zip entries are called 'a'", {Entry{}, Entry{}}));
  // Two directory records for one entry.
  Entry entry;
  const Archive archive = make_archive({entry});
  Entry second;
  second.name = "a";
  std::string bytes = archive.bytes.substr(0, archive.directory_offset);
  const std::string directory = central_record(entry, 0) + central_record(second, 0);
  bytes += directory;
  bytes += fields(kZipEndSignature, uint16_t{0}, uint16_t{0}, uint16_t{2}, uint16_t{2},
                  static_cast<uint32_t>(directory.size()),
                  static_cast<uint32_t>(archive.directory_offset), uint16_t{0});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "two entries share byte", [&] { parse_zip(bytes); }));
}

TEST(ZipReader, RefusesADirectoryThatDisagreesWithTheEntries) {
  Entry renamed;
  renamed.local_name = "b";
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "disagree", {renamed}));
  Entry moved;
  moved.local_offset_shift = 1;
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "no entry begins at byte 1", {moved}));
  moved.local_offset_shift = 0x7fffffff;
  EXPECT_TRUE(zip_refuses(ErrorKind::kBadFile, "no entry begins at byte 2147483647", {moved}));
}

TEST(ZipReader, RefusesADirectoryThatDoesNotFit) {
  const Archive archive = make_archive({Entry{}});
  const auto with_end_field = [&](size_t at, auto value) {
    std::string bytes = archive.bytes;
    std::memcpy(bytes.data() + archive.end_offset + at, &value, sizeof value);
    return bytes;
  };
  for (const uint32_t value : {1U, 1000U, 0xfffffffeU, 0xffffffffU}) {
    for (const size_t at : {size_t{12}, size_t{16}}) {
      EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "damaged zip archive",
                             [&] { parse_zip(with_end_field(at, value)); }));
    }
  }
  const uint32_t two_entries = 2U << 16 | 2U;
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "does not fit",
                         [&] { parse_zip(with_end_field(8, two_entries)); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "follow the last directory record",
                         [&] { parse_zip(with_end_field(8, uint32_t{0})); }));
}

void write_archive(const std::filesystem::path& path, uint64_t zip64_from,
                   const std::vector<std::pair<std::string, std::string>>& entries) {
  write_file_atomic(path, [&](FileWriter& file) {
    ZipWriter zip(file, zip64_from);
    for (const auto& [name, text] : entries) {
      const Bytes parts[] = {as_bytes(text).first(text.size() / 2), Bytes{},
                             as_bytes(text).subspan(text.size() / 2)};
      zip.add(name, parts);
    }
    zip.finish();
  });
}

TEST(ZipWriter, WhatItWritesIsReadWithAndWithoutZip64) {
  const TempFolder folder;
  const std::vector<std::pair<std::string, std::string>> entries{
      {"a", "hello"}, {"é/漢", std::string(5000, 'x')}, {"empty", ""}};
  for (const uint64_t zip64_from : {uint64_t{kZip32Full}, uint64_t{1000}, uint64_t{0}}) {
    write_archive(folder / "z", zip64_from, entries);
    const ZipReader zip = ZipReader::open(folder / "z");
    ASSERT_THAT(zip.entries(), SizeIs(3));
    for (const auto& [name, text] : entries) {
      const ZipEntry* entry = zip.find(name);
      ASSERT_NE(entry, nullptr) << name;
      EXPECT_EQ(as_text(zip.read(*entry, kNoLimit).bytes), text);
      EXPECT_EQ(entry->data_offset % 64, 0U) << name;
    }
  }
}

TEST(ZipWriter, ContentsAreAlignedForEveryLengthOfName) {
  const TempFolder folder;
  std::vector<std::pair<std::string, std::string>> entries;
  for (size_t length = 1; length < 130; ++length)
    entries.emplace_back(std::string(length, 'n'), "x");
  write_archive(folder / "z", kZip32Full, entries);
  const ZipReader zip = ZipReader::open(folder / "z");
  for (const ZipEntry& entry : zip.entries()) EXPECT_EQ(entry.data_offset % 64, 0U) << entry.name;
}

TEST(ZipWriter, MoreEntriesThanSixteenBitsCount) {
  const TempFolder folder;
  for (const int count : {65'534, 65'535, 65'536}) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (int i = 0; i < count; ++i) entries.emplace_back(std::to_string(i), "");
    write_archive(folder / "z", kZip32Full, entries);
    const ZipReader zip = ZipReader::open(folder / "z");
    EXPECT_THAT(zip.entries(), SizeIs(static_cast<size_t>(count)));
    EXPECT_NE(zip.find(std::to_string(count - 1)), nullptr);
  }
}

TEST(ZipWriter, RefusesNamesThatCannotBeWritten) {
  const TempFolder folder;
  for (const std::string& name : {std::string(), std::string("\xff"), std::string(65'536, 'n')}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "zip entry name", [&] {
      write_archive(folder / "z", kZip32Full, {{name, "x"}});
    }));
  }
  EXPECT_THAT(folder.list(), IsEmpty());
}

}  // namespace
}  // namespace fovea
