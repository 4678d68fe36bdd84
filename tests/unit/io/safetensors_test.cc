#include "fovea/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/io/little_endian.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/io/io_test_support.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A file with this header and `data_bytes` bytes of data.
std::string safetensors_with(std::string_view header, size_t data_bytes) {
  std::string file;
  append_little_endian(file, uint64_t{header.size()});
  return file.append(header).append(data_bytes, '\0');
}

SafetensorsFile parse_safetensors(std::string_view file) {
  return SafetensorsFile::parse(as_bytes(file), "test");
}

testing::AssertionResult safetensors_refuses(ErrorKind kind, std::string_view part,
                                             std::string_view header, size_t data_bytes) {
  return fails_with(kind, part, [&] { parse_safetensors(safetensors_with(header, data_bytes)); });
}

testing::AssertionResult is_bad_safetensors(std::string_view part, std::string_view header,
                                            size_t data_bytes = 0) {
  return safetensors_refuses(ErrorKind::kBadFile, part, header, data_bytes);
}

std::vector<NamedTensor> mixed_tensors() {
  return {{"bytes", sample_tensor({3}, DType::kU8)},
          {"doubles", sample_tensor({2, 2}, DType::kF64)},
          {"halves", sample_tensor({5}, DType::kBF16)},
          {"floats", sample_tensor({}, DType::kF32)},
          {"empty", sample_tensor({0, 4}, DType::kI64)}};
}

TEST(Safetensors, EveryTypeAndShapeComesBack) {
  const TempFolder folder;
  std::vector<NamedTensor> tensors;
  for (const DType dtype : kAllTypes) {
    for (const Shape& shape : odd_shapes()) {
      tensors.push_back(
          {fmt::format("{}{}", dtype_name(dtype), to_string(shape)), sample_tensor(shape, dtype)});
    }
  }
  write_safetensors(folder / "f", tensors);
  const auto file = SafetensorsFile::open(folder / "f");
  EXPECT_EQ(file.entries().size(), tensors.size());
  for (const NamedTensor& tensor : tensors) {
    EXPECT_TRUE(same_tensor(file.tensor(tensor.name), tensor.tensor)) << tensor.name;
  }
}

TEST(Safetensors, AFileWithoutTensorsComesBack) {
  const TempFolder folder;
  write_safetensors(folder / "f", {});
  const auto file = SafetensorsFile::open(folder / "f");
  EXPECT_THAT(file.names(), IsEmpty());
  EXPECT_THAT(file.metadata(), IsEmpty());
}

TEST(Safetensors, MetadataKeepsItsOrder) {
  const TempFolder folder;
  const Metadata metadata{{"z", "1"}, {"a", "line\nbreak \"quoted\" é"}, {"", ""}};
  write_safetensors(folder / "f", {}, metadata);
  const auto file = SafetensorsFile::open(folder / "f");
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_NE(file.find_metadata("z"), nullptr);
  EXPECT_EQ(*file.find_metadata("z"), "1");
  EXPECT_EQ(file.find_metadata("none"), nullptr);
}

TEST(Safetensors, TensorsBorrowTheMappingAndKeepIt) {
  const TempFolder folder;
  const auto tensors = mixed_tensors();
  write_safetensors(folder / "f", tensors);
  Tensor doubles;
  {
    const auto file = SafetensorsFile::open(folder / "f");
    doubles = file.tensor("doubles");
    EXPECT_EQ(doubles.raw(), file.tensor("doubles").raw());
  }
  std::filesystem::remove(folder / "f");
  EXPECT_TRUE(same_tensor(doubles, tensors[1].tensor));
}

TEST(Safetensors, EveryTensorIsWrittenAlignedAndDataBeginsOn64Bytes) {
  const TempFolder folder;
  write_safetensors(folder / "f", mixed_tensors(), {{"k", "v"}});
  const std::string text = read_text_file(folder / "f");
  EXPECT_EQ((8 + load_little_endian<uint64_t>(as_bytes(text), 0)) % 64, 0U);
  const auto file = SafetensorsFile::open(folder / "f");
  EXPECT_THAT(file.names(), ElementsAre("doubles", "empty", "floats", "halves", "bytes"));
  for (const auto& entry : file.entries()) {
    EXPECT_EQ(entry.begin % dtype_bytes(entry.dtype), 0U) << entry.name;
  }
}

