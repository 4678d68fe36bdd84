#include "fovea/capture/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/json.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::random_case;
using support::record_of;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / ("fovea_run_" + name);
}

Run run_of(const AttentionCase& c) {
  fovea::Run run;
  run.model = "a model";
  run.model_hash = "0123";
  AttentionRecord record = record_of(c, {SiteKind::kCross, 2});
  record.row_axis = "target";
  record.col_axis = "source";
  Axis target{.name = "target", .source = "wörter", .positions = {}};
  for (int64_t i = 0; i < c.shape.rows; ++i) {
    target.positions.push_back({.text = "t" + std::to_string(i),
                                .source_begin = 1,
                                .source_end = 3,
                                .special = i == 0,
                                .word = i == 0 ? -1 : i / 2});
  }
  Axis source{
      .name = "source", .source = "", .positions = {}, .grid_rows = 1, .grid_cols = c.shape.cols};
  for (int64_t j = 0; j < c.shape.cols; ++j)
    source.positions.push_back({.text = "\"日本\" " + std::to_string(j)});
  run.axes = {target, source};
  run.records.push_back(std::make_shared<const AttentionRecord>(std::move(record)));
  return run;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.raw(), a.raw() + a.bytes(), b.raw());
}

TEST(RunFile, BringsBackEveryKindOfRecord) {
  const auto path = temporary("round.fovea.safetensors");
  for (uint32_t seed = 0; seed < 80; ++seed) {
    const AttentionCase c = random_case(seed, 20, 1);
    SCOPED_TRACE(c.name);
    const fovea::Run run = run_of(c);
    save_run(run, path);
    const fovea::Run back = load_run(path);
    EXPECT_EQ(back.model, run.model);
    EXPECT_EQ(back.model_hash, run.model_hash);
    EXPECT_EQ(back.axes, run.axes);
    ASSERT_EQ(back.records.size(), 1U);
    const AttentionRecord& record = *back.record({SiteKind::kCross, 2});
    EXPECT_EQ(record.row_axis, "target");
    EXPECT_TRUE(same(record.queries, c.queries));
    EXPECT_TRUE(same(record.keys, c.keys));
    EXPECT_TRUE(same(record.values, c.values));
    EXPECT_TRUE(same(record.lse, run.records[0]->lse));
    EXPECT_EQ(record.rule.scale, c.rule.scale);
    EXPECT_EQ(record.rule.soft_cap, c.rule.soft_cap);
    EXPECT_EQ(record.rule.sink_logit, c.rule.sink_logit);
    EXPECT_EQ(record.rule.mask.behind, c.rule.mask.behind);
    EXPECT_EQ(record.rule.mask.ahead, c.rule.mask.ahead);
    EXPECT_EQ(record.rule.mask.query_offset, c.rule.mask.query_offset);
    EXPECT_EQ(record.rule.mask.key_valid, c.rule.mask.key_valid);
    EXPECT_EQ(record.rule.mask.key_group, c.rule.mask.key_group);
    EXPECT_EQ(record.rule.bias.index(), c.rule.bias.index());
    // The same numbers and rule give the same map to the bit.
    const Tensor before = AttentionMap(run.records[0], 0).tile({0, c.shape.rows, 0, c.shape.cols});
    const Tensor after = AttentionMap(back.records[0], 0).tile({0, c.shape.rows, 0, c.shape.cols});
    EXPECT_TRUE(same(before, after));
  }
}

TEST(RunFile, KeepsWhatPositionsAddedToQueriesAndKeys) {
  const AttentionCase c = random_case(4, 12, 2);
  fovea::Run run = run_of(c);
  AttentionRecord record = *run.records[0];
  std::mt19937 random(1);
  record.positions =
      PositionParts{support::random_heads(random, record.queries.shape(), 1, DType::kF32),
                    support::random_heads(random, record.keys.shape(), 1, DType::kBF16)};
  run.records[0] = std::make_shared<const AttentionRecord>(record);
  const auto path = temporary("positions.fovea.safetensors");
  save_run(run, path);
  const AttentionRecord back = *load_run(path).records[0];
  ASSERT_TRUE(back.positions.has_value());
  EXPECT_TRUE(same(back.positions->queries, record.positions->queries));
  EXPECT_TRUE(same(back.positions->keys, record.positions->keys));
  EXPECT_FALSE(back.block.has_value());

  record.positions->keys = Tensor();  // half of it is no part
  run.records[0] = std::make_shared<const AttentionRecord>(record);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "positions' part of K",
                         [&] { save_run(run, path); }));
}

TEST(RunFile, KeepsWhatIsToBeSaidOfTheModel) {
  fovea::Run run = run_of(random_case(4, 12, 1));
  const auto path = temporary("note.fovea.safetensors");
  save_run(run, path);
  EXPECT_EQ(load_run(path).model_note, "");
  run.model_note = "trained on drawings";
  save_run(run, path);
  EXPECT_EQ(load_run(path).model_note, "trained on drawings");
}

