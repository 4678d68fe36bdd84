#include "fovea/io/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/io/zip_writer.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/io/io_test_support.h"

namespace fovea {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<NamedTensor> some_tensors() {
  return {{"b", sample_tensor({3}, DType::kU8)},
          {"a/x", sample_tensor({2, 2}, DType::kF64)},
          {"漢", sample_tensor({}, DType::kF16)}};
}

TEST(Npz, EveryTypeAndShapeComesBack) {
  const TempFolder folder;
  std::vector<NamedTensor> tensors;
  for (const DType dtype : kAllTypes) {
    if (dtype == DType::kBF16) continue;
    for (const Shape& shape : odd_shapes()) {
      tensors.push_back(
          {fmt::format("{}{}", dtype_name(dtype), to_string(shape)), sample_tensor(shape, dtype)});
    }
  }
  write_npz(folder / "f.npz", tensors);
  const auto file = NpzFile::open(folder / "f.npz");
  EXPECT_EQ(file.names().size(), tensors.size());
  for (const NamedTensor& tensor : tensors) {
    EXPECT_TRUE(same_tensor(file.tensor(tensor.name), tensor.tensor)) << tensor.name;
  }
}

TEST(Npz, NamesKeepTheirOrder) {
  const TempFolder folder;
  write_npz(folder / "f.npz", some_tensors());
  const auto file = NpzFile::open(folder / "f.npz");
  EXPECT_THAT(file.names(), ElementsAre("b", "a/x", "漢"));
  EXPECT_TRUE(file.contains("a/x"));
  EXPECT_FALSE(file.contains("a"));
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, "no array 'c' among its 3", [&] { file.tensor("c"); }));
}

TEST(Npz, StoredArraysBorrowTheMappedFile) {
  const TempFolder folder;
  write_npz(folder / "f.npz", some_tensors());
  Tensor first;
  Tensor second;
  {
    const auto file = NpzFile::open(folder / "f.npz");
    first = file.tensor("a/x");
    second = file.tensor("a/x");
  }
  EXPECT_EQ(first.raw(), second.raw());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.raw()) % 64, 0U);
  EXPECT_TRUE(same_tensor(first, some_tensors()[1].tensor));
}

TEST(Npz, EqualInputGivesEqualBytes) {
  const TempFolder folder;
  write_npz(folder / "1.npz", some_tensors());
  write_npz(folder / "2.npz", some_tensors());
  EXPECT_EQ(read_text_file(folder / "1.npz"), read_text_file(folder / "2.npz"));
}

TEST(Npz, AFileWithoutArraysComesBack) {
  const TempFolder folder;
  write_npz(folder / "f.npz", {});
  EXPECT_THAT(NpzFile::open(folder / "f.npz").names(), IsEmpty());
}

TEST(Npz, ReadsFilesOfNumpy) {
  const auto plain = NpzFile::open(io_data("plain.npz"));
  EXPECT_THAT(plain.names(), ElementsAre("floats", "matrix"));
  EXPECT_THAT(plain.tensor("floats").values<float>(), ElementsAre(0.5F, -1.5F, 2.25F));
  EXPECT_THAT(plain.tensor("matrix").values<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  const auto packed = NpzFile::open(io_data("deflated.npz"));
  EXPECT_THAT(packed.tensor("floats").values<float>(), ElementsAre(0.5F, -1.5F, 2.25F));
  EXPECT_EQ(packed.tensor("zeros").shape(), Shape({50, 40}));
  EXPECT_THAT(packed.tensor("zeros").values<double>(), Each(0.0));
}

TEST(Npz, RefusesArraysLargerThanTheLimit) {
  const auto packed = NpzFile::open(io_data("deflated.npz"), /*limit=*/1000);
  EXPECT_NO_THROW(packed.tensor("floats"));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "more than the 1000", [&] { packed.tensor("zeros"); }));
}

TEST(Npz, LeavesOutEntriesThatAreNotArrays) {
  const TempFolder folder;
  write_file_atomic(folder / "f.npz", [](FileWriter& file) {
    ZipWriter zip(file);
    const Bytes text = as_bytes("not an array");
    zip.add("readme.txt", {&text, 1});
    zip.add("broken.npy", {&text, 1});
    zip.finish();
  });
  const auto file = NpzFile::open(folder / "f.npz");
  EXPECT_THAT(file.names(), ElementsAre("broken"));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'broken': does not begin as a npy file",
                         [&] { file.tensor("broken"); }));
}

// Reads every array there is.
void read_all(std::string_view bytes) {
  const auto file = NpzFile::parse(as_bytes(bytes), "test");
  for (const std::string& name : file.names()) file.tensor(name);
}

TEST(Npz, RefusesTruncationAtEveryByte) {
  for (const std::string_view name : {"plain.npz", "deflated.npz"}) {
    const std::string text = read_text_file(io_data(name));
    EXPECT_NO_THROW(read_all(text));
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "test: ", [&] {
        read_all(std::string_view(text).substr(0, size));
      })) << size;
    }
  }
}

TEST(Npz, ADamagedByteOfAnArrayIsNoticed) {
  const std::string good = read_text_file(io_data("plain.npz"));
  const size_t magic = good.find("\x93NUMPY");
  for (size_t at = magic; at < magic + 140; ++at) {
    std::string text = good;
    text[at] = static_cast<char>(text[at] ^ 4);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "checksum", [&] { read_all(text); })) << at;
  }
}

TEST(WriteNpz, RefusesWhatCannotBeWrittenAndWritesNothing) {
  const TempFolder folder;
  const Tensor tensor({1});
  const auto refused = [&](ErrorKind kind, std::string_view part,
                           const std::vector<NamedTensor>& tensors) {
    return fails_with(kind, part, [&] { write_npz(folder / "f.npz", tensors); });
  };
  EXPECT_TRUE(refused(ErrorKind::kInvalidArgument, "two tensors are called 'a'",
                      {{"a", tensor}, {"a", tensor}}));
  EXPECT_TRUE(refused(ErrorKind::kInvalidArgument, "must be UTF-8", {{"", tensor}}));
  EXPECT_TRUE(refused(ErrorKind::kInvalidArgument, "must be UTF-8", {{"\xff", tensor}}));
  EXPECT_TRUE(
      refused(ErrorKind::kInvalidArgument, "must be UTF-8", {{std::string(1, '\0'), tensor}}));
  EXPECT_TRUE(
      refused(ErrorKind::kInvalidArgument, "must be UTF-8", {{std::string(70'000, 'n'), tensor}}));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "tensor 'h': npy cannot hold BF16",
                      {{"a", tensor}, {"h", Tensor({1}, DType::kBF16)}}));
  EXPECT_THAT(folder.list(), IsEmpty());
}

}  // namespace
}  // namespace fovea
