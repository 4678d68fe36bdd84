// Several heads side by side, in the order in which they are asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/figure/view.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

fovea::Run four_heads() {
  return support::text_run({"[CLS]", "the", "cat", "sat"}, 4, false, 3);
}

HeadChoice some(std::vector<int64_t> heads) {
  return {.kind = HeadChoice::Kind::kSome, .some = std::move(heads)};
}

std::vector<std::string> titles(const std::vector<MapPanel>& panels) {
  std::vector<std::string> all;
  for (const MapPanel& panel : panels) all.push_back(panel.title);
  return all;
}

bool same(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.values<float>(), b.values<float>());
}

TEST(HeadList, ShowsThoseHeadsInThatOrder) {
  const fovea::Run run = four_heads();
  const HeadsFigure all = heads_view(run, {});
  const HeadsFigure figure = heads_view(run, {.head = some({3, 0, 2})});
  EXPECT_THAT(titles(figure.panels), ElementsAre("head 3", "head 0", "head 2"));
  EXPECT_TRUE(same(figure.panels[0].weights, all.panels[3].weights));
  EXPECT_TRUE(same(figure.panels[1].weights, all.panels[0].weights));
  EXPECT_THAT(figure.text.caption, HasSubstr("layer 2, heads 3, 0, 2"));
  EXPECT_EQ(figure.text.metadata.at("head", "").dump(), "[3,0,2]");
  const LinesFigure lines = lines_view(run, {.head = some({3, 0})});
  EXPECT_THAT(titles(lines.heads), ElementsAre("head 3", "head 0"));
}

TEST(HeadList, StandsAcrossEachLayer) {
  const HeadsFigure figure = heads_view(four_heads(), {.all_layers = true, .head = some({1, 3})});
  EXPECT_EQ(figure.panels_across, 2);
  EXPECT_THAT(titles(figure.panels),
              ElementsAre("layer 0 · head 1", "layer 0 · head 3", "layer 1 · head 1",
                          "layer 1 · head 3", "layer 2 · head 1", "layer 2 · head 3"));
  EXPECT_THAT(figure.text.caption, HasSubstr("layers 0 to 2, heads 1, 3 each"));
}

TEST(HeadList, IsNotOneMap) {
  const fovea::Run run = four_heads();
  for (const auto& view : {+[](const fovea::Run& r, const ViewChoice& c) { matrix_view(r, c); },
                           +[](const fovea::Run& r, const ViewChoice& c) { read_view(r, c); }}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"head"},
                           "heads 0, 1 are 2 maps but one is shown here", [&] {
                             view(run, {.head = some({0, 1})});
                           }));
  }
  EXPECT_THAT(message_of([&] {
                heads_view(run, {.head = some({0, 4})});
              }),
              HasSubstr("head 4 is asked for but self.2 has 4 heads, 0 to 3"));
}

}  // namespace
}  // namespace fovea
