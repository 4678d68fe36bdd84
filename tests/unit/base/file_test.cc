#include "fovea/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <thread>

#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

// Sets the process's umask for one scope.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : old_(::umask(mask)) {}
  ScopedUmask(const ScopedUmask&) = delete;
  ScopedUmask& operator=(const ScopedUmask&) = delete;
  ~ScopedUmask() { ::umask(old_); }

 private:
  mode_t old_;
};

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TempFolder folder;
  const std::string text("a\0b\n", 4);
  write_text(folder / "f", text);
  const auto file = MappedFile::open(folder / "f");
  EXPECT_EQ(as_text(file->bytes()), text);
  EXPECT_EQ(file->path(), folder / "f");
}

TEST(MappedFile, OutlivesTheNameOfTheFile) {
  const TempFolder folder;
  write_text(folder / "f", "still here");
  const auto file = MappedFile::open(folder / "f");
  fs::remove(folder / "f");
  EXPECT_EQ(as_text(file->bytes()), "still here");
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const TempFolder folder;
  write_text(folder / "empty", "");
  EXPECT_TRUE(MappedFile::open(folder / "empty")->bytes().empty());
}

// Bytes of mapped files that are in this process's memory; none where the system does not say.
std::optional<int64_t> mapped_in_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

TEST(MappedFile, PagesThatAreLetGoLeaveMemoryAndCanBeReadAgain) {
  if (!mapped_in_memory()) GTEST_SKIP() << "this system does not say";
  constexpr int64_t kBytes = 32 << 20;
  const TempFolder folder;
  const std::string text(kBytes, 'x');
  write_text(folder / "f", text);
  const auto file = MappedFile::open(folder / "f");
  const auto all_read = [&] { return as_text(file->bytes()) == text; };
  EXPECT_TRUE(all_read());
  const int64_t before = *mapped_in_memory();
  let_pages_go(file->bytes().subspan(1));  // all whole pages but the first
  EXPECT_LT(*mapped_in_memory(), before - kBytes * 3 / 4);
  EXPECT_TRUE(all_read());
}

TEST(MappedFile, OtherBytesAreNotMapped) {
  const TempFolder folder;
  write_text(folder / "f", std::string(100, 'x'));
  const auto file = MappedFile::open(folder / "f");
  EXPECT_TRUE(is_mapped(file->bytes()));
  EXPECT_TRUE(is_mapped(file->bytes().subspan(99)));
  EXPECT_FALSE(is_mapped({file->bytes().data() + 50, 51}));
  std::string heap(1 << 20, 'x');
  EXPECT_FALSE(is_mapped(as_bytes(heap)));
  let_pages_go(as_bytes(heap));
  EXPECT_EQ(heap, std::string(1 << 20, 'x'));
}

TEST(MappedFile, RefusesWhatIsMissingAFolderOrADevice) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no such file",
                         [&] { MappedFile::open(folder / "missing"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "is a folder, not a file",
                         [&] { MappedFile::open(folder / "."); }));
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "device or pipe", [] { MappedFile::open("/dev/null"); }));
  write_text(folder / "file", "x");
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "cannot be opened",
                         [&] { MappedFile::open(folder / "file/below"); }));
}

