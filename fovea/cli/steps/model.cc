#include "fovea/cli/steps/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/capture/words.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

std::optional<Similarity> chosen_similarity(const Args& args) {
  if (!args.has("similarity") || args["similarity"] == kAllSimilarities) return {};
  const std::string& name = args["similarity"];
  if (name == "dot") return DotProduct{};
  if (name == "cosine") return Cosine{};
  fail(ErrorKind::kInvalidArgument,
       "--similarity is '{}' but q and k of a model are compared by dot, cosine or all; leave it "
       "out for the model's own way, or use --vectors",
       name);
}

// A word of the text itself: the last one of a causal model, which sees all others, else the first.
int64_t default_token(const Axis& axis, const Mask& mask, bool causal) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const bool padding = !mask.key_valid.empty() && mask.key_valid[i] == 0;
    if (!axis.positions[i].special && !padding) places.push_back(static_cast<int64_t>(i));
  }
  if (places.empty()) return 0;
  return causal ? places.back() : places.front();
}

// The row of a text; what was left to us is put into `choices`.
FoundToken chosen_token(const Args& args, const AttentionRecord& record, const Axis& rows,
                        bool causal, std::vector<std::string>& choices) {
  if (args.has("token")) return token_named(rows, args["token"]);
  const Mask own = record.site.kind == SiteKind::kCross ? Mask() : record.rule.mask;
  choices.push_back(fmt::format("the {} token", causal ? "last" : "first"));
  return {default_token(rows, own, causal), ""};
}

std::string_view default_steps_model(const GivenInput& given, const Args& args) {
  const bool two_stacks = names_two_stacks(args);
  if (given.kind == GivenInput::Kind::kPicture) {
    return two_stacks ? kDefaultDetectionModel : kDefaultPictureModel;
  }
  const bool translates = args.has("target") || two_stacks;
  return translates ? kDefaultTranslationModel : kDefaultTextModel;
}

}  // namespace

std::string ModelStepsView::token_name() const {
  return fmt::format("\"{}\"", isolated(printable(plain_label(rows, steps.row))));
}

std::string ModelStepsView::similarity_name() const {
  return std::string(steps.similarity ? name_of(*steps.similarity) : "model");
}

std::string ModelStepsView::caption() const {
  std::string place = fmt::format("layer {}, head {}", steps.site.layer, steps.head);
  if (steps.similarity) {
    place += fmt::format(" · {} similarity, {}", similarity_name(), kNotTheModel);
  }
  return token_caption(token_text(rows, steps.row, false), place, std::vector{steps.sum});
}

ModelStepsView read_model_steps(const GivenInput& given, const Args& args) {
  const std::optional<Similarity> similarity = chosen_similarity(args);
  const Engine engine = open_engine(args, default_steps_model(given, args));
  ModelStepsView view{.facts = engine.facts()};
  view.picture = find_picture_input(engine, given, args);
  check_row_options(args, engine, view.picture.has_value());
  const SiteKind kind = chosen_site(args, engine, view.picture || gives_pixels(args, engine));
  check_layer(args, engine, kind);
  check_head(args, engine, kind);
  const int64_t layer =
      args.has("layer") ? args.integer("layer") : size_of(view.facts, kind).layers - 1;
  const SiteId site{kind, static_cast<int>(layer)};
  const int64_t head = args.has("head") ? args.integer("head") : 0;
  RunOptions options;
  options.record = {
      .outputs = true, .block = true, .wanted = [site](SiteId other) { return other == site; }};
  RunResult result = view.picture ? run_picture(engine, *view.picture, options)
                                  : run_input(engine, given, args, options);
  print_warnings(result.warnings);
  const auto record = result.run.record(site);

  // Rows that are steps of writing are named by what the decoder reads there.
  view.rows = *result.run.find_axis(record->row_axis == "steps" ? "target" : record->row_axis);
  view.cols = *result.run.find_axis(record->col_axis);
  view.input = view.picture ? given.value : view.cols.source;
  if (!args.has("layer") && kind != SiteKind::kPool) view.choices.emplace_back("the last layer");
  if (!args.has("head")) view.choices.emplace_back("head 0");
  const bool causal = view.facts.text_stack().causal || kind == SiteKind::kDecoderSelf;
  FoundToken token = view.picture ? chosen_patch(args, *view.picture, view.rows, engine)
                                  : chosen_token(args, *record, view.rows, causal, view.choices);
  if (view.picture && !args.has("at") && !args.has("token") && kind != SiteKind::kPool) {
    view.choices.push_back(view.rows.positions.front().text);
  }
  if (record->row_axis == "steps") {
    const Axis& steps = *result.run.find_axis("steps");
    if (!token.note.empty()) token.note += " · ";
    token.note += steps.positions[static_cast<size_t>(token.index)].text;
  }
  view.run = std::move(result.run);
  view.rule = record->rule;
  view.token_note = token.note;
  view.steps = model_steps(record, head, token.index, similarity);
  if (args.has("similarity") && args["similarity"] == kAllSimilarities) {
    view.others = {model_steps(record, head, token.index, DotProduct{}),
                   model_steps(record, head, token.index, Cosine{})};
  }
  return view;
}

std::vector<int64_t> largest_entries(std::span<const double> values, int64_t most) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto size = [&](int64_t i) { return std::abs(values[static_cast<size_t>(i)]); };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(std::max<int64_t>(most, 0))));
  std::ranges::sort(order);
  return order;
}

std::vector<int64_t> shown_tokens(const ModelSteps& steps, int64_t most) {
  std::vector<int64_t> tokens = largest_entries(steps.weights, most);
  if (steps.sum > 0 && steps.shape.cols > most) {
    std::erase_if(tokens, [&](int64_t j) { return !steps.allowed(j); });
  }
  return tokens;
}

int64_t strongest_token(const ModelSteps& steps) {
  return std::ranges::max_element(steps.weights) - steps.weights.begin();
}

double length_of(std::span<const double> vector) {
  return std::sqrt(dot(vector, vector));
}

}  // namespace fovea
