#include "fovea/render/page.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/webfiles/viewer.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using support::text_run;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

std::string page_of(const Run& run, const PageOptions& options = {}) {
  const std::filesystem::path path = temporary("page_of.html");
  write_page(path, run, options);
  std::string text = read_text_file(path);
  std::filesystem::remove(path);
  return text;
}

Json header_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"fovea-page\">";
  const size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at), "the page");
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, IsOneFileThatAsksForNothing) {
  const std::string page = page_of(text_run({"[CLS]", "chas|ing", "it", "[SEP]"}, 3, false, 2));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_EQ(count_of(page, "<script type=\"application/octet-stream;base64\" id=\"fovea-map-"), 6);
  // Whatever could load something: addresses, imports, sources of elements.
  for (const char* loader :
       {"http://", "https://", "@import", "url(", "<img", "<iframe", "<object"})
    EXPECT_EQ(count_of(page, loader), 0) << loader;
  EXPECT_EQ(count_of(page, " src="), 0);
  EXPECT_EQ(count_of(page, " href="), 1);
  EXPECT_THAT(page, HasSubstr("<link rel=\"icon\" href=\"data:,\">"));
}

TEST(Page, SaysWhatItHoldsAndHow) {
  const Json header = header_of(page_of(text_run({"[CLS]", "chas|ing", "it"}, 2, true, 2)));
  const std::string where = "header";
  EXPECT_EQ(header.at("title", where).as_string(where), "tiny · self-attention");
  EXPECT_EQ(header.at("modelHash", where).as_string(where), "0123456789abcdef");
  EXPECT_THAT(header.at("encoding", where).at("map", where).as_string(where),
              HasSubstr("weight = code / levels"));
  const Json::Array& sites = header.at("sites", where).as_array(where);
  ASSERT_EQ(sites.size(), 2);
  EXPECT_EQ(sites[1].at("site", where).as_string(where), "self.1");
  EXPECT_EQ(sites[1].at("heads", where).dump(), "[0,1]");
  EXPECT_EQ(header.at("masks", where).dump(), R"([{"offset":0,"behind":null,"ahead":0}])");
  const Json& axis = header.at("axes", where).as_array(where)[0];
  EXPECT_EQ(axis.at("labels", where).dump(), R"(["[CLS]","chas","‿ing","it"])");
  EXPECT_EQ(axis.at("names", where).dump(), R"(["[CLS]","chas","ing","it"])");
  EXPECT_EQ(axis.at("special", where).dump(), "[0]");
  EXPECT_EQ(axis.at("read", where).dump(),
            R"([["","[CLS]",1],["","chas",0],["","ing",0],[" ","it",0]])");
}

TEST(Page, HostileTokensStayText) {
  fovea::Run run = text_run({"a", "b"}, 1);
  run.axes[0].positions[0].text = "</script><script>alert(1)</script>";
  run.model = "<img src=x>\"&";
  const std::string page = page_of(run);
  EXPECT_EQ(count_of(page, "<script>alert"), 0);
  EXPECT_EQ(count_of(page, "<img"), 0);
  EXPECT_THAT(page, HasSubstr("&lt;img"));
  const Json header = header_of(page);
  EXPECT_EQ(
      header.at("axes", "h").as_array("h")[0].at("labels", "h").as_array("h")[0].as_string("h"),
      "</script><script>alert(1)</script>");
}

TEST(Page, BytesAreTheSameEveryTime) {
  const fovea::Run run = text_run({"one", "two", "three"}, 4, true, 3);
  EXPECT_EQ(page_of(run), page_of(run));
}

TEST(Page, ChoiceOfLayerAndHeadRestrictsWhatItHolds) {
  const fovea::Run run = text_run({"one", "two", "three"}, 4, false, 3);
  const std::string one =
      page_of(run, {.choice = {.layer = 1, .head = {HeadChoice::Kind::kOne, 2}}});
  EXPECT_EQ(count_of(one, "id=\"fovea-map-"), 1);
  EXPECT_THAT(one, HasSubstr("id=\"fovea-map-0-2\""));
  EXPECT_EQ(
      count_of(page_of(run, {.choice = {.head = {HeadChoice::Kind::kOne, 2}}}), "id=\"fovea-map-"),
      3);
  EXPECT_EQ(count_of(page_of(run, {.choice = {.layer = 1}}), "id=\"fovea-map-"), 4);
  EXPECT_THROW(page_of(run, {.choice = {.layer = 9}}), Error);
  EXPECT_THROW(page_of(run, {.choice = {.head = {HeadChoice::Kind::kOne, 4}}}), Error);
  EXPECT_THROW(page_of(run, {.choice = {.kind = SiteKind::kCross}}), Error);
}