TEST(Safetensors, EqualInputGivesEqualBytesInAnyOrder) {
  const TempFolder folder;
  auto tensors = mixed_tensors();
  write_safetensors(folder / "a", tensors);
  std::reverse(tensors.begin(), tensors.end());
  write_safetensors(folder / "b", tensors);
  EXPECT_EQ(read_text_file(folder / "a"), read_text_file(folder / "b"));
}

TEST(Safetensors, UnalignedDataIsCopied) {
  const std::string file =
      safetensors_with(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
                       9);
  for (size_t shift = 0; shift < 8; ++shift) {
    const auto owner = std::make_shared<ShiftedBytes>(file, shift);
    const auto read = SafetensorsFile::parse(owner->bytes(), "test", owner);
    const Tensor floats = read.tensor("f");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(floats.raw()) % 4, 0U);
    EXPECT_THAT(floats.values<float>(), ElementsAre(0, 0));
    EXPECT_THAT(read.tensor("b").values<uint8_t>(), ElementsAre(0));
  }
}

TEST(Safetensors, WithoutAnOwnerTensorsAreCopies) {
  const std::string file =
      safetensors_with(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  const auto begin = reinterpret_cast<const std::byte*>(file.data());
  const Tensor tensor = parse_safetensors(file).tensor("b");
  EXPECT_TRUE(tensor.raw() < begin || tensor.raw() >= begin + file.size());
}

TEST(Safetensors, FindsByName) {
  const TempFolder folder;
  write_safetensors(folder / "f", mixed_tensors());
  const auto file = SafetensorsFile::open(folder / "f");
  ASSERT_NE(file.find("halves"), nullptr);
  EXPECT_EQ(file.find("halves")->dtype, DType::kBF16);
  EXPECT_EQ(file.find("halves")->shape, Shape({5}));
  EXPECT_EQ(file.find("half"), nullptr);
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no tensor 'a\\nb' among its 5",
                         [&] { file.tensor("a\nb"); }));
}

TEST(Safetensors, ReadsAFileOfTheReferenceLibrary) {
  const auto file = SafetensorsFile::open(io_data("reference.safetensors"));
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "np")));
  EXPECT_THAT(file.tensor("floats").values<float>(), ElementsAre(0.5F, -1.5F, 2.25F));
  EXPECT_THAT(file.tensor("flags").values<bool>(), ElementsAre(true, false, true));
  EXPECT_EQ(file.tensor("scalar").values<int64_t>()[0], -7);
  EXPECT_EQ(file.tensor("scalar").rank(), 0);
  EXPECT_EQ(file.tensor("empty").shape(), Shape({0, 3}));
}

TEST(Safetensors, AMissingFileIsNotFound) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no such file",
                         [&] { SafetensorsFile::open(folder / "missing"); }));
}

TEST(Safetensors, RefusesTruncationAtEveryByte) {
  const TempFolder folder;
  write_safetensors(folder / "f", mixed_tensors(), {{"k", "v"}});
  const std::string text = read_text_file(folder / "f");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "test: ", [&] {
      parse_safetensors(std::string_view(text).substr(0, size));
    })) << size;
  }
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "but the file has", [&] { parse_safetensors(text + "x"); }));
}

TEST(Safetensors, RefusesAHeaderLongerThanAllowedOrThanTheFile) {
  for (const uint64_t length : {uint64_t{10'000'000'000}, uint64_t{100'000'001}, UINT64_MAX}) {
    std::string file;
    append_little_endian(file, length);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "more than the 100000000 allowed",
                           [&] { parse_safetensors(file + "{}"); }));
  }
  std::string file;
  append_little_endian(file, uint64_t{100'000'000});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "but only 2 follow",
                         [&] { parse_safetensors(file + "{}"); }));
}

