#include "fovea/render/page_codec.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "fovea/base/json.h"
#include "fovea/capture/words.h"
#include "fovea/figure/caption.h"
#include "fovea/render/color_bar.h"
#include "support/data.h"
#include "support/inflate.h"
#include "support/page_golden.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::dense_attention;
using support::plain_case;

// A map as the viewer has it; -1 where the mask forbids.
struct Decoded {
  std::vector<int> codes;
  std::vector<float> row_sums;
  std::vector<float> col_sums;
};

// Straight from docs/html-page.md.
Decoded decode_map(std::string_view packed, const Mask& mask, int64_t rows, int64_t cols) {
  const std::string bytes = support::inflate_raw(packed);
  Decoded map;
  size_t at = 0;
  const auto next = [&] { return static_cast<int>(static_cast<unsigned char>(bytes.at(at++))); };
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      int code = -1;
      if (mask.allows(row, col)) {
        code = next();
        if (code == 255) {
          const int low = next();
          code = low + 256 * next();
        }
      }
      map.codes.push_back(code);
    }
  }
  map.row_sums.resize(static_cast<size_t>(rows));
  map.col_sums.resize(static_cast<size_t>(cols));
  EXPECT_EQ(bytes.size() - at, 4 * static_cast<size_t>(rows + cols));
  std::memcpy(map.row_sums.data(), bytes.data() + at, 4 * map.row_sums.size());
  std::memcpy(map.col_sums.data(), bytes.data() + at + 4 * map.row_sums.size(),
              4 * map.col_sums.size());
  return map;
}

AttentionCase with_mask(AttentionCase c, Mask mask) {
  c.rule.mask = std::move(mask);
  return c;
}

AttentionCase peaked_case() {
  AttentionCase c = plain_case(40, 16, false, 3);
  c.rule.scale = 8;  // rows with one weight near 1
  return c;
}

std::vector<AttentionCase> all_cases() {
  Mask padded{.key_valid = std::vector<uint8_t>(21, 1)};
  padded.key_valid[4] = padded.key_valid[20] = 0;
  Mask windows;
  for (int i = 0; i < 21; ++i) windows.query_group.push_back(i / 6);
  windows.key_group = windows.query_group;
  std::vector<AttentionCase> cases = {
      plain_case(1, 8, false, 1),
      plain_case(21, 8, false, 2),
      plain_case(70, 8, true, 4),
      peaked_case(),
      with_mask(plain_case(21, 8, false, 5), padded),
      with_mask(plain_case(21, 8, false, 6), windows),
      with_mask(plain_case(21, 8, false, 7), Mask{.query_offset = 2, .behind = 3, .ahead = 0})};
  const char* names[] = {"one cell", "plain", "causal", "peaked", "padded", "windows", "sliding"};
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = names[i];
  return cases;
}

EncodedMap encoded(const AttentionCase& c, int64_t levels) {
  return encode_map(AttentionMap(support::shared_record_of(c), 0), levels);
}

TEST(PageCodec, EveryValueIsWithinHalfAStepOfTheExactOne) {
  for (const AttentionCase& c : all_cases()) {
    const std::vector<double> exact = dense_attention(c).weights[0];
    for (const int64_t levels : {1000, 1920, 65000}) {
      SCOPED_TRACE(c.name + " " + std::to_string(levels));
      const Decoded map =
          decode_map(encoded(c, levels).packed, c.rule.mask, c.shape.rows, c.shape.cols);
      for (size_t i = 0; i < exact.size(); ++i) {
        if (map.codes[i] < 0) {
          EXPECT_EQ(exact[i], 0);
          continue;
        }
        // 2e-6: the map itself is computed in f32.
        const auto steps = static_cast<double>(levels);
        EXPECT_NEAR(map.codes[i] / steps, exact[i], 0.5 / steps + 2e-6);
      }
    }
  }
}

