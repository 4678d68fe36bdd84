#include "fovea/capture/array_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/utf8.h"
#include "fovea/capture/array_file.h"
#include "fovea/capture/run_file.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "support/errors.h"
#include "support/stored_record.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using support::random_weights;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> sites_of(const Run& run) {
  std::vector<std::string> sites;
  for (const auto& record : run.records) sites.push_back(to_string(record->site));
  return sites;
}

std::vector<std::string> texts_of(const Run& run, std::string_view axis) {
  std::vector<std::string> texts;
  for (const Position& position : run.find_axis(axis)->positions) texts.push_back(position.text);
  return texts;
}

class ArrayRunFiles : public ::testing::Test {
 protected:
  std::filesystem::path npy(const Tensor& array) {
    write_npy(folder_ / "a.npy", array);
    return folder_ / "a.npy";
  }
  std::filesystem::path npz(const std::vector<NamedTensor>& arrays) {
    write_npz(folder_ / "a.npz", arrays);
    return folder_ / "a.npz";
  }
  std::filesystem::path safetensors(const std::vector<NamedTensor>& arrays,
                                    const Metadata& metadata = {}) {
    write_safetensors(folder_ / "a.safetensors", arrays, metadata);
    return folder_ / "a.safetensors";
  }

  TempFolder folder_;
};

TEST_F(ArrayRunFiles, OneArrayIsLayersOfHeads) {
  struct Case {
    Shape shape;
    size_t layers;
    Shape layer;
  };
  for (const Case& c : {Case{{5, 5}, 1, {1, 5, 5}}, Case{{3, 5, 5}, 1, {3, 5, 5}},
                        Case{{2, 3, 5, 5}, 2, {3, 5, 5}}, Case{{2, 1, 3, 5, 5}, 2, {3, 5, 5}}}) {
    SCOPED_TRACE(to_string(c.shape));
    const Tensor array = random_weights(c.shape, 1);
    const ArrayRun opened = open_arrays(npy(array));
    validate(opened.run);
    ASSERT_EQ(opened.run.records.size(), c.layers);
    EXPECT_EQ(opened.run.model, "a.npy");
    EXPECT_EQ(opened.facts.types, "F32");
    EXPECT_EQ(opened.facts.scan.rows, array.elements() / 5);
    EXPECT_THAT(opened.facts.notes(), IsEmpty());
    EXPECT_THAT(texts_of(opened.run, "tokens"), ElementsAre("0", "1", "2", "3", "4"));
    for (size_t layer = 0; layer < c.layers; ++layer) {
      const AttentionRecord& record = *opened.run.records[layer];
      EXPECT_EQ(record.site, (SiteId{SiteKind::kSelf, static_cast<int>(layer)}));
      ASSERT_EQ(record.weights.shape(), c.layer);
      const auto all = array.values<float>(), part = record.weights.values<float>();
      EXPECT_TRUE(std::ranges::equal(part, all.subspan(layer * part.size(), part.size())));
      // Mapped, not copied.
      EXPECT_TRUE(is_mapped({record.weights.raw(), record.weights.bytes()}));
    }
  }
}

TEST_F(ArrayRunFiles, RowsAndColumnsMayDiffer) {
  const ArrayRun opened = open_arrays(npy(random_weights({2, 3, 4, 7}, 1)));
  validate(opened.run);
  EXPECT_THAT(sites_of(opened.run), ElementsAre("cross.0", "cross.1"));
  EXPECT_EQ(texts_of(opened.run, "target").size(), 4U);
  EXPECT_EQ(texts_of(opened.run, "source").size(), 7U);
}

TEST_F(ArrayRunFiles, NamesOfSitesAreTakenAsTheyAre) {
  const std::vector<NamedTensor> arrays{{"logits", Tensor({9, 2})},
                                        {"cross.1", random_weights({2, 3, 4}, 1)},
                                        {"encoder_self.0", random_weights({2, 4, 4}, 2)},
                                        {"cross.0", random_weights({2, 3, 4}, 3)},
                                        {"decoder_self.10", random_weights({2, 3, 3}, 4)}};
  for (const auto& path : {npz(arrays), safetensors(arrays)}) {
    const ArrayRun opened = open_arrays(path);
    validate(opened.run);
    EXPECT_THAT(sites_of(opened.run),
                ElementsAre("encoder_self.0", "decoder_self.10", "cross.0", "cross.1"));
    EXPECT_EQ(texts_of(opened.run, "target").size(), 3U);
    EXPECT_EQ(texts_of(opened.run, "source").size(), 4U);
    for (const auto& record : opened.run.records) {
      EXPECT_TRUE(is_mapped({record->weights.raw(), record->weights.bytes()}));
    }
    EXPECT_THAT(sites_of(open_arrays(path, {.array = "cross.1"}).run), ElementsAre("cross.1"));
  }
}

