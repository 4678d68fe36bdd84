#include "fovea/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/io/little_endian.h"
#include "fovea/io/npy_header.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/io/io_test_support.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string npy_with(std::string_view header, size_t data_bytes, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  if (version == 1) {
    append_little_endian(file, static_cast<uint16_t>(header.size()));
  } else {
    append_little_endian(file, static_cast<uint32_t>(header.size()));
  }
  return file.append(header).append(data_bytes, '\0');
}

Tensor parse_npy_text(std::string_view file) {
  return parse_npy(as_bytes(file), "test");
}

testing::AssertionResult is_bad_npy(std::string_view part, std::string_view header,
                                    size_t data_bytes = 0) {
  return fails_with(ErrorKind::kBadFile, part,
                    [&] { parse_npy_text(npy_with(header, data_bytes)); });
}

TEST(Npy, EveryTypeAndShapeComesBack) {
  const TempFolder folder;
  for (const DType dtype : kAllTypes) {
    if (dtype == DType::kBF16) continue;
    for (const Shape& shape : odd_shapes()) {
      SCOPED_TRACE(fmt::format("{} {}", dtype_name(dtype), to_string(shape)));
      const Tensor tensor = sample_tensor(shape, dtype);
      write_npy(folder / "f.npy", tensor);
      EXPECT_TRUE(same_tensor(read_npy(folder / "f.npy"), tensor));
    }
  }
}

TEST(Npy, BorrowsTheMappedFile) {
  const TempFolder folder;
  const Tensor tensor = sample_tensor({5, 3}, DType::kF64);
  write_npy(folder / "f.npy", tensor);
  const Tensor read = read_npy(folder / "f.npy");
  std::filesystem::remove(folder / "f.npy");
  EXPECT_TRUE(same_tensor(read, tensor));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.raw()) % 64, 0U);
}

TEST(Npy, WritesTheHeaderThatNumpyWrites) {
  const std::string header = make_npy_header({3, 4}, DType::kF32, "test");
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  EXPECT_EQ(header.size(), 128U);
  EXPECT_TRUE(header.starts_with(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dict + "  "));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(make_npy_header({5}, DType::kBool, "t").find("'|b1'"), std::string::npos);
  EXPECT_NE(make_npy_header({5}, DType::kBool, "t").find("(5,), }"), std::string::npos);
  EXPECT_NE(make_npy_header({}, DType::kU8, "t").find("'shape': (), }"), std::string::npos);
}

TEST(Npy, AVeryLongHeaderIsVersion2AndComesBack) {
  const TempFolder folder;
  const Tensor tensor = sample_tensor(Shape(std::vector<int64_t>(30'000, 1)), DType::kF32);
  write_npy(folder / "f.npy", tensor);
  EXPECT_EQ(read_text_file(folder / "f.npy")[6], 2);
  EXPECT_TRUE(same_tensor(read_npy(folder / "f.npy"), tensor));
}

TEST(Npy, RefusesToWriteBF16AndSaysWhatToDo) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "cannot hold BF16; convert it to F32",
                         [&] { write_npy(folder / "f.npy", Tensor({2}, DType::kBF16)); }));
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(Npy, ReadsAllVersions) {
  const std::string_view header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n";
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(parse_npy_text(npy_with(header, 8, version)).shape(), Shape({2})) << version;
  }
  for (const int version : {0, 4, 255}) {
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "npy version",
                           [&] { parse_npy_text(npy_with(header, 8, version)); }));
  }
  std::string minor = npy_with(header, 8);
  minor[7] = 1;
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "version 1.1", [&] { parse_npy_text(minor); }));
}

TEST(Npy, ReadsTheLiteralsThatPythonAllows) {
  for (const std::string_view header :
       {"{'descr':'<i4','fortran_order':False,'shape':(2,3)}",
        "{\"shape\": (2, 3,), \"descr\": \"=i4\", \"fortran_order\": False}",
        " {\t'descr': '<i4' ,'shape': ( 2L , 3L ) , 'fortran_order': False , } \n"}) {
    SCOPED_TRACE(header);
    const Tensor tensor = parse_npy_text(npy_with(header, 24));
    EXPECT_EQ(tensor.shape(), Shape({2, 3}));
    EXPECT_EQ(tensor.dtype(), DType::kI32);
  }
}

