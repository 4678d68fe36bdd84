#include "fovea/capture/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using testing::HasSubstr;

TEST(SiteKind, NamesAndAliasesAreThoseOfTheirKindAlone) {
  EXPECT_EQ(site_names().size(), 8);
  for (const SiteName& site : site_names()) {
    EXPECT_EQ(to_string(site.kind), site.name);
    EXPECT_EQ(parse_site_kind(to_string(site.kind)), site.kind) << site.name;
    EXPECT_EQ(parse_site_kind(alias_of(site.kind)), site.kind) << site.alias;
    EXPECT_FALSE(name_of(site.kind).empty());
  }
}

TEST(SiteKind, NamesAreThoseOfExportsAndAliasesThoseThatPeopleType) {
  EXPECT_EQ(to_string(SiteKind::kEncoderSelf), "encoder_self");
  EXPECT_EQ(to_string(SiteKind::kVisionSelf), "vision.self");
  EXPECT_EQ(alias_of(SiteKind::kEncoderSelf), "encoder");
  EXPECT_EQ(alias_of(SiteKind::kVisionSelf), "vision");
  EXPECT_EQ(alias_of(SiteKind::kCross), "cross");
  EXPECT_EQ(name_of(SiteKind::kEncoderSelf), "encoder self-attention");
  EXPECT_EQ(name_of(SiteKind::kPool), "attention pooling");
}

TEST(SiteKind, AnUnknownWordIsToldWhatThereIs) {
  try {
    parse_site_kind("encodr");
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(error.field(), "site");
    for (const SiteName& site : site_names()) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(site.name)));
      EXPECT_THAT(error.what(), HasSubstr(std::string(site.alias)));
    }
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'encoder'?"));
  }
  for (const char* name : {"", "Self", "self.0", "self-attention", "encoder self"}) {
    EXPECT_THROW(parse_site_kind(name), Error) << name;
  }
}

TEST(SiteId, NamesGoBothWays) {
  for (const char* name : {"self.0", "encoder_self.11", "decoder_self.2", "cross.5",
                           "vision.self.3", "text.self.1", "pool.0", "panoptic.0"}) {
    EXPECT_EQ(to_string(parse_site(name)), name);
  }
  // Tensors of a file have one name each: an alias is none.
  for (const char* name : {"", "self", "self.", "self.-1", "self.x", "self.1x", "nowhere.1", ".3",
                           "self.99999999999999999999", "encoder.0", "vision.3"}) {
    EXPECT_THROW(parse_site(name), Error) << name;
  }
}

}  // namespace
}  // namespace fovea