TEST_F(ArrayRunFiles, WhichOfSeveralIsAsked) {
  const std::vector<NamedTensor> arrays{{"first", random_weights({2, 4, 4}, 1)},
                                        {"second", random_weights({3, 5, 5}, 2)}};
  for (const auto& path : {npz(arrays), safetensors(arrays)}) {
    EXPECT_EQ(open_arrays(path, {.array = "second"}).run.records.front()->shape().rows, 5);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, Field{"array"}, "holds 2 arrays, 'first', 'second'",
                           [&] { open_arrays(path); }));
    EXPECT_TRUE(fails_with(ErrorKind::kNotFound, Field{"array"}, "'third' is not in",
                           [&] { open_arrays(path, {.array = "third"}); }));
  }
  EXPECT_EQ(open_arrays(npz({arrays[0]})).run.records.size(), 1U);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "holds no arrays", [&] { open_arrays(npz({})); }));
  const auto path = npy(arrays[0].tensor);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, Field{"array"}, "without a name",
                         [&] { open_arrays(path, {.array = "first"}); }));
}

TEST_F(ArrayRunFiles, LabelsNameThePositions) {
  const std::vector<std::string> three{"a", "b", "c"}, two{"x", "y"};
  EXPECT_THAT(
      texts_of(open_arrays(npy(random_weights({3, 3}, 1)), {.labels = three}).run, "tokens"),
      ElementsAre("a", "b", "c"));
  const ArrayOptions both{.array = {}, .labels = two, .col_labels = three};
  const ArrayRun wide = open_arrays(npy(random_weights({2, 3}, 1)), both);
  EXPECT_THAT(texts_of(wide.run, "target"), ElementsAre("x", "y"));
  EXPECT_THAT(texts_of(wide.run, "source"), ElementsAre("a", "b", "c"));
  const ArrayOptions square{.array = {}, .labels = {}, .col_labels = three};
  EXPECT_THAT(sites_of(open_arrays(npy(random_weights({3, 3}, 1)), square).run),
              ElementsAre("cross.0"));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, Field{"labels"}, "there are 2 labels but 3 positions", [&] {
        open_arrays(npy(random_weights({3, 3}, 1)), {.labels = two});
      }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, Field{"col_labels"}, "there are 3 labels but 4 columns", [&] {
        open_arrays(npy(random_weights({3, 4}, 1)), square);
      }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, Field{"col_labels"},
                         "rows and columns of self.0 are the same positions", [&] {
                           open_arrays(npz({{"self.0", random_weights({3, 3}, 1)}}), square);
                         }));
}

TEST_F(ArrayRunFiles, FilesOfFoveaNameTheirPositions) {
  const std::vector<NamedTensor> arrays{{"cross.0", random_weights({2, 3}, 1)}};
  const ArrayRun named = open_arrays(safetensors(
      arrays, {{"model", "opus"},
               {"model_hash", "12ab"},
               {"tokens", R"({"steps": ["u", "v"], "source": ["a", "b", "c"], "other": ["d"]})"},
               {"axes", R"({"cross.0": ["steps", "source"]})"}}));
  EXPECT_EQ(named.run.model, "opus");
  EXPECT_EQ(named.run.model_hash, "12ab");
  EXPECT_THAT(texts_of(named.run, "steps"), ElementsAre("u", "v"));
  EXPECT_THAT(texts_of(named.run, "source"), ElementsAre("a", "b", "c"));
  const std::vector<NamedTensor> map{{"weights", random_weights({1, 2, 2}, 1)}};
  const ArrayRun one =
      open_arrays(safetensors(map, {{"rows", R"(["a", "b"])"}, {"cols", R"(["a", "b"])"}}));
  EXPECT_THAT(sites_of(one.run), ElementsAre("self.0"));
  EXPECT_THAT(texts_of(one.run, "tokens"), ElementsAre("a", "b"));
  const ArrayRun two =
      open_arrays(safetensors(map, {{"rows", R"(["a", "b"])"}, {"cols", R"(["c", "d"])"}}));
  EXPECT_THAT(sites_of(two.run), ElementsAre("cross.0"));
  EXPECT_THAT(texts_of(two.run, "source"), ElementsAre("c", "d"));
  // Other programs mean something else by these keys.
  const ArrayRun other = open_arrays(safetensors(
      map, {{"tokens", "the cat"}, {"axes", "[1, 2]"}, {"rows", R"([1, 2])"}, {"cols", "{"}}));
  EXPECT_THAT(texts_of(other.run, "tokens"), ElementsAre("0", "1"));
}

TEST_F(ArrayRunFiles, SumsAreCountedAndTold) {
  Tensor weights = random_weights({2, 4, 4}, 1);
  weights.mutable_matrix<float>()(3, 0) += 0.5F;
  const ArrayFacts facts = open_arrays(npy(weights)).facts;
  EXPECT_EQ(facts.scan.not_one, 1);
  EXPECT_THAT(facts.notes(),
              ElementsAre("1 of 8 rows of 'a.npy' do not sum to 1; sums are from 1 to 1.5"));
}

