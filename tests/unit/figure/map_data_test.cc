#include "fovea/figure/map_data.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/figure/page_options.h"
#include "support/runs.h"

namespace fovea {
namespace {

TEST(MapData, HoldsTheNumbersOfEachView) {
  const auto run = support::text_run({"[CLS]", "the", "cat", "[SEP]"}, 3);
  const MatrixFigure matrix = matrix_view(run, {.head = {HeadChoice::Kind::kOne, 1}});
  const MapData one = data_of(matrix);
  EXPECT_TRUE(std::ranges::equal(one.weights.values<float>(), matrix.weights.values<float>()));
  EXPECT_TRUE(one.panels.empty());
  const HeadsFigure heads = heads_view(run, {});
  const MapData all = data_of(heads);
  EXPECT_EQ(all.weights.shape(), (Shape{3, 4, 4}));
  EXPECT_EQ(all.panels, (std::vector<std::string>{"head 0", "head 1", "head 2"}));
  for (int64_t head = 0; head < 3; ++head) {
    EXPECT_EQ(all.weights.matrix<float>(head)(2, 1),
              heads.panels[static_cast<size_t>(head)].weights.matrix<float>()(2, 1));
  }
  const ReadFigure column = read_view(run, {.token = "cat", .column = true});
  EXPECT_EQ(data_of(column).weights.shape(), (Shape{4, 1})) << "a column stands upright";
  EXPECT_EQ(data_of(column).cols.positions[0].text, "who attends to it");
  EXPECT_EQ(data_of(lines_view(run, {})).weights.shape(), (Shape{3, 4, 4}));
}

TEST(MapData, OfKernelsIsByOffsetAndOfACompositeByOwner) {
  const auto of = [](std::vector<float> values) { return Tensor::from({3, 3}, values); };
  KernelsFigure kernels;
  kernels.panels = {{.title = "head 0", .weights = of({0, 1, 2, 3, 4, 5, 6, 7, 8})},
                    {.title = "head 1", .weights = of({8, 7, 6, 5, 4, 3, 2, 1, 0})}};
  const MapData data = data_of(kernels);
  EXPECT_EQ(data.weights.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(data.weights.matrix<float>(1)(0, 2), 6);
  EXPECT_EQ(data.panels[1], "head 1");
  EXPECT_EQ(position_texts(data.rows).dump(), R"(["-1","0","+1"])");
  const float none = std::numeric_limits<float>::quiet_NaN();
  const CompositeFigure owned{.owners = Tensor::from({1, 3}, std::vector<float>{0, none, 1})};
  const MapData owners = data_of(owned);
  EXPECT_EQ(owners.weights.values<float>()[1], -1) << "0 is a head";
  EXPECT_EQ(owners.weights.values<float>()[2], 1);
  const DotsFigure dots{.values = Tensor::from({2, 1}, std::vector<float>{3, 4})};
  EXPECT_EQ(data_of(dots).weights.shape(), (Shape{2, 1}));
  EXPECT_EQ(data_of(dots).rows.name, "layers");
}

TEST(MapData, WhatIsNotAllowedIsNullInJson) {
  MapData data;
  data.weights = Tensor::from<float>({1, 2}, {0.5F, std::numeric_limits<float>::quiet_NaN()});
  data.rows.positions = {{.text = "it"}};
  data.cols.positions = {{.text = "the"}, {.text = "cat"}};
  Json json = Json::object();
  add_numbers(json, data);
  EXPECT_EQ(json.dump(), R"({"rows":["it"],"cols":["the","cat"],"weights":[[0.5,null]]})");
  data.weights = Tensor::from<float>({1, 1, 2}, {0.25F, 0.75F});
  data.panels = {"head 0"};
  json = Json::object();
  add_numbers(json, data);
  EXPECT_EQ(json.at("panels", "").dump(), R"([{"title":"head 0","weights":[[0.25,0.75]]}])");
}

TEST(PageOptions, HoldAWholeRunUnlessSomethingIsNamed) {
  const PageOptions options;
  EXPECT_FALSE(options.choice.kind || options.choice.layer || options.opens_at);
}

}  // namespace
}  // namespace fovea
