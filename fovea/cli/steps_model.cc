#include "fovea/cli/steps_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/caption.h"
#include "fovea/render/words.h"

namespace fovea {
namespace {

std::optional<Similarity> chosen_similarity(const Args& args) {
  if (!args.has("similarity")) return {};
  const std::string& name = args["similarity"];
  if (name == "dot") return DotProduct{};
  if (name == "cosine") return Cosine{};
  fail(
      ErrorKind::kInvalidArgument,
      "--similarity is '{}' but q and k of a model are compared by dot or cosine; leave it out for "
      "the model's own way, or use --vectors",
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

SiteKind chosen_kind(const Args& args, const Engine& engine) {
  const bool two_stacks = engine.facts().has_decoder();
  const std::string site = args.has("site") ? args["site"] : two_stacks ? "cross" : "self";
  if (two_stacks == (site == "self")) {
    fail(ErrorKind::kInvalidArgument, "--site is {} but {} has {}; choose {}", site, engine.name(),
         two_stacks ? "an encoder and a decoder" : "one stack",
         two_stacks ? "encoder, decoder or cross" : "self");
  }
  if (site == "encoder") return SiteKind::kEncoderSelf;
  if (site == "decoder") return SiteKind::kDecoderSelf;
  return site == "cross" ? SiteKind::kCross : SiteKind::kSelf;
}

bool in_decoder(SiteKind kind) {
  return kind == SiteKind::kDecoderSelf || kind == SiteKind::kCross;
}

int chosen_layer(const Args& args, const Engine& engine, SiteKind kind) {
  const ModelFacts& facts = engine.facts();
  const int64_t layers = in_decoder(kind) ? facts.decoder_layers : facts.layers;
  const int64_t layer = args.has("layer") ? args.integer("layer") : layers - 1;
  if (layer >= layers) {
    fail(ErrorKind::kInvalidArgument, "--layer is {} but {} has {} layers of {}, 0 to {}", layer,
         engine.name(), layers, name_of(kind), layers - 1);
  }
  return static_cast<int>(layer);
}

int64_t chosen_head(const Args& args, const Engine& engine, SiteKind kind) {
  const ModelFacts& facts = engine.facts();
  const int64_t heads = in_decoder(kind) ? facts.decoder_heads : facts.heads;
  const int64_t head = args.has("head") ? args.integer("head") : 0;
  if (head >= heads) {
    fail(ErrorKind::kInvalidArgument, "--head is {} but {} has {} heads, 0 to {}", head,
         engine.name(), heads, heads - 1);
  }
  return head;
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

ModelStepsView read_model_steps(const Args& args) {
  const std::optional<Similarity> similarity = chosen_similarity(args);
  const bool translates = args.has("target") || (args.has("site") && args["site"] != "self");
  const Engine engine =
      open_engine(args, translates ? kDefaultTranslationModel : kDefaultTextModel);
  const SiteId site{chosen_kind(args, engine),
                    chosen_layer(args, engine, chosen_kind(args, engine))};
  const int64_t head = chosen_head(args, engine, site.kind);
  RunOptions options;
  options.record = {
      .outputs = true, .block = true, .wanted = [site](SiteId other) { return other == site; }};
  RunResult result = run_input(engine, args, options);
  print_warnings(result.warnings);
  const auto record = result.run.record(site);

  ModelStepsView view{.facts = engine.facts()};
  // Rows that are steps of writing are named by what the decoder reads there.
  view.rows = *result.run.find_axis(record->row_axis == "steps" ? "target" : record->row_axis);
  view.cols = *result.run.find_axis(record->col_axis);
  FoundToken token;
  if (args.has("token")) token = find_token(view.rows, args["token"]);
  if (!args.has("layer")) view.choices.emplace_back("the last layer");
  if (!args.has("head")) view.choices.emplace_back("head 0");
  if (!args.has("token")) {
    const bool causal = view.facts.causal || site.kind == SiteKind::kDecoderSelf;
    const Mask own = site.kind == SiteKind::kCross ? Mask() : record->rule.mask;
    token.index = default_token(view.rows, own, causal);
    view.choices.push_back(fmt::format("the {} token", causal ? "last" : "first"));
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
