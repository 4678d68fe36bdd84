#include "fovea/checkpoint/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/checkpoint/file_source.h"
#include "fovea/checkpoint/torch_storage.h"
#include "fovea/io/zip_writer.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

TorchFile parse_torch_file(std::string_view bytes) {
  const auto copy = std::make_shared<const std::string>(bytes);
  return TorchFile::parse(as_bytes(*copy), "test", copy);
}

const TorchFile::Entry& entry_of(const TorchFile& file, std::string_view name) {
  const auto it = std::find_if(file.entries().begin(), file.entries().end(),
                               [&](const auto& entry) { return entry.name == name; });
  if (it == file.entries().end()) throw std::runtime_error("no such entry");
  return *it;
}

// A zip file as torch.save writes it, with this pickle and one storage of eight floats, '0'.
std::string zip_with(const TempFolder& folder, std::string_view pickle,
                     std::string_view order = "little") {
  const auto path = folder / "f.zip";
  write_file_atomic(path, [&](FileWriter& file) {
    ZipWriter zip(file);
    const std::string storage(32, '\1');
    const auto add = [&](std::string_view name, std::string_view text) {
      const Bytes parts[] = {as_bytes(text)};
      zip.add(name, parts);
    };
    add("archive/data.pkl", pickle);
    add("archive/byteorder", order);
    add("archive/data/0", storage);
    zip.finish();
  });
  return read_text_file(path);
}

std::string int4(int64_t value) {
  std::string text = "\x8a\x08";
  for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

std::string pickled_text(std::string_view value) {
  return std::string("\x8c") + static_cast<char>(value.size()) + std::string(value);
}

struct TensorPickle {
  int64_t offset = 0;
  std::vector<int64_t> sizes{2, 3};
  std::vector<int64_t> strides{3, 1};
  int64_t elements = 8;
  std::string key = "0";
  std::string storage_class = "FloatStorage";

  std::string text() const {
    const auto tuple = [](const std::vector<int64_t>& values) {
      std::string result = "(";
      for (const int64_t value : values) result += int4(value);
      return result + "t";
    };
    return "\x80\x02}" + pickled_text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" +
           pickled_text("storage") + "ctorch\n" + storage_class + "\n" + pickled_text(key) +
           pickled_text("cpu") + int4(elements) + "tQ" + int4(offset) + tuple(sizes) +
           tuple(strides) + "\x89}tRs.";
  }
};

testing::AssertionResult is_bad_tensor(std::string_view part, const TensorPickle& tensor) {
  const TempFolder folder;
  return fails_with(ErrorKind::kBadFile, part,
                    [&] { parse_torch_file(zip_with(folder, tensor.text())); });
}

TEST(TorchFile, ReadsEveryTypeAndLayoutOfBothFormats) {
  for (const char* name : {"zip.bin", "stream.bin", "nested.pt", "protocol4.pt"}) {
    SCOPED_TRACE(name);
    const auto path = checkpoint_data(name);
    expect_same_tensors(*open_torch_weights(path),
                        std::filesystem::path(path).replace_extension("safetensors"));
  }
}

TEST(TorchFile, BorrowsContiguousTensorsAndSharesTiedOnes) {
  const auto file = TorchFile::open(checkpoint_data("zip.bin"));
  const Tensor a = file.tensor(entry_of(file, "f32"));
  const Tensor b = file.tensor(entry_of(file, "tied"));
  EXPECT_EQ(a.raw(), b.raw());
  EXPECT_NE(file.tensor(entry_of(file, "transposed")).raw(),
            file.tensor(entry_of(file, "transposed")).raw());
}

TEST(TorchFile, ATensorOutlivesItsFile) {
  Tensor tensor;
  {
    const auto file = TorchFile::open(checkpoint_data("zip.bin"));
    tensor = file.tensor(entry_of(file, "scalar"));
  }
  EXPECT_EQ(tensor.values<float>()[0], 2.5F);
}

TEST(TorchFile, WholeModelsAndProgramsAreRefusedByName) {
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'torch.nn.modules.container.Sequential'",
                         [] { TorchFile::open(checkpoint_data("whole_model.pt")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "TorchScript",
                         [] { TorchFile::open(checkpoint_data("script.pt")); }));
}

TEST(TorchFile, AMaliciousPickleIsRefusedByName) {
  const TempFolder folder;
  for (const char* pickle : {"\x80\x02"
                             "cos\nsystem\n\x8c\x02id\x85R.",
                             "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."}) {
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'os.system'",
                           [&] { parse_torch_file(zip_with(folder, pickle)); }));
  }
}