TEST(PageCodec, SumsAreThoseOfTheExactWeightsNotOfTheSteps) {
  for (const AttentionCase& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const std::vector<double> exact = dense_attention(c).weights[0];
    const Decoded map =
        decode_map(encoded(c, 1000).packed, c.rule.mask, c.shape.rows, c.shape.cols);
    const auto cols = static_cast<size_t>(c.shape.cols);
    for (size_t col = 0; col < cols; ++col) {
      double sum = 0;
      for (size_t i = col; i < exact.size(); i += cols) sum += exact[i];
      EXPECT_NEAR(map.col_sums[col], sum, 0.6e-4);  // rounded to 4 decimals
    }
    for (size_t row = 0; row < map.row_sums.size(); ++row) {
      double sum = 0;
      for (size_t col = 0; col < cols; ++col) sum += exact[row * cols + col];
      EXPECT_NEAR(map.row_sums[row], sum, 0.6e-4);
    }
  }
}

TEST(PageCodec, ThumbnailsHoldTheShareOfEachBlock) {
  const AttentionCase c = plain_case(70, 8, true, 4);
  const std::vector<double> exact = dense_attention(c).weights[0];
  const EncodedMap map = encoded(c, 1000);
  constexpr size_t kBlock = 3, kSide = 24;  // ceil(70 / 32), ceil(70 / 3)
  ASSERT_EQ(thumbnail_block(70), static_cast<int64_t>(kBlock));
  ASSERT_EQ(map.thumbnail.size(), kSide * kSide);
  for (size_t i = 0; i < kSide * kSide; ++i) {
    const size_t first = i / kSide * kBlock, last = std::min<size_t>(70, first + kBlock);
    double sum = 0;
    for (size_t row = first; row < last; ++row)
      for (size_t col = i % kSide * kBlock; col <= std::min(row, i % kSide * kBlock + kBlock - 1);
           ++col)
        sum += exact[row * 70 + col];
    if (i % kSide > i / kSide) {
      EXPECT_EQ(map.thumbnail[i], kThumbnailForbidden);
    } else {
      const double share = sum / static_cast<double>(last - first);
      // The map itself is computed in f32.
      EXPECT_NEAR(map.thumbnail[i], 65534 * std::sqrt(share), 0.6);
    }
  }
  EXPECT_NEAR(map.largest, *std::ranges::max_element(exact), 2e-6);
}

TEST(PageCodec, LevelsAreFineOnSmallPagesAndNeverCoarserThanHalfAThousandth) {
  EXPECT_EQ(page_levels(20, 20 * 20 * 72), 65000);
  EXPECT_EQ(page_levels(384, int64_t{144} * 384 * 384), 1920);
  EXPECT_EQ(page_levels(4096, int64_t{4096} * 4096), 20480);
  for (int64_t cols = 1; cols < 300'000; cols = cols * 3 / 2 + 1) {
    for (int64_t cells = 1; cells < int64_t{1} << 40; cells *= 8) {
      const int64_t levels = page_levels(cols, cells);
      EXPECT_GE(levels, 1000);
      EXPECT_LE(levels, 65000);  // codes from 65534 on mean something else in the viewer
    }
  }
}

TEST(PageCodec, AllowedCellsAreCountedAsTheMaskSaysThem) {
  for (const AttentionCase& c : all_cases()) {
    SCOPED_TRACE(c.name);
    int64_t count = 0;
    for (int64_t i = 0; i < c.shape.rows * c.shape.cols; ++i)
      count += c.rule.mask.allows(i / c.shape.cols, i % c.shape.cols);
    EXPECT_EQ(allowed_cells(c.rule.mask, c.shape.rows, c.shape.cols), count);
  }
}

TEST(PageCodec, Base64IsTheUsualOne) {
  EXPECT_EQ(to_base64({}), "");
  EXPECT_EQ(to_base64(as_bytes("f")), "Zg==");
  EXPECT_EQ(to_base64(as_bytes("fo")), "Zm8=");
  EXPECT_EQ(to_base64(as_bytes("foo")), "Zm9v");
  EXPECT_EQ(to_base64(as_bytes("\xfb\xff\xfe")), "+//+");
}

// Vectors that web/src/core is held against too.
std::filesystem::path golden_path() {
  return test_data("page/core.json");
}

Json doubles(std::span<const float> values) {
  Json json = Json::array();
  for (const float value : values) json.push_back(double{value});
  return json;
}

