#include "fovea/cli/steps/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"

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

// The words around a position with it in brackets, as much as fits into one line. Empty if it
// stands for no text.
std::string marked_text(const Axis& axis, int64_t index) {
  constexpr int kColumns = 76;
  const Position& position = axis.positions[static_cast<size_t>(index)];
  const std::string_view source = axis.source;
  auto begin = static_cast<size_t>(position.source_begin);
  const auto end = static_cast<size_t>(position.source_end);
  if (end <= begin || end > source.size()) return "";
  while (begin + 1 < end && source[begin] == ' ') ++begin;
  const std::string word =
      "[" + shorten(printable(source.substr(begin, end - begin)), kColumns / 2) + "]";
  const int room = kColumns - display_width(word);
  const std::string after = printable(source.substr(end));
  const std::string before = printable(source.substr(0, begin));
  const int room_before = std::max(room - display_width(after), room / 2);
  std::string head = before;
  if (display_width(before) > room_before) {
    head.clear();
    const auto letters = graphemes(before);
    for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
      if (display_width(head) + display_width(*letter) + 1 > room_before) break;
      head.insert(0, *letter);
    }
    head.insert(0, "…");
  }
  return head + word + shorten(after, room - display_width(head));
}

// What is told above the stages: which token, and what was left to be chosen.
std::vector<std::string> facts_of(const ModelStepsView& view, const std::string& token_note,
                                  const std::vector<std::string>& choices) {
  const ModelSteps& steps = view.steps;
  std::vector<std::string> facts{fmt::format("token {} of 0 to {}, {} · {} head{} of {} numbers",
                                             steps.row, steps.shape.rows - 1, view.token_name(),
                                             steps.shape.heads, steps.shape.heads == 1 ? "" : "s",
                                             steps.shape.head_dim)};
  if (steps.similarity) {
    facts[0] += fmt::format(" · {} similarity: {}", view.similarity_name(), kNotTheModel);
  }
  if (!token_note.empty()) facts.push_back(printable(token_note));
  if (!choices.empty()) {
    facts.push_back(fmt::format("By default {} · {}", fmt::join(choices, ", "),
                                view.picture ? "--layer, --head, --at and --token choose others"
                                             : "--layer, --head and --token choose others"));
  }
  if (view.is_cross()) {
    facts.emplace_back("x is the decoder's state, s the encoder's states of the source");
  } else if (view.is_pool()) {
    facts.emplace_back("p is a learned query, the same for every picture");
  }
  const std::string text = marked_text(view.rows, steps.row);
  if (!text.empty()) facts.push_back(text);
  return facts;
}

}  // namespace

ModelStepsView read_model_steps(const GivenInput& given, const Args& args) {
  const std::optional<Similarity> similarity = chosen_similarity(args);
  const Engine engine = open_engine(args, default_steps_model(given, args));
  const ModelFacts facts = engine.facts();
  const std::optional<PictureInput> picture = find_picture_input(engine, given, args);
  check_row_options(args, engine, picture.has_value());
  const SiteKind kind = chosen_site(args, engine, picture || gives_pixels(args, engine));
  check_layer(args, engine, kind);
  check_head(args, engine, kind);
  const int64_t layer = args.has("layer") ? args.integer("layer") : size_of(facts, kind).layers - 1;
  const SiteId site{kind, static_cast<int>(layer)};
  const int64_t head = args.has("head") ? args.integer("head") : 0;
  RunOptions options;
  options.record = {
      .outputs = true, .block = true, .wanted = [site](SiteId other) { return other == site; }};
  RunResult result =
      picture ? run_picture(engine, *picture, options) : run_input(engine, given, args, options);
  print_warnings(result.warnings);
  const auto record = result.run.record(site);

  ModelStepsView view{.rotary = facts.main.rotary, .adds_positions = facts.finds_objects()};
  // Rows that are steps of writing are named by what the decoder reads there.
  view.rows = *result.run.find_axis(record->row_axis == "steps" ? "target" : record->row_axis);
  view.cols = *result.run.find_axis(record->col_axis);
  view.input = picture ? given.value : view.cols.source;
  if (picture) view.picture = PatchPicture{picture->picture, picture->grid};
  std::vector<std::string> choices;  // that nobody asked for
  if (!args.has("layer") && kind != SiteKind::kPool) choices.emplace_back("the last layer");
  if (!args.has("head")) choices.emplace_back("head 0");
  const bool causal = facts.text_stack().causal || kind == SiteKind::kDecoderSelf;
  FoundToken token = picture ? chosen_patch(args, *picture, view.rows, engine)
                             : chosen_token(args, *record, view.rows, causal, choices);
  if (picture && !args.has("at") && !args.has("token") && kind != SiteKind::kPool) {
    choices.push_back(view.rows.positions.front().text);
  }
  if (record->row_axis == "steps") {
    const Axis& steps = *result.run.find_axis("steps");
    if (!token.note.empty()) token.note += " · ";
    token.note += steps.positions[static_cast<size_t>(token.index)].text;
  }
  view.run = std::move(result.run);
  view.rule = record->rule;
  view.steps = model_steps(record, head, token.index, similarity);
  if (args.has("similarity") && args["similarity"] == kAllSimilarities) {
    view.others = {model_steps(record, head, token.index, DotProduct{}),
                   model_steps(record, head, token.index, Cosine{})};
  }
  view.facts = facts_of(view, token.note, choices);
  return view;
}

