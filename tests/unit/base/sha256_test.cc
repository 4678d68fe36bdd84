#include "fovea/base/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace fovea {
namespace {

// The examples of FIPS 180-4.
constexpr std::string_view kTwoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

TEST(Sha256, GivesTheChecksumsOfTheStandard) {
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(as_bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(as_bytes(kTwoBlocks)),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
  const std::string text(1'000'000, 'a');
  for (const size_t part : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{999'999}}) {
    Hasher hasher = Hasher::sha256();
    for (size_t i = 0; i < text.size(); i += part) {
      hasher.update(as_bytes(std::string_view(text).substr(i, part)));
    }
    EXPECT_EQ(hasher.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        << part;
  }
}

TEST(Sha1, NamesABlobAsGitDoes) {
  Hasher hasher = Hasher::sha1();
  hasher.update(as_bytes(std::string_view("blob 6\0", 7)));
  hasher.update(as_bytes("hello\n"));
  EXPECT_EQ(hasher.hex(), "ce013625030ba8dba906f756967f9e9ca394464a");  // git hash-object
}

}  // namespace
}  // namespace fovea