TEST(Npy, FortranOrderIsTransposed) {
  std::string file = npy_with("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 0);
  file += std::string("\x01\x02\x03\x04\x05\x06");  // columns (1 2), (3 4), (5 6)
  EXPECT_THAT(parse_npy_text(file).values<uint8_t>(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, FortranOrderOfEveryTypeAndShape) {
  for (const DType dtype : {DType::kBool, DType::kI16, DType::kF32, DType::kF64}) {
    const std::string_view code = dtype == DType::kBool  ? "|b1"
                                  : dtype == DType::kI16 ? "<i2"
                                  : dtype == DType::kF32 ? "<f4"
                                                         : "<f8";
    for (const Shape& shape : odd_shapes()) {
      SCOPED_TRACE(fmt::format("{} {}", code, to_string(shape)));
      const Tensor expected = sample_tensor(shape, dtype);
      // The element at a C-order index goes to the place that the reversed strides give.
      std::string data(expected.bytes(), '\0');
      const size_t width = dtype_bytes(dtype);
      for (int64_t i = 0; i < expected.elements(); ++i) {
        int64_t rest = i;
        int64_t stride = expected.elements();
        int64_t place = 0;
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
          stride /= shape[axis];
          place += rest % shape[axis] * stride;
          rest /= shape[axis];
        }
        std::memcpy(data.data() + static_cast<size_t>(place) * width,
                    expected.raw() + static_cast<size_t>(i) * width, width);
      }
      std::string sizes;
      for (const int64_t size : shape.sizes()) sizes += fmt::format("{},", size);
      const std::string header =
          fmt::format("{{'descr': '{}', 'fortran_order': True, 'shape': ({}), }}", code, sizes);
      EXPECT_TRUE(same_tensor(parse_npy_text(npy_with(header, 0) + data), expected));
    }
  }
}

TEST(Npy, UnalignedDataIsCopied) {
  const TempFolder folder;
  const Tensor tensor = sample_tensor({3}, DType::kF64);
  write_npy(folder / "f.npy", tensor);
  const std::string text = read_text_file(folder / "f.npy");
  for (size_t shift = 0; shift < 8; ++shift) {
    const auto owner = std::make_shared<ShiftedBytes>(text, shift);
    const Tensor read = parse_npy(owner->bytes(), "test", owner);
    EXPECT_TRUE(same_tensor(read, tensor)) << shift;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read.raw()) % 8, 0U);
  }
}

TEST(Npy, ReadsFilesOfNumpy) {
  EXPECT_THAT(read_npy(io_data("float32.npy")).values<float>(), ElementsAre(0.5F, -1.5F, 2.25F));
  const Tensor fortran = read_npy(io_data("fortran.npy"));
  EXPECT_EQ(fortran.shape(), Shape({2, 3}));
  EXPECT_THAT(fortran.values<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(read_npy(io_data("scalar.npy")).values<int64_t>()[0], -7);
}

TEST(Npy, RefusesTruncationAtEveryByte) {
  const TempFolder folder;
  write_npy(folder / "f.npy", sample_tensor({3, 2}, DType::kF32));
  const std::string text = read_text_file(folder / "f.npy");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "test: ", [&] {
      parse_npy_text(std::string_view(text).substr(0, size));
    })) << size;
  }
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "save one array per file",
                         [&] { parse_npy_text(text + "x"); }));
}

TEST(Npy, RefusesOtherFormats) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "does not begin",
                         [] { parse_npy_text("PK\x03\x04......"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "does not begin", [] { parse_npy_text(""); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "does not begin",
                         [&] { read_npy(io_data("reference.safetensors")); }));
}

