#include "fovea/io/gzip.h"

#include <gtest/gtest.h>

#include "fovea/io/crc32.h"
#include "support/errors.h"

namespace fovea {
namespace {

TEST(Gzip, WhatIsPackedComesBack) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{200'000}}) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i * i % 251));
    const std::string packed = gzipped(as_bytes(bytes));
    EXPECT_EQ(gunzipped(as_bytes(packed)), bytes);
    EXPECT_TRUE(packed.starts_with("\x1f\x8b"));
  }
}

TEST(Gzip, DamagedAndTooLargeOnesAreRefused) {
  const std::string packed = gzipped(as_bytes(std::string(100'000, 'a')));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no whole gzip",
                         [&] { gunzipped(as_bytes(packed.substr(0, packed.size() - 1))); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no whole gzip",
                         [&] { gunzipped(as_bytes("not gzip at all")); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "at most 1000", [&] { gunzipped(as_bytes(packed), 1000); }));
}

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(crc32_of(as_bytes("123456789")), 0xcbf43926U);
}

}  // namespace
}  // namespace fovea