TEST(RunFile, KeepsTheBlockAndTheGradient) {
  AttentionCase c = random_case(4, 12, 1);
  fovea::Run run = run_of(c);
  AttentionRecord record = *run.records[0];
  std::mt19937 random(1);
  record.output_gradient = support::random_heads(
      random, {c.shape.heads, c.shape.rows, c.shape.value_dim}, 1, DType::kF32);
  record.block = BlockContext{
      .input = support::random_heads(random, {c.shape.rows, 6}, 1, DType::kF32),
      .output_weight =
          support::random_heads(random, {6, c.shape.heads * c.shape.value_dim}, 1, DType::kBF16),
      .value_bias =
          support::random_heads(random, {c.shape.kv_heads * c.shape.value_dim}, 1, DType::kF32),
      .norm_weight = support::random_heads(random, {6}, 1, DType::kF32),
      .norm_epsilon = 1e-5F,
      .norm_before_residual = true};
  run.records[0] = std::make_shared<const AttentionRecord>(record);
  const auto path = temporary("block.fovea.safetensors");
  save_run(run, path);
  const AttentionRecord back = *load_run(path).records[0];
  EXPECT_TRUE(same(back.output_gradient, record.output_gradient));
  ASSERT_TRUE(back.block.has_value());
  EXPECT_TRUE(same(back.block->output_weight, record.block->output_weight));
  EXPECT_TRUE(back.block->output_bias.empty());
  EXPECT_TRUE(back.block->query_bias.empty());
  EXPECT_TRUE(same(back.block->value_bias, record.block->value_bias));
  EXPECT_EQ(back.block->norm_epsilon, 1e-5F);
  EXPECT_TRUE(back.block->norm_before_residual);
}

// tests/data/run_format_1.fovea.safetensors was written by the first version; it must open for
// ever.
TEST(RunFile, OpensAFileOfFormatOne) {
  const fovea::Run run = load_run(test_data("run_format_1.fovea.safetensors"));
  EXPECT_EQ(run.model, "worked example");
  const AttentionMap map(run.record({SiteKind::kSelf, 0}), 1);
  EXPECT_EQ(run.find_axis("tokens")->positions[2].text, "sat");
  EXPECT_EQ(run.find_axis("tokens")->positions[2].word, -1);  // a later addition
  // Causal, head 1: q = (1, 0), keys (0, 0), (ln 2, 0), (ln 5, 0), scale 1, so row 2 is 1 : 2 : 5.
  EXPECT_NEAR(map.cell(2, 0), 0.125, 1e-6);
  EXPECT_NEAR(map.cell(2, 1), 0.25, 1e-6);
  EXPECT_NEAR(map.cell(2, 2), 0.625, 1e-6);
  EXPECT_EQ(map.cell(0, 1), 0);
}

// Rewrites the metadata of a good file with one JSON member changed.
std::string load_changed(const std::string& key, const Json& value) {
  const auto path = temporary("changed.fovea.safetensors");
  save_run(run_of(random_case(2, 8, 1)), path);
  const SafetensorsFile file = SafetensorsFile::open(path);
  Json json = Json::parse(*file.find_metadata("fovea"), "metadata");
  json.set(key, value);
  std::vector<NamedTensor> tensors;
  for (const std::string& name : file.names()) tensors.push_back({name, file.tensor(name).clone()});
  write_safetensors(path, tensors, {{"fovea", json.dump()}});
  return message_of([&] { load_run(path); });
}

TEST(RunFile, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(load_changed("model", "another"), "");
  EXPECT_THAT(load_changed("format_version", 2), HasSubstr("use a newer fovea"));
  EXPECT_THAT(load_changed("format_version", 0), HasSubstr("never was"));
  EXPECT_THAT(load_changed("format_version", "x"), HasSubstr("whole number"));
  EXPECT_THAT(load_changed("axes", Json::array()), HasSubstr("no such axis"));
  EXPECT_THAT(load_changed("sites", 3), HasSubstr("should be an array"));
  Json site = Json::object();
  site.set("site", "nowhere.1");
  site.set("rows", "target");
  site.set("cols", "source");
  site.set("rule", Json::object());
  EXPECT_THAT(load_changed("sites", Json(Json::Array{site})), HasSubstr("no attention site"));
  site.set("site", "self.9");
  EXPECT_THAT(load_changed("sites", Json(Json::Array{site})), HasSubstr("self.9.q"));
}