TEST(Npy, RefusesAHeaderLongerThanTheFileOrSensible) {
  std::string file("\x93NUMPY\x02\x00", 8);
  append_little_endian(file, uint32_t{4'000'000'000});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "4000000000 bytes but 0 follow",
                         [&] { parse_npy_text(file); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "at most 1000000",
                         [] { parse_npy_text(npy_with(std::string(1'000'001, ' '), 0, 2)); }));
}

TEST(Npy, RefusesHeadersThatAreNotNumpysDict) {
  EXPECT_TRUE(is_bad_npy("should have '{'", ""));
  EXPECT_TRUE(is_bad_npy("should have '{'", "[]"));
  EXPECT_TRUE(is_bad_npy("has no 'descr'", "{}"));
  EXPECT_TRUE(is_bad_npy("has no 'shape'", "{'descr': '<f4', 'fortran_order': False}"));
  EXPECT_TRUE(is_bad_npy("has no 'fortran_order'", "{'descr': '<f4', 'shape': (0,)}"));
  const std::string_view good = "'descr': '<f4', 'fortran_order': False, 'shape': (0,)";
  EXPECT_NO_THROW(parse_npy_text(npy_with(fmt::format("{{{}}}", good), 0)));
  EXPECT_TRUE(
      is_bad_npy("'extra' twice or does not know", fmt::format("{{{}, 'extra': 1}}", good)));
  EXPECT_TRUE(is_bad_npy("'descr' twice", fmt::format("{{{}, 'descr': '<f4'}}", good)));
  EXPECT_TRUE(is_bad_npy("should have nothing more", fmt::format("{{{}}} x", good)));
  EXPECT_TRUE(is_bad_npy("should have nothing more", fmt::format("{{{}}}{{}}", good)));
  EXPECT_TRUE(is_bad_npy("should have '}'", fmt::format("{{{}", good)));
  EXPECT_TRUE(is_bad_npy("should have a string", fmt::format("{{{},,}}", good)));
  EXPECT_TRUE(is_bad_npy("should have a string", "{,}"));
  EXPECT_TRUE(is_bad_npy("should have a string", "{1: 2}"));
  EXPECT_TRUE(is_bad_npy("should have ':'", "{'descr' '<f4'}"));
  EXPECT_TRUE(is_bad_npy("a string that ends", "{'descr': '<f4"));
  EXPECT_TRUE(is_bad_npy("a plain string", "{'des\\x63r': '<f4'}"));
  EXPECT_TRUE(is_bad_npy("a plain string", "{'descr\n': '<f4'}"));
  EXPECT_TRUE(is_bad_npy("True or False", "{'fortran_order': 0}"));
  EXPECT_TRUE(is_bad_npy("True or False", "{'fortran_order': true}"));
  EXPECT_TRUE(is_bad_npy("should have a string", "{'descr': __import__('os')}"));
  EXPECT_TRUE(is_bad_npy("should have '{'", std::string(60'000, '(')));
}

testing::AssertionResult refuses_shape(std::string_view part, std::string_view shape,
                                       size_t data_bytes = 4) {
  return is_bad_npy(part,
                    fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}}}", shape),
                    data_bytes);
}

TEST(Npy, RefusesShapesThatCannotBe) {
  EXPECT_TRUE(refuses_shape("not negative", "(-1,)"));
  EXPECT_TRUE(refuses_shape("a tuple like (3,)", "(1)"));
  EXPECT_TRUE(refuses_shape("should have '('", "1"));
  EXPECT_TRUE(refuses_shape("should have '('", "[1]"));
  EXPECT_TRUE(refuses_shape("a size", "(1, , 1)"));
  EXPECT_TRUE(refuses_shape("a size", "(,)"));
  EXPECT_TRUE(refuses_shape("','", "(1 1)"));
  EXPECT_TRUE(refuses_shape("','", "(1.0,)"));
  EXPECT_TRUE(refuses_shape("','", "(0x1,)"));
  EXPECT_TRUE(refuses_shape("leading zeros", "(01,)"));
  EXPECT_TRUE(refuses_shape("a size", "((1,),)"));
  EXPECT_TRUE(refuses_shape("','", "(1"));
  EXPECT_TRUE(refuses_shape("below 2^63", "(9223372036854775808,)"));
  EXPECT_TRUE(refuses_shape("below 2^63", "(99999999999999999999999999,)"));
  EXPECT_TRUE(refuses_shape("more elements", "(4294967296, 4294967296)"));
  EXPECT_TRUE(refuses_shape("needs 10000000000 bytes but 4", "(2500000000,)"));
  EXPECT_TRUE(refuses_shape("needs 8 bytes but 4", "(2,)"));
  EXPECT_TRUE(refuses_shape("needs 0 bytes but 4", "(0,)"));
}

TEST(Npy, RefusesElementTypesThatItDoesNotReadByName) {
  const auto refused = [](ErrorKind kind, std::string_view part, std::string_view descr) {
    const std::string header =
        fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (0,)}}", descr);
    return fails_with(kind, part, [&] { parse_npy_text(npy_with(header, 0)); });
  };
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "big-endian", "'>f4'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "Python objects", "'|O'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "strings", "'<U5'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "strings", "'|S3'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "raw records", "'|V2'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "complex", "'<c8'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "dates", "'<M8[ns]'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "'<f16'", "'<f16'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "records with fields", "[('a', '<f4')]"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "records with fields", "('<f4', (2,))"));
  EXPECT_TRUE(refused(ErrorKind::kBadFile, "a byte order and a type", "'f4'"));
  EXPECT_TRUE(refused(ErrorKind::kBadFile, "a byte order and a type", "''"));
  EXPECT_TRUE(refused(ErrorKind::kBadFile, "a byte order and a type", "'<'"));
  EXPECT_TRUE(refused(ErrorKind::kUnsupported, "unknown here", "'<\xff'"));
}

TEST(Npy, RefusesBooleansThatAreNeitherTrueNorFalse) {
  std::string file = npy_with("{'descr': '|b1', 'fortran_order': True, 'shape': (2,), }", 2);
  EXPECT_NO_THROW(parse_npy_text(file));
  file.back() = '\xff';
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "element 1 is 255", [&] { parse_npy_text(file); }));
}

}  // namespace
}  // namespace fovea
