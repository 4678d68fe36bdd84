// The page of an explanation: every number beside its bar, the card where it was checked, and text
// of any kind as text.
#include "fovea/render/explanation_page.h"

#include <gmock/gmock.h>

#include <set>

#include "fovea/figure/explanation_page.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using testing::HasSubstr;
using testing::Not;

ExplanationPage sample_page() {
  Axis axis = samples::words({"[CLS]", "cat", "<sat>", "down"});
  axis.positions.front().special = true;
  return {.figure = samples::matrix(),
          .method = "rollout",
          .answers = "where it <may> come from",
          .model_hash = "0123",
          .scores = {{axis, {8, 0.5, -2, 1}}},
          .row = {},
          .facts = R"({"text":"</script>"})"};
}

std::multiset<std::string> names_within(const std::string& html) {
  constexpr std::string_view kName = " id=\"";
  std::multiset<std::string> names;
  for (size_t at = html.find(kName); at != html.npos; at = html.find(kName, at + 1)) {
    const size_t begin = at + kName.size();
    names.insert(html.substr(begin, html.find('"', begin) - begin));
  }
  return names;
}

TEST(ExplanationPage, BarsAreMeasuredByTheInputsOwnPositions) {
  ExplanationPage page = sample_page();
  const std::string html = explanation_html(page);
  EXPECT_THAT(html, HasSubstr("<bdi>[CLS]</bdi></td><td class=\"score\" "
                              "style=\"background-size:100.0% 3px\">8</td>"));
  EXPECT_THAT(html, HasSubstr("<bdi>&lt;sat&gt;</bdi></td><td class=\"score below\" "
                              "style=\"background-size:100.0% 3px\">-2</td>"));
  EXPECT_THAT(html, HasSubstr("<bdi>cat</bdi></td><td class=\"score\" "
                              "style=\"background-size:25.0% 3px\">0.5</td>"));
  page.row = 2;  // the position asked from does not flatten the others
  EXPECT_THAT(explanation_html(page), HasSubstr("style=\"background-size:50.0% 3px\">0.5</td>"));
}

TEST(ExplanationPage, TextStaysText) {
  const std::string html = explanation_html(sample_page());
  EXPECT_THAT(html, HasSubstr("where it &lt;may&gt; come from"));
  EXPECT_THAT(html, HasSubstr(R"({"text":"\u003c/script>"})"));
  EXPECT_THAT(html, Not(HasSubstr("How far it can be believed")));
}

TEST(ExplanationPage, ACheckedOneHasItsCardAndNoNameTwice) {
  ExplanationPage page = sample_page();
  page.curves = samples::curves();
  page.grades = {{.name = "deletion",
                  .says = "area under the curve",
                  .good = "low",
                  .value = 0.25,
                  .random = 0.5,
                  .random_low = 0.375,
                  .random_high = 0.625,
                  .verdict = "better"},
                 {.name = "infidelity", .says = "how badly", .good = "low", .missing = "a & b"}};
  const std::string html = explanation_html(page);
  EXPECT_THAT(html, HasSubstr("0.250</td><td class=\"score\">0.500 <span class=\"range\">0.375 to "
                              "0.625</span></td><td>better</td>"));
  EXPECT_THAT(html, HasSubstr("none: a &amp; b"));
  const std::multiset<std::string> names = names_within(html);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace fovea