// Loads a causal run whose rule has one number changed.
void load_with_rule(const char* key, int64_t value) {
  const auto path = temporary("rule.fovea.safetensors");
  save_run(run_of(support::plain_case(6, 8, true, 1)), path);
  const SafetensorsFile file = SafetensorsFile::open(path);
  Json json = Json::parse(*file.find_metadata("fovea"), "metadata");
  Json site = json.at("sites", "metadata").as_array("sites").front();
  Json rule = site.at("rule", "site");
  rule.set(key, value);
  site.set("rule", std::move(rule));
  json.set("sites", Json(Json::Array{std::move(site)}));
  std::vector<NamedTensor> tensors;
  for (const std::string& name : file.names()) tensors.push_back({name, file.tensor(name).clone()});
  write_safetensors(path, tensors, {{"fovea", json.dump()}});
  load_run(path);
}

TEST(RunFile, RefusesPlacesAndWindowsThatNoArithmeticHolds) {
  EXPECT_NO_THROW(load_with_rule("query_offset", 3));
  for (const int64_t place : {INT64_MIN, INT64_MIN + 1, INT64_MIN + 8, INT64_MAX, INT64_MAX - 1,
                              INT64_MAX - 8, int64_t{1} << 62, -(int64_t{1} << 62)}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "place", [&] {
      load_with_rule("query_offset", place);
    })) << place;
  }
  for (const char* window : {"behind", "ahead"}) {
    EXPECT_NO_THROW(load_with_rule(window, INT64_MAX)) << window;
    for (const int64_t keys : {INT64_MIN, INT64_MIN + 1, int64_t{-1}}) {
      EXPECT_TRUE(
          fails_with(ErrorKind::kBadFile, "negative", [&] { load_with_rule(window, keys); }))
          << window << keys;
    }
  }
}

TEST(RunFile, RefusesWordsThatDoNotFitTheAxis) {
  const auto changed = [](Json::Array words) {
    Json axis = Json::object();
    axis.set("name", "target");
    axis.set("source", "ab");
    axis.set("positions", Json::array_of(std::vector<std::string>{"a", "b"}));
    axis.set("offsets", Json(Json::Array{Json(Json::Array{0, 1}), Json(Json::Array{1, 2})}));
    axis.set("special", Json::array());
    axis.set("words", Json(std::move(words)));
    return load_changed("axes", Json(Json::Array{axis}));
  };
  EXPECT_THAT(changed({0}), HasSubstr("2 positions but 1 words"));
  EXPECT_THAT(changed({0, -2}), HasSubstr("must be -1 or more"));
  EXPECT_THAT(changed({0, "x"}), HasSubstr("whole number"));
}

TEST(RunFile, SaysWhenAFileIsNoRun) {
  const auto path = temporary("plain.safetensors");
  write_safetensors(path, std::vector<NamedTensor>{{"x", Tensor(Shape{2})}});
  EXPECT_THAT(message_of([&] { load_run(path); }), HasSubstr("no captured run"));
}

TEST(RunFile, EveryTruncationIsOneClearError) {
  const auto path = temporary("whole.fovea.safetensors");
  save_run(run_of(random_case(6, 4, 1)), path);
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  for (size_t length = 0; length < bytes.size(); length += length < 1024 ? 1 : 61) {
    const std::string cut = bytes.substr(0, length);
    const std::string message =
        message_of([&] { load_run(SafetensorsFile::parse(as_bytes(cut), "cut"), "cut"); });
    ASSERT_NE(message, "") << length;
    ASSERT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST(RunFile, AnInvalidRunWritesNothing) {
  fovea::Run run = run_of(random_case(2, 8, 1));
  run.axes.clear();
  const auto path = temporary("never.fovea.safetensors");
  std::filesystem::remove(path);
  EXPECT_THROW(save_run(run, path), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RunFile, BringsBackThePicture) {
  const auto path = temporary("picture.fovea.safetensors");
  fovea::Run run = run_of(random_case(3, 20, 1));
  run.picture = Tensor::from<uint8_t>({2, 1, 3}, std::vector<uint8_t>{1, 2, 3, 250, 0, 9});
  save_run(run, path);
  EXPECT_TRUE(same(load_run(path).picture, run.picture));
  run.picture = Tensor();
  save_run(run, path);
  EXPECT_TRUE(load_run(path).picture.empty());
}

TEST(RunFile, APictureMustHavePixelsAndAGrid) {
  fovea::Run run = run_of(random_case(3, 20, 1));
  for (const Tensor& wrong :
       {Tensor(Shape{2, 2}, DType::kU8), Tensor(Shape{2, 2, 4}, DType::kU8),
        Tensor(Shape{2, 2, 3}, DType::kF32), Tensor(Shape{1, 5000, 3}, DType::kU8)}) {
    run.picture = wrong;
    EXPECT_THROW(validate(run), Error) << to_string(wrong.shape());
  }
  run.picture = Tensor(Shape{2, 2, 3}, DType::kU8);
  EXPECT_NO_THROW(validate(run));
  for (Axis& axis : run.axes) axis.grid_rows = axis.grid_cols = 0;
  EXPECT_THROW(validate(run), Error);
}

}  // namespace
}  // namespace fovea