TEST(Safetensors, RefusesAHeaderThatIsNotAJsonObject) {
  EXPECT_TRUE(is_bad_safetensors("does not begin with", ""));
  EXPECT_TRUE(is_bad_safetensors("does not begin with", "[]"));
  EXPECT_TRUE(is_bad_safetensors("does not begin with", " {}"));
  EXPECT_TRUE(is_bad_safetensors("not valid JSON", "{"));
  EXPECT_TRUE(is_bad_safetensors("not valid JSON", "{}x"));
  EXPECT_TRUE(is_bad_safetensors("not valid JSON", std::string_view("{}\0", 3)));
  EXPECT_TRUE(is_bad_safetensors("nested deeper", R"({"a":)" + std::string(10'000, '[')));
  EXPECT_TRUE(is_bad_safetensors("not valid JSON", "{\"\xff\":{}}"));
  EXPECT_NO_THROW(parse_safetensors(safetensors_with("{}   ", 0)));
}

TEST(Safetensors, RefusesDuplicateNames) {
  const std::string_view one = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_NO_THROW(parse_safetensors(safetensors_with(fmt::format("{{{}}}", one), 0)));
  EXPECT_TRUE(is_bad_safetensors("appears twice", fmt::format("{{{},{}}}", one, one)));
}

TEST(Safetensors, RefusesEntriesThatAreNotComplete) {
  EXPECT_TRUE(is_bad_safetensors("should be an object", R"({"a":1})"));
  EXPECT_TRUE(is_bad_safetensors("has no 'dtype'", R"({"a":{"shape":[0],"data_offsets":[0,0]}})"));
  EXPECT_TRUE(is_bad_safetensors("has no 'shape'", R"({"a":{"dtype":"U8","data_offsets":[0,0]}})"));
  EXPECT_TRUE(is_bad_safetensors("has no 'data_offsets'", R"({"a":{"dtype":"U8","shape":[0]}})"));
  EXPECT_TRUE(is_bad_safetensors("dtype should be a string",
                                 R"({"a":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})"));
  EXPECT_TRUE(is_bad_safetensors("shape should be an array",
                                 R"({"a":{"dtype":"U8","shape":0,"data_offsets":[0,0]}})"));
  EXPECT_TRUE(is_bad_safetensors("data_offsets should be an array",
                                 R"({"a":{"dtype":"U8","shape":[0],"data_offsets":"0"}})"));
}

TEST(Safetensors, RefusesTypesThatItDoesNotHaveByName) {
  for (const std::string_view type : {"F8_E4M3", "F8_E5M2", "F4", "C64", "f32", ""}) {
    const std::string header =
        fmt::format(R"({{"a":{{"dtype":"{}","shape":[0],"data_offsets":[0,0]}}}})", type);
    EXPECT_TRUE(safetensors_refuses(ErrorKind::kUnsupported, fmt::format("has the type '{}'", type),
                                    header, 0));
  }
}

TEST(Safetensors, RefusesShapesThatCannotBe) {
  const auto with_shape = [](std::string_view shape) {
    return fmt::format(R"({{"a":{{"dtype":"F32","shape":[{}],"data_offsets":[0,4]}}}})", shape);
  };
  EXPECT_NO_THROW(parse_safetensors(safetensors_with(with_shape("1"), 4)));
  EXPECT_TRUE(is_bad_safetensors("negative size -1", with_shape("-1"), 4));
  EXPECT_TRUE(is_bad_safetensors("negative size -1", with_shape("-1,-1"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole numbers, but one is 1.0", with_shape("1.0"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole numbers, but one is null", with_shape("null"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole numbers", with_shape("18446744073709551617"), 4));
  EXPECT_TRUE(is_bad_safetensors("more elements", with_shape("4294967296,4294967296,4"), 4));
  EXPECT_TRUE(is_bad_safetensors("more elements", with_shape("4611686018427387905"), 4));
  EXPECT_TRUE(is_bad_safetensors("needs 8 bytes but 4 are set aside", with_shape("2"), 4));
  EXPECT_TRUE(is_bad_safetensors("needs 0 bytes but 4", with_shape("0"), 4));
  EXPECT_TRUE(is_bad_safetensors("needs 10000000000 bytes but 4", with_shape("2500000000"), 4));
  std::string many = "-1";
  for (int i = 0; i < 100'000; ++i) many += ",1";
  EXPECT_TRUE(
      is_bad_safetensors("negative size", with_shape(many), 4));  // the message stays one line
}

TEST(Safetensors, RefusesOffsetsOutsideTheFile) {
  const auto with_offsets = [](std::string_view offsets) {
    return fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[{}]}}}})", offsets);
  };
  EXPECT_NO_THROW(parse_safetensors(safetensors_with(with_offsets("0,4"), 4)));
  EXPECT_TRUE(
      is_bad_safetensors("ends at byte 4 of the data but the file has 3", with_offsets("0,4"), 3));
  EXPECT_TRUE(is_bad_safetensors("ends before it", with_offsets("4,0"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole number from 0, but is -4", with_offsets("-4,0"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole number from 0", with_offsets("0,18446744073709551615"), 4));
  EXPECT_TRUE(is_bad_safetensors("whole number from 0", with_offsets("0.0,4"), 4));
  EXPECT_TRUE(is_bad_safetensors("holds 1 numbers", with_offsets("4"), 4));
  EXPECT_TRUE(is_bad_safetensors("holds 3 numbers", with_offsets("0,4,4"), 4));
  EXPECT_TRUE(is_bad_safetensors("ends at byte",
                                 with_offsets("9223372036854775803,9223372036854775807"), 4));
}

std::string two_tensors(std::string_view first, std::string_view second) {
  return fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[{}]}},)"
                     R"("b":{{"dtype":"U8","shape":[4],"data_offsets":[{}]}}}})",
                     first, second);
}

TEST(Safetensors, RefusesOverlappingTensors) {
  EXPECT_NO_THROW(parse_safetensors(safetensors_with(two_tensors("4,8", "0,4"), 8)));
  EXPECT_TRUE(is_bad_safetensors("inside the tensor that ends at 4", two_tensors("0,4", "3,7"), 7));
  EXPECT_TRUE(is_bad_safetensors("inside the tensor", two_tensors("0,4", "0,4"), 4));
}

TEST(Safetensors, RefusesHolesAndDataThatBelongsToNone) {
  EXPECT_TRUE(is_bad_safetensors("leaving a hole from 4", two_tensors("0,4", "5,9"), 9));
  EXPECT_TRUE(is_bad_safetensors("leaving a hole from 0", two_tensors("1,5", "5,9"), 9));
  EXPECT_TRUE(is_bad_safetensors("end at byte 8 of the data but the file has 9",
                                 two_tensors("0,4", "4,8"), 9));
  EXPECT_TRUE(is_bad_safetensors("end at byte 0 of the data but the file has 1", "{}", 1));
}

TEST(Safetensors, RefusesMetadataThatIsNotText) {
  EXPECT_NO_THROW(parse_safetensors(safetensors_with(R"({"__metadata__":{}})", 0)));
  EXPECT_TRUE(is_bad_safetensors("__metadata__ should be an object", R"({"__metadata__":[]})"));
  EXPECT_TRUE(is_bad_safetensors("'a' should be a string", R"({"__metadata__":{"a":1}})"));
  EXPECT_TRUE(is_bad_safetensors("not valid JSON", R"({"__metadata__":{"a":NaN}})"));
  EXPECT_TRUE(is_bad_safetensors("appears twice", R"({"__metadata__":{"a":"1","a":"2"}})"));
}

TEST(Safetensors, RefusesBooleansThatAreNeitherTrueNorFalse) {
  std::string file =
      safetensors_with(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", 3);
  EXPECT_NO_THROW(parse_safetensors(file));
  file.back() = 2;
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "element 2 is 2", [&] { parse_safetensors(file); }));
}

