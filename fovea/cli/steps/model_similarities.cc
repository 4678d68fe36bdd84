// The same q and k compared in several ways, beside each other. Only the first is the model's.
#include <fmt/format.h>

#include "fovea/base/file.h"
#include "fovea/capture/words.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/steps/model.h"
#include "fovea/render/caption.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

constexpr int64_t kMostSimilarTokens = 12;  // cells of so many columns have room for their number

std::string row_name(const ModelSteps& steps) {
  if (!steps.similarity) return "the model's";
  return std::holds_alternative<Cosine>(*steps.similarity) ? "cosine" : "dot product";
}

std::string similarities_caption(const ModelStepsView& view, size_t shown) {
  const ModelSteps& steps = view.steps;
  std::string text = fmt::format(
      "Rows: what {} attends to if its q is compared with every k by the model's own "
      "rule, by q·k unscaled, and by the cosine of their angle; the last two are {} "
      "· layer {}, head {} · softmax weight",
      view.token_name(), kNotTheModel, steps.site.layer, steps.head);
  const std::string sum = sum_text(std::vector{steps.sum});
  if (shown == steps.weights.size()) return text + fmt::format(" · each row sums to {}", sum);
  return text + fmt::format(" · each row sums to {} over all {} tokens, of which {} are shown", sum,
                            steps.weights.size(), shown);
}

MatrixFigure similarities_figure(const ModelStepsView& view) {
  const std::vector<int64_t> tokens = shown_tokens(view.steps, kMostSimilarTokens);
  MatrixFigure figure{.row_title = "compared by", .col_title = "tokens, attended to"};
  figure.cols.name = view.cols.name;
  for (const int64_t j : tokens) {
    Position position = view.cols.positions[static_cast<size_t>(j)];
    position.text = printable(plain_label(view.cols, j));
    figure.cols.positions.push_back(std::move(position));
  }
  figure.rows.name = "similarities";
  std::vector<float> weights;
  const auto add = [&](const ModelSteps& steps) {
    figure.rows.positions.push_back({.text = row_name(steps)});
    for (const int64_t j : tokens) {
      weights.push_back(static_cast<float>(steps.weights[static_cast<size_t>(j)]));
    }
  };
  add(view.steps);
  for (const ModelSteps& other : view.others) add(other);
  figure.weights = Tensor::from(
      {static_cast<int64_t>(figure.rows.positions.size()), static_cast<int64_t>(tokens.size())},
      weights);
  figure.text.title =
      title_of(view.run, view.steps.site.kind,
               fmt::format("layer {}, head {} · {} by three similarities", view.steps.site.layer,
                           view.steps.head, view.token_name()));
  figure.text.caption = similarities_caption(view, tokens.size());
  figure.text.metadata = model_steps_metadata(view);
  return figure;
}

}  // namespace

Json model_similarities_json(const ModelStepsView& view) {
  Json json = model_steps_json(view);
  Json others = Json::array();
  for (const ModelSteps& other : view.others) {
    Json one = Json::object();
    one.set("similarity", std::string(name_of(*other.similarity)));
    one.set("note", kNotTheModel);
    one.set("scores", Json::array_of(other.scores));
    one.set("weights", Json::array_of(other.weights));
    others.push_back(std::move(one));
  }
  json.set("others", std::move(others));
  return json;
}

std::string model_similarities_text(const ModelStepsView& view, const Terminal& terminal) {
  return draw(similarities_figure(view), terminal, color_map("inferno"));
}

void write_model_similarities(const std::filesystem::path& path, const ModelStepsView& view) {
  const InterruptGuard guard;
  if (lower_suffix(path) == ".json") {
    const std::string text = model_similarities_json(view).dump(1) + "\n";
    write_file_atomic(path, [&](FileWriter& writer) { writer.write(text); });
  } else if (lower_suffix(path) == ".npz") {
    write_map_data(path, data_of(similarities_figure(view)));
  } else {
    write_figure(path, similarities_figure(view));
  }
}

}  // namespace fovea