TEST_F(ArrayRunFiles, ACausalModelIsRecognisedByAllItsHeads) {
  Tensor weights({2, 2, 3, 3});
  for (int64_t r = 0; r < 12; ++r) weights.mutable_matrix<float>()(r, 0) = 1;
  const ArrayRun causal = open_arrays(npy(weights));
  EXPECT_TRUE(causal.facts.causal);
  for (const auto& record : causal.run.records) EXPECT_EQ(record->rule.mask.ahead, 0);
  weights.mutable_matrix<float>()(0, 2) = 0.1F;  // of the first layer alone
  const ArrayRun other = open_arrays(npy(weights));
  EXPECT_FALSE(other.facts.causal);
  for (const auto& record : other.run.records) EXPECT_FALSE(record->rule.mask.ahead.has_value());
  EXPECT_FALSE(open_arrays(npy(random_weights({1, 1}, 1))).facts.causal);
}

TEST_F(ArrayRunFiles, WhatIsNoAttentionIsRefusedByName) {
  const auto refused = [&](const Tensor& array, std::string_view why) {
    const auto path = npy(array);
    return fails_with(ErrorKind::kBadFile, why, [&] { open_arrays(path); });
  };
  EXPECT_TRUE(refused(Tensor(Shape{4}), "has shape [4] but weights are"));
  EXPECT_TRUE(refused(Tensor({1, 2, 3, 4, 4}), "has shape [1, 2, 3, 4, 4] but weights are"));
  EXPECT_TRUE(refused(Tensor(Shape{}), "has shape []"));
  EXPECT_TRUE(refused(Tensor({0, 4}), "holds nothing"));
  EXPECT_TRUE(refused(Tensor({5000, 1, 1, 1}), "4096 layers"));
  EXPECT_TRUE(refused(Tensor({5000, 1, 1}), "4096 heads"));
  EXPECT_TRUE(refused(Tensor({4, 4}, DType::kI64), "holds I64"));
  EXPECT_TRUE(refused(Tensor::from<float>({1, 2}, std::vector{1.0F, -1.0F}),
                      "a.npy: head 0, row 0, column 1 is -1"));
  Tensor second({2, 1, 1, 2});
  second.mutable_values<float>()[3] = -1;
  EXPECT_TRUE(refused(second, "a.npy: layer 1: head 0, row 0, column 1 is -1"));

  const auto refused_in = [&](const std::vector<NamedTensor>& arrays, std::string_view why) {
    const auto path = npz(arrays);
    return fails_with(ErrorKind::kBadFile, why, [&] { open_arrays(path); });
  };
  EXPECT_TRUE(refused_in({{"self.0", Tensor({3, 4})}}, "'self.0': has 3 rows and 4 columns"));
  EXPECT_TRUE(refused_in({{"self.0", Tensor({2, 1, 3, 3})}}, "is one layer by its name"));
  EXPECT_TRUE(refused_in({{"self.0", Tensor({3, 3})}, {"self.1", Tensor({4, 4})}},
                         "self.1 has 4 rows but another array has 3"));
  EXPECT_TRUE(refused_in({{"self.1", Tensor({3, 3})}, {"self.01", Tensor({3, 3})}},
                         "two arrays are self.1"));
}

TEST_F(ArrayRunFiles, AreKeptInARunFile) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
    const Tensor weights = convert(random_weights({2, 3, 4}, 1), dtype);
    const ArrayRun opened = open_arrays(safetensors({{"attn", weights}}));
    save_run(opened.run, folder_ / "run.fovea.safetensors");
    const fovea::Run back = load_run(folder_ / "run.fovea.safetensors");
    ASSERT_EQ(back.records.size(), 1U);
    EXPECT_FALSE(back.records.front()->has_queries());
    const Tensor& found = back.records.front()->weights;
    ASSERT_EQ(found.shape(), weights.shape());
    EXPECT_EQ(std::memcmp(found.raw(), weights.raw(), weights.bytes()), 0);
  }
}

TEST(StoredRecord, HoldsNothingBesideItsWeights) {
  AttentionRecord record;
  record.weights = random_weights({1, 3, 3}, 1);
  record.values = Tensor({1, 3, 2});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "self.0: has weights and what they are",
                         [&] { validate(record); }));
  record.values = {};
  record.weights = Tensor({3, 3});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "self.0: the map is F32 [3, 3]",
                         [&] { validate(record); }));
  record.weights = random_weights({1, 3, 3}, 1, -1);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "self.0: head 0, row 0", [&] { validate(record); }));
}

TEST(ReadLabels, TakesLinesOrAList) {
  const TempFolder folder;
  write_text(folder / "a.txt", "the\r\n\n cat\nsat");
  EXPECT_THAT(read_labels(folder / "a.txt"), ElementsAre("the", "", " cat", "sat"));
  write_text(folder / "a.json", R"(["[CLS]", "a\nb"])");
  EXPECT_THAT(read_labels(folder / "a.json"), ElementsAre("[CLS]", "a\nb"));
  write_text(folder / "bad.json", R"(["a", 3])");
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "bad.json", [&] { read_labels(folder / "bad.json"); }));
  write_text(folder / "bad.txt", "a\n\xff\n");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "is not UTF-8 at byte 2",
                         [&] { read_labels(folder / "bad.txt"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, "no such file", [&] { read_labels(folder / "none"); }));
}

}  // namespace
}  // namespace fovea