Json golden_maps() {
  Json maps = Json::array();
  for (const AttentionCase& c : all_cases()) {
    for (const int64_t levels : {1000, 65000}) {
      const EncodedMap map = encoded(c, levels);
      const Decoded decoded = decode_map(map.packed, c.rule.mask, c.shape.rows, c.shape.cols);
      Json json = Json::object();
      json.set("name", c.name);
      json.set("rows", c.shape.rows);
      json.set("cols", c.shape.cols);
      json.set("levels", levels);
      json.set("mask", support::mask_json(c.rule.mask));
      json.set("packed", to_base64(as_bytes(map.packed)));
      json.set("codes", Json::array_of(decoded.codes));
      json.set("rowSums", doubles(decoded.row_sums));
      json.set("colSums", doubles(decoded.col_sums));
      json.set("thumbnail",
               Json::array_of(std::vector<int>(map.thumbnail.begin(), map.thumbnail.end())));
      maps.push_back(std::move(json));
    }
  }
  return maps;
}

Json golden_colors() {
  Json colors = Json::array();
  for (const char* name : {"inferno", "cividis", "viridis", "paper"}) {
    std::string table;
    for (const Rgb color : color_map(name).table()) {
      for (const uint8_t channel : {color.red, color.green, color.blue})
        table += static_cast<char>(channel);
    }
    Json json = Json::object();
    json.set("name", name);
    json.set("table", to_base64(as_bytes(table)));
    json.set("levels", 1920);
    json.set("high", 0.7);
    Json entries = Json::array();
    const ColorAxis axis(color_map(name), {0, 0.7});
    for (int code = 0; code <= 1920; code += 40) {
      const Rgb color = axis.at(code / 1920.0);
      entries.push_back(Json::array_of(std::vector<int>{code, color.red, color.green, color.blue}));
    }
    json.set("entries", std::move(entries));
    colors.push_back(std::move(json));
  }
  return colors;
}

Json golden_captions() {
  const Axis axis{
      .name = "tokens", .source = "", .positions = {{.text = "·the"}, {.text = "·cat"}}};
  const std::vector<double> even = {1, 1.0001};
  const std::vector<double> uneven = {0.42, 1};
  const HeadChoice one{HeadChoice::Kind::kOne, 7};
  const HeadChoice mean{HeadChoice::Kind::kMean, 0};
  const auto place = [](HeadChoice head) { return "layer 3, " + heads_text(head, 12); };
  Json json = Json::object();
  json.set("matrix", matrix_caption(place(one), even));
  json.set("matrixMean", matrix_caption(place(mean), uneven));
  json.set("name", plain_label(axis, 1));
  json.set("row", token_caption(token_text(axis, 1, false), place(one), std::vector<double>{1}));
  json.set("column",
           token_caption(token_text(axis, 1, true), place(mean), std::vector<double>{2.314}));
  return json;
}

TEST(PageCodec, GoldenVectorsAreWhatThisProgramWrites) {
  Json made = Json::object();
  made.set("maps", golden_maps());
  made.set("colors", golden_colors());
  made.set("captions", golden_captions());
  support::update_golden(golden_path(), made);
  const std::string where = golden_path().string();
  const Json stored = Json::parse(read_text_file(golden_path()), where);
  EXPECT_EQ(stored.at("captions", where).dump(), made.at("captions", where).dump());
  EXPECT_EQ(stored.at("colors", where).dump(), made.at("colors", where).dump());
  const Json::Array& maps = stored.at("maps", where).as_array(where);
  const Json::Array& fresh = made.at("maps", where).as_array(where);
  ASSERT_EQ(maps.size(), fresh.size());
  for (size_t m = 0; m < maps.size(); ++m) {
    SCOPED_TRACE(m);
    for (const char* part : {"rows", "cols", "levels", "mask"})
      EXPECT_EQ(maps[m].at(part, where).dump(), fresh[m].at(part, where).dump());
    const Json::Array& codes = maps[m].at("codes", where).as_array(where);
    const Json::Array& now = fresh[m].at("codes", where).as_array(where);
    ASSERT_EQ(codes.size(), now.size());
    for (size_t i = 0; i < codes.size(); ++i) {
      const int64_t code = codes[i].as_int(where);
      // Another machine's vector unit may round the last bit, and with it a code, otherwise.
      EXPECT_NEAR(static_cast<double>(code), static_cast<double>(now[i].as_int(where)),
                  code < 0 ? 0 : 1);
    }
  }
}

}  // namespace
}  // namespace fovea