TEST(ReadTextFile, ReadsUpToItsLimit) {
  const TempFolder folder;
  const std::string text(200'000, 'x');
  write_text(folder / "f", text);
  EXPECT_EQ(read_text_file(folder / "f"), text);
  EXPECT_EQ(read_text_file(folder / "f", text.size()), text);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "larger than 199999 bytes",
                         [&] { read_text_file(folder / "f", text.size() - 1); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no such file",
                         [&] { read_text_file(folder / "missing"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "", [&] { read_text_file(folder / "."); }));
}

TEST(WriteFileAtomic, WritesSmallAndLargePiecesInOrder) {
  const TempFolder folder;
  std::string expected;
  write_file_atomic(folder / "f", [&](FileWriter& file) {
    for (const size_t size : {1, 0, 65'535, 65'536, 65'537, 10, 200'000, 3}) {
      const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
      file.write(piece);
      expected += piece;
      EXPECT_EQ(file.position(), expected.size());
    }
  });
  EXPECT_EQ(read_text_file(folder / "f"), expected);
  EXPECT_THAT(folder.list(), ElementsAre("f"));
}

TEST(WriteFileAtomic, AnExceptionLeavesTheOldFileAndNoOther) {
  const TempFolder folder;
  write_text(folder / "f", "old");
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "stop", [&] {
    write_file_atomic(folder / "f", [](FileWriter& file) {
      file.write(std::string(100'000, 'n'));
      fail(ErrorKind::kCancelled, "stop");
    });
  }));
  EXPECT_EQ(read_text_file(folder / "f"), "old");
  EXPECT_THAT(folder.list(), ElementsAre("f"));
}

TEST(WriteFileAtomic, AnExceptionLeavesNothingWhereNothingWas) {
  const TempFolder folder;
  EXPECT_THROW(write_file_atomic(folder / "f", [](FileWriter&) { throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(WriteFileAtomic, AReaderSeesTheOldFileUntilTheEnd) {
  const TempFolder folder;
  write_text(folder / "f", "old");
  write_file_atomic(folder / "f", [&](FileWriter& file) {
    file.write(std::string(100'000, 'n'));
    EXPECT_EQ(read_text_file(folder / "f"), "old");
  });
  EXPECT_EQ(read_text_file(folder / "f"), std::string(100'000, 'n'));
}

TEST(WriteFileAtomic, ANewFileHasTheUsualPermissions) {
  const TempFolder folder;
  const ScopedUmask mask(027);
  write_text(folder / "f", "x");
  EXPECT_EQ(mode_of(folder / "f"), 0640U);
}

TEST(WriteFileAtomic, KeepsThePermissionsOfTheFileItReplaces) {
  const TempFolder folder;
  write_text(folder / "f", "x");
  ::chmod((folder / "f").c_str(), 0604);
  write_text(folder / "f", "y");
  EXPECT_EQ(mode_of(folder / "f"), 0604U);
}

TEST(WriteFileAtomic, FollowsALinkAndKeepsIt) {
  const TempFolder folder;
  fs::create_directory(folder / "deep");
  write_text(folder / "deep/real", "old");
  fs::create_symlink("deep/real", folder / "second");
  fs::create_symlink("second", folder / "first");
  write_text(folder / "first", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "first"));
  EXPECT_TRUE(fs::is_symlink(folder / "second"));
  EXPECT_EQ(read_text_file(folder / "deep/real"), "new");
}

TEST(WriteFileAtomic, MakesTheFileThatADanglingLinkNames) {
  const TempFolder folder;
  fs::create_symlink("later", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_text_file(folder / "later"), "new");
}

TEST(FileExists, TellsFilesFromFoldersAndNeverThrows) {
  const TempFolder folder;
  write_text(folder / "file", "x");
  fs::create_symlink("nowhere", folder / "broken");
  EXPECT_TRUE(file_exists(folder / "file"));
  EXPECT_FALSE(is_folder(folder / "file"));
  EXPECT_TRUE(file_exists(folder / "."));
  EXPECT_TRUE(is_folder(folder / "."));
  for (const fs::path& path : {folder / "missing", folder / "broken", folder / "file/below",
                               fs::path(std::string(5000, 'x')), fs::path()}) {
    EXPECT_FALSE(file_exists(path)) << path;
    EXPECT_FALSE(is_folder(path)) << path;
  }
}

TEST(LowerSuffix, IsTheLastOneInSmallLetters) {
  EXPECT_EQ(lower_suffix("a/b.PNG"), ".png");
  EXPECT_EQ(lower_suffix("run.fovea.SafeTensors"), ".safetensors");
  EXPECT_EQ(lower_suffix("a.b/none"), "");
  EXPECT_EQ(lower_suffix("\xC3\x84.\xC3\x84"), ".\xC3\x84");  // other letters stay
}

TEST(WriteFileAtomic, RefusesAMissingFolderAndAFolder) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "cannot be written",
                         [&] { write_text(folder / "missing/f", "x"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "is a folder", [&] { write_text(folder / ".", "x"); }));
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(WriteFileAtomic, WritesAPipeDirectly) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder / "link");
  std::string read;
  std::thread reader([&] { read = read_text_file(folder / "pipe"); });
  write_text(folder / "link", "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(WriteFileAtomic, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  EXPECT_TRUE(
      fails_with(ErrorKind::kIo, "cannot be written", [] { write_text("/dev/full", "x"); }));
}

}  // namespace
}  // namespace fovea