TEST(TorchFile, TruncatedAtAnyByteIsOneClearError) {
  for (const char* name : {"zip.bin", "stream.bin"}) {
    const std::string whole = read_fixture(name);
    ASSERT_NO_THROW(parse_torch_file(whole));
    for (size_t size = 0; size < whole.size(); ++size) {
      ASSERT_TRUE(fails_cleanly([&] { parse_torch_file(std::string_view(whole).substr(0, size)); }))
          << name << " cut to " << size;
    }
  }
}

TEST(TorchFile, ATensorMustLieWithinItsStorage) {
  const TempFolder folder;
  const auto good = parse_torch_file(zip_with(folder, TensorPickle{}.text()));
  EXPECT_EQ(good.tensor(good.entries()[0]).shape(), (Shape{2, 3}));
  EXPECT_NO_THROW(parse_torch_file(zip_with(folder, TensorPickle{.offset = 2}.text())));
  EXPECT_TRUE(is_bad_tensor("reaches over 6 elements from 3 but its storage has 8", {.offset = 3}));
  EXPECT_TRUE(is_bad_tensor("from -1", {.offset = -1}));
  EXPECT_TRUE(is_bad_tensor("negative stride -3", {.strides = {-3, 1}}));
  EXPECT_TRUE(is_bad_tensor("negative size", {.sizes = {-2, 3}}));
  EXPECT_TRUE(is_bad_tensor("2 sizes but 1 strides", {.strides = {1}}));
  EXPECT_TRUE(is_bad_tensor("memory can address", {.sizes = {INT64_MAX, 3}}));
  EXPECT_TRUE(is_bad_tensor("memory can address", {.strides = {INT64_MAX, INT64_MAX}}));
  EXPECT_TRUE(is_bad_tensor("reaches over 4294967300", {.strides = {4294967297, 1}}));
  EXPECT_TRUE(is_bad_tensor("storage '7' is not in the file", {.key = "7"}));
  EXPECT_TRUE(is_bad_tensor("storage has 4", {.elements = 4}));
  EXPECT_TRUE(is_bad_tensor("not named as torch does", {.elements = -4}));
  EXPECT_TRUE(is_bad_tensor("not named as torch does", {.storage_class = "Size"}));
}

TEST(TorchFile, AxesOfOneElementMayHaveAnyStride) {
  const TempFolder folder;
  const TensorPickle tensor{.sizes = {2, 1, 1}, .strides = {3, INT64_MAX, INT64_MAX}};
  const auto file = parse_torch_file(zip_with(folder, tensor.text()));
  EXPECT_EQ(file.tensor(file.entries()[0]).elements(), 2);
}

TEST(TorchFile, RepeatedElementsAreBounded) {
  const TempFolder folder;
  const TensorPickle few{.sizes = {1000}, .strides = {0}};
  const auto file = parse_torch_file(zip_with(folder, few.text()));
  EXPECT_EQ(file.tensor(file.entries()[0]).elements(), 1000);
  const TensorPickle many{.sizes = {int64_t{1} << 40}, .strides = {0}};
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "repeats 1 stored elements",
                         [&] { parse_torch_file(zip_with(folder, many.text())); }));
}

TEST(TorchFile, OtherFilesAreRefusedWithWhatTheyAre) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "big-endian", [&] {
    parse_torch_file(zip_with(folder, TensorPickle{}.text(), "big"));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "members are 'epoch'", [&] {
    parse_torch_file(zip_with(folder,
                              "}\x8c\x05"
                              "epochK\x01s."));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "holds a list",
                         [&] { parse_torch_file(zip_with(folder, "].")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "Git LFS",
                         [] { parse_torch_file("version https://git-lfs.github.com/spec/v1\n"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "not a PyTorch file", [] { parse_torch_file("hello"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "not a PyTorch file", [] { parse_torch_file(""); }));
}

TEST(TorchFile, ADictWithinItselfIsWalkedToAnEnd) {
  const TempFolder folder;
  std::string pickle = TensorPickle{}.text();
  pickle.pop_back();
  const auto file = parse_torch_file(zip_with(folder, pickle + "q\x01\x8c\x01xh\x01s."));
  EXPECT_GT(file.entries().size(), 1U);
  EXPECT_LT(file.entries().size(), 20U);
}

TEST(TorchFile, ADamagedStorageIsNoticedWhenItIsRead) {
  const TempFolder folder;
  std::string bytes = zip_with(folder, TensorPickle{}.text());
  bytes[bytes.find(std::string(32, '\1')) + 5] = '\2';
  const auto file = parse_torch_file(bytes);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "checksum", [&] { file.tensor(file.entries()[0]); }));
}

}  // namespace
}  // namespace fovea
