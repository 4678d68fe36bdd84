#include "fovea/base/error.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace fovea {
namespace {

TEST(Error, CarriesItsKindAndFormattedMessage) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "7 rows but 8 wanted",
                         [] { fail(ErrorKind::kBadFile, "{} rows but {} wanted", 7, 8); }));
}

TEST(Error, IsOneLineWhateverNameItQuotes) {
  const Error error(ErrorKind::kBadFile, "tensor 'a\nb\r\x1b[2J\xff\u2028' is bad");
  EXPECT_STREQ(error.what(), "tensor 'a\\nb\\x0d\\x1b[2J\uFFFD\\u2028' is bad");
}

TEST(Error, AnAssertionThatFailsIsAnInternalError) {
  EXPECT_TRUE(fails_with(ErrorKind::kInternal, "'1 < 0' does not hold",
                         [] { assertion_failed("1 < 0", "some.cc", 3); }));
}

}  // namespace
}  // namespace fovea