TEST(WriteSafetensors, RefusesNamesThatCannotBeWrittenAndWritesNothing) {
  const TempFolder folder;
  const Tensor tensor({1});
  const auto refused = [&](std::string_view part, const std::vector<NamedTensor>& tensors,
                           const Metadata& metadata = {}) {
    return fails_with(ErrorKind::kInvalidArgument, part,
                      [&] { write_safetensors(folder / "f", tensors, metadata); });
  };
  EXPECT_TRUE(refused("two tensors are called 'a'", {{"a", tensor}, {"b", tensor}, {"a", tensor}}));
  EXPECT_TRUE(refused("cannot be called '__metadata__'", {{"__metadata__", tensor}}));
  EXPECT_TRUE(refused("not valid UTF-8", {{"\xff", tensor}}));
  EXPECT_TRUE(refused("two metadata entries are called 'k'", {}, {{"k", "1"}, {"k", "2"}}));
  EXPECT_TRUE(refused("not valid UTF-8", {}, {{"\xff", "1"}}));
  EXPECT_TRUE(refused("not valid UTF-8", {}, {{"k", "\xff"}}));
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(WriteSafetensors, AFailureLeavesTheOldFile) {
  const TempFolder folder;
  write_safetensors(folder / "f", mixed_tensors());
  const std::string before = read_text_file(folder / "f");
  EXPECT_TRUE(fails_cleanly([&] {
    write_safetensors(folder / "f", std::vector<NamedTensor>{{"\xff", Tensor({1})}});
  }));
  EXPECT_EQ(read_text_file(folder / "f"), before);
  EXPECT_THAT(folder.list(), ElementsAre("f"));
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "cannot be written",
                         [&] { write_safetensors(folder / "no/f", mixed_tensors()); }));
}

}  // namespace
}  // namespace fovea