namespace {

struct NamedVector {
  const char* name;
  const std::vector<double>* values;
};
struct NamedMatrix {
  const char* name;
  const Matrix* values;
};

// In the order in which they come about.
std::array<NamedVector, 13> vectors_of(const ModelSteps& steps) {
  return {{{"x", &steps.x},
           {"q", &steps.q},
           {"scores", &steps.scores},
           {"scaled", &steps.scaled},
           {"bias", &steps.bias},
           {"capped", &steps.capped},
           {"masked", &steps.masked},
           {"weights", &steps.weights},
           {"captured", &steps.captured},
           {"weighted_sum", &steps.z},
           {"head_output", &steps.head_output},
           {"output_bias", &steps.output_bias},
           {"output", &steps.output}}};
}

std::array<NamedMatrix, 3> matrices_of(const ModelSteps& steps) {
  return {{{"k", &steps.k}, {"v", &steps.v}, {"products", &steps.products}}};
}

// The weights of the same q and k under other similarities.
Json others_json(const ModelStepsView& view) {
  Json others = Json::array();
  for (const ModelSteps& other : view.others) {
    others.push_back(Json::object({{"similarity", std::string(name_of(*other.similarity))},
                                   {"note", kNotTheModel},
                                   {"scores", Json::array_of(other.scores)},
                                   {"weights", Json::array_of(other.weights)}}));
  }
  return others;
}

}  // namespace

Json model_steps_json(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  Json json = Json::object({{"program", program_version()},
                            {"kind", "model"},
                            {"model", view.run.model},
                            {"model_hash", view.run.model_hash},
                            {"input", view.input}});
  if (view.picture) {
    const Picture& picture = view.picture->picture;
    json.set("picture", Json(Json::Array{picture.width, picture.height}));
    json.set("grid", Json(Json::Array{view.cols.grid_rows, view.cols.grid_cols}));
  }
  if (view.is_cross()) json.set("target", view.rows.source);
  Json tokens = Json::array();
  for (const Position& position : view.cols.positions) tokens.push_back(position.text);
  json.set("tokens", std::move(tokens));
  json.set("site", to_string(steps.site));
  json.set("layer", steps.site.layer);
  json.set("head", steps.head);
  json.set("kv_head", steps.kv_head);
  json.set("row", steps.row);
  json.set("token", view.rows.positions[static_cast<size_t>(steps.row)].text);
  json.set("similarity", view.similarity_name());
  if (steps.similarity) json.set("note", kNotTheModel);
  json.set("caption", view.caption());
  json.set("rotary", view.rotary);
  json.set("scale", steps.scale);
  if (!steps.capped.empty()) json.set("soft_cap", double{view.rule.soft_cap});
  for (const NamedVector& vector : vectors_of(steps)) {
    if (!vector.values->empty()) json.set(vector.name, Json::array_of(*vector.values));
  }
  for (const auto& [name, matrix] : matrices_of(steps)) {
    Json rows = Json::array();
    for (int64_t r = 0; r < matrix->rows(); ++r) rows.push_back(Json::array_of(matrix->row(r)));
    json.set(name, std::move(rows));
  }
  json.set("sum", steps.sum);
  if (!steps.similarity) json.set("map_difference", steps.map_difference);
  if (steps.output_difference) json.set("output_difference", *steps.output_difference);
  if (!view.others.empty()) json.set("others", others_json(view));
  return json;
}

std::vector<NamedTensor> model_steps_arrays(const ModelSteps& steps) {
  std::vector<NamedTensor> arrays;
  for (const NamedVector& vector : vectors_of(steps)) {
    if (vector.values->empty()) continue;
    arrays.push_back(
        {vector.name, Tensor::from({static_cast<int64_t>(vector.values->size())}, *vector.values)});
  }
  for (const auto& [name, matrix] : matrices_of(steps)) {
    arrays.push_back(
        {name, Tensor::from<double>({matrix->rows(), matrix->cols()}, matrix->values())});
  }
  return arrays;
}

}  // namespace fovea