TEST(Page, OpensWhereTheChoiceSays) {
  const fovea::Run run = text_run({"one", "two", "three"}, 4, false, 3);
  PageOptions options{.view = "read", .colors = "turbo", .title = "My title"};
  options.choice.head.kind = HeadChoice::Kind::kMean;
  options.choice.token = "two";
  options.choice.column = true;
  const Json header = header_of(page_of(run, options));
  EXPECT_EQ(header.at("start", "h").dump(),
            R"({"site":2,"head":"mean","view":"read","colors":"turbo","token":1,"column":true})");
  EXPECT_EQ(header.at("title", "h").as_string("h"), "My title");
  EXPECT_NE(header.at("colors", "h").find("turbo"), nullptr);
  options.choice.token = "four";
  EXPECT_THROW(page_of(run, options), Error);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"words"}, "a page shows every token",
                         [&] { page_of(run, {.choice = {.words = true}}); }));
  EXPECT_THAT(message_of([&] { page_of(run, {.view = "lines"}); }), HasSubstr("lines"));
}

TEST(Page, OpensWithTheColoursThatAreAsked) {
  const fovea::Run run = text_run({"one", "two", "three"}, 2);
  const auto start = [&](const ViewChoice& choice) {
    return header_of(page_of(run, {.choice = choice})).at("start", "h").dump();
  };
  EXPECT_THAT(start({.of = MapValue::kTimesEven, .curve = ScaleCurve::kSqrt}),
              HasSubstr(R"("column":false,"of":"times-even","scale":"sqrt"})"));
  EXPECT_THAT(start({.of = MapValue::kWeight, .range = parse_range("0.1:0.5")}),
              HasSubstr(R"("of":"weight","range":[0.1,0.5]})"));
  EXPECT_THAT(start({.curve = ScaleCurve::kLog, .range = parse_range("1%:99.5%")}),
              HasSubstr(R"("scale":"log","range":["1%","99.5%"]})"));
  for (const MapValue of : {MapValue::kScore, MapValue::kValueWeighted}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"of"}, "a page keeps weights",
                           [&] { start({.of = of}); }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"range"}, "above 0",
                         [&] { start({.curve = ScaleCurve::kLog, .range = parse_range("0:1")}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"range"}, "must rise",
                         [&] { start({.range = parse_range("2:1")}); }));
}

TEST(Page, EstimateIsNotMuchAboveTheFile) {
  // Exponential weights are the worst case; normal scores of spread 1 come near it.
  const std::vector<std::string> words(200, "word");
  const fovea::Run run = text_run(words, 6, false, 4);
  const uint64_t size = page_of(run).size();
  const uint64_t estimate = page_bytes_estimate(run);
  EXPECT_GE(estimate, size);
  EXPECT_LE(estimate, 3 * size);
}

// Large enough to be refused; its weights are never computed.
Run large_run(int64_t tokens, int64_t heads) {
  fovea::Run run = text_run({"a"}, 1);
  run.axes[0].positions.resize(static_cast<size_t>(tokens), {.text = "a"});
  AttentionRecord record;
  record.queries = Tensor(Shape{heads, tokens, 1});
  record.keys = Tensor(Shape{heads, tokens, 1});
  record.lse = Tensor(Shape{heads, tokens}, DType::kF64);
  run.records = {std::make_shared<const AttentionRecord>(record)};
  return run;
}

TEST(Page, TooManyMapsAreRefusedWithTheirSizeAndWhatToDo) {
  const std::filesystem::path path = temporary("large.html");
  const std::string message = message_of([&] { write_page(path, large_run(4096, 12)); });
  EXPECT_THAT(message, AllOf(HasSubstr("12 maps of 4096 x 4096"), HasSubstr("MB but at most 64 MB"),
                             HasSubstr("choose one")));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"layer"}, "12 maps",
                         [&] { write_page(path, large_run(4096, 12)); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"head"}, "12 maps",
                         [&] { write_page(path, large_run(4096, 12), {.choice = {.layer = 0}}); }));
  EXPECT_FALSE(std::filesystem::exists(path));
  const PageOptions one{.choice = {.layer = 0, .head = {HeadChoice::Kind::kOne, 3}}};
  EXPECT_LT(page_bytes_estimate(large_run(4096, 12), one), kMostPageBytes);
  EXPECT_THAT(message_of([&] { write_page(path, large_run(16384, 1), one); }),
              Not(HasSubstr("no error")));
}

TEST(Page, FailedWriteLeavesWhatWasThere) {
  const fovea::Run run = text_run({"one", "two"}, 1);
  EXPECT_THROW(write_page(temporary("no/such/folder/page.html"), run), Error);
  const std::filesystem::path path = temporary("kept.html");
  write_file_atomic(path, [](FileWriter& file) { file.write("before"); });
  EXPECT_THROW(write_page(path, run, {.choice = {.layer = 5}}), Error);
  EXPECT_EQ(read_text_file(path), "before");
  std::filesystem::remove(path);
}

TEST(Page, KnowsItsSuffix) {
  EXPECT_TRUE(is_page_suffix("a/b.html"));
  EXPECT_TRUE(is_page_suffix("B.HTM"));
  EXPECT_FALSE(is_page_suffix("b.html.png"));
}

TEST(Viewer, IsSmallAndCanStandInAPage) {
  EXPECT_LT(viewer_script().size() + viewer_style().size(), 80'000);
  EXPECT_GT(viewer_script().size(), 10'000);
  EXPECT_THAT(std::string(viewer_script()), Not(HasSubstr("</script")));
  EXPECT_THAT(std::string(viewer_style()), Not(HasSubstr("</style")));
}

}  // namespace
}  // namespace fovea
