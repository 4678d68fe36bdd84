#include "fovea/io/deflate.h"

#include <gmock/gmock.h>

#include <random>

#include "support/inflate.h"

namespace fovea {
namespace {

using support::inflate_raw;

std::string random_bytes(size_t count, unsigned largest) {
  std::mt19937 random(5);
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(random() % (largest + 1));
  return bytes;
}

std::string deflated(std::string_view text) {
  Deflater deflater;
  deflater.add(as_bytes(text));
  return deflater.finish();
}

TEST(Deflate, UnpacksToTheSameBytesAtLengthsAroundItsBuffers) {
  for (const size_t length : {0, 1, 2, 65535, 65536, 65537, 300000}) {
    SCOPED_TRACE(length);
    const std::string bytes = random_bytes(length, 255);
    EXPECT_EQ(inflate_raw(deflated(bytes)), bytes);
  }
}

TEST(Deflate, PartsGiveTheSameTextAsTheWhole) {
  const std::string bytes = random_bytes(200000, 40);
  Deflater deflater;
  for (size_t begin = 0; begin < bytes.size(); begin += 7777) {
    deflater.add({});
    deflater.add(as_bytes(std::string_view(bytes).substr(begin, 7777)));
  }
  EXPECT_EQ(inflate_raw(deflater.finish()), bytes);
}

TEST(Deflate, SmallNumbersAndRunsTakeLittle) {
  // 16 values are 4 bits; the rest is the stream's own.
  EXPECT_LT(deflated(random_bytes(100000, 15)).size(), 52000);
  EXPECT_LT(deflated(std::string(100000, '\0')).size(), 200);
}

}  // namespace
}  // namespace fovea
