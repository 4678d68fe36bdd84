#include "fovea/atlas/tile_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "fovea/base/json.h"
#include "fovea/io/crc32.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

// Made by tools/fixtures/make_tile_code.py, which knows the description and not this code.
const Json& vectors() {
  static const Json json =
      Json::parse(read_text_file(test_data("tile_code/vectors.json")), "vectors.json");
  return json;
}

float given_cell(const Json& json) {
  if (!json.is_string()) return static_cast<float>(json.as_double("cell"));
  return json.as_string("") == "masked" ? std::nanf("") : not_computed();
}

void expect_cell(float cell, const Json& wanted) {
  if (wanted.is_string()) {
    EXPECT_TRUE(std::isnan(cell));
    EXPECT_EQ(is_not_computed(cell), wanted.as_string("") == "not computed");
    return;
  }
  const double value = wanted.as_double("cell");
  EXPECT_NEAR(cell, value, 1e-7 * std::abs(value));  // a float's own rounding
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TilePool pool_of(const std::string& name) {
  return name == "max" ? TilePool::kMax : name == "mean" ? TilePool::kMean : TilePool::kNone;
}

TEST(TileCode, BytesAreThoseOfTheDescription) {
  for (const Json& wanted : vectors().at("tiles", "").as_array("")) {
    const auto number = [&](const char* name) { return wanted.at(name, "").as_int(name); };
    std::vector<float> given;
    for (const Json& cell : wanted.at("given", "").as_array("")) given.push_back(given_cell(cell));
    const TileHeader header{
        .encoding = tile_encoding_named(wanted.at("encoding", "").as_string("")),
        .level = static_cast<int>(number("level")),
        .approximate = wanted.at("approximate", "").as_bool(""),
        .causal = wanted.at("causal", "").as_bool(""),
        .pool = pool_of(wanted.at("pool", "").as_string("")),
        .row = number("row"),
        .col = number("col")};
    const std::string bytes = encode_tile(header, {given.data(), number("rows"), number("cols")});
    EXPECT_EQ(bytes, bytes_of(wanted.at("bytes", "").as_string("")));

    const DecodedTile tile = decode_tile(as_bytes(bytes));
    EXPECT_EQ(tile.header.encoding, header.encoding);
    EXPECT_EQ(tile.header.level, header.level);
    EXPECT_EQ(tile.header.approximate, header.approximate);
    EXPECT_EQ(tile.header.causal, header.causal);
    EXPECT_EQ(tile.header.pool, header.pool);
    EXPECT_EQ(tile.header.row, header.row);
    EXPECT_EQ(tile.header.col, header.col);
    EXPECT_EQ(tile.header.largest, wanted.at("largest", "").as_double(""));
    const auto& cells = wanted.at("cells", "").as_array("");
    ASSERT_EQ(tile.cells.elements(), static_cast<int64_t>(cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) {
      expect_cell(tile.cells.values<float>()[i], cells[i]);
    }
  }
}

// A tile of these codes, as another writer would make it.
std::string tile_of_codes(TileEncoding encoding, const std::string& payload, int64_t cells) {
  const std::vector<float> zeros(static_cast<size_t>(cells));
  std::string bytes = encode_tile({.encoding = encoding}, {zeros.data(), 1, cells});
  bytes.replace(kTileHeaderBytes, payload.size(), payload);
  const uint32_t checksum = crc32_of(as_bytes(payload));
  std::memcpy(bytes.data() + 28, &checksum, sizeof(checksum));
  return bytes;
}

TEST(TileCode, EveryCodeComesBackAsItself) {
  for (const TileEncoding encoding : {TileEncoding::kL16, TileEncoding::kL8, TileEncoding::kS16}) {
    const int width = encoding == TileEncoding::kL8 ? 1 : 2;
    std::string payload;
    int64_t cells = 0;
    for (uint32_t code = 0; code < (width == 1 ? 256U : 65536U); ++code) {
      // 0 has no sign, and what is no number neither.
      const bool no_sign =
          encoding == TileEncoding::kS16 && (code == 0x8000 || code == 0xfffe || code == 0xffff);
      if (no_sign || cells == 65535) continue;
      payload.append(reinterpret_cast<const char*>(&code), static_cast<size_t>(width));
      ++cells;
    }
    const DecodedTile tile = decode_tile(as_bytes(tile_of_codes(encoding, payload, cells)));
    const std::string again = encode_tile({.encoding = encoding}, tile.cells.matrix<float>());
    EXPECT_EQ(again.substr(kTileHeaderBytes), payload);
  }
}

TEST(TileCode, CodesMeanWhatTheDescriptionSays) {
  for (const Json& wanted : vectors().at("codes", "").as_array("")) {
    const TileEncoding encoding = tile_encoding_named(wanted.at("encoding", "").as_string(""));
    const auto code = static_cast<uint32_t>(wanted.at("code", "").as_int(""));
    const auto top = static_cast<float>(std::exp2(wanted.at("top", "").as_double("")));
    const size_t width = encoding == TileEncoding::kL8 ? 1 : 2;
    std::string bytes =
        tile_of_codes(encoding, std::string(reinterpret_cast<const char*>(&code), width), 1);
    std::memcpy(bytes.data() + 24, &top, sizeof(top));
    expect_cell(decode_tile(as_bytes(bytes)).cells.values<float>()[0], wanted.at("value", ""));
  }
}

TEST(TileCode, AWeightIsWithinHalfAStep) {
  std::vector<float> weights;
  for (int i = 0; i < 60'000; ++i)
    weights.push_back(std::exp2(-32 * static_cast<float>(i) / 60'000));
  const MatrixView<const float> view(weights.data(), 1, 60'000);
  // Half a step: 2^(32 / 65532 / 2) - 1 and 2^(32 / 252 / 2) - 1.
  for (const auto& [encoding, error] :
       {std::pair{TileEncoding::kL16, 1.7e-4}, std::pair{TileEncoding::kL8, 4.5e-2}}) {
    const DecodedTile tile = decode_tile(as_bytes(encode_tile({.encoding = encoding}, view)));
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_NEAR(tile.cells.values<float>()[i], weights[i], error * weights[i]);
    }
  }
}

TEST(TileCode, ACodeReachesWhereItsLargestValueLies) {
  EXPECT_EQ(top_exponent(0), 0);
  EXPECT_EQ(top_exponent(1), 0);
  EXPECT_EQ(top_exponent(1.0001F), 1);
  EXPECT_EQ(top_exponent(2), 1);
  EXPECT_EQ(top_exponent(100'352), 17);
}

TEST(TileCode, MinusInfinityIsWhatTheMaskForbids) {
  const float cells[] = {-std::numeric_limits<float>::infinity(), 0.5F};
  const DecodedTile tile = decode_tile(as_bytes(encode_tile({}, {cells, 1, 2})));
  EXPECT_TRUE(std::isnan(tile.cells.values<float>()[0]));
  EXPECT_FALSE(is_not_computed(tile.cells.values<float>()[0]));
}

TEST(TileCode, WhatACodeCannotHoldIsRefused) {
  const float below[] = {-0.5F};
  for (const TileEncoding encoding : {TileEncoding::kL16, TileEncoding::kL8}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"enc"}, "no sign", [&] {
      encode_tile({.encoding = encoding}, {below, 1, 1});
    }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"enc"}, "L16, L8, S16, F32",
                         [] { tile_encoding_named("PNG"); }));
}

TEST(TileCode, DamagedTilesAreRefused) {
  const float cell[] = {0.5F};
  const std::string whole = encode_tile({}, {cell, 1, 1});
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(decode_tile(as_bytes(whole.substr(0, length))), Error) << length;
  }
  std::string changed = whole;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_THROW(decode_tile(as_bytes(changed)), Error);
}

}  // namespace
}  // namespace fovea
