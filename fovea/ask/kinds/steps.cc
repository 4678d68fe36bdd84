// One attention step by step: what a token, or a pair, goes through in one head, every number.
#include "fovea/ask/steps_view.h"

#include <array>

#include "fovea/ask/picture_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

struct StepVector {
  const char* name;
  const std::vector<double>* values;
};
struct StepMatrix {
  const char* name;
  const Matrix* values;
};

// In the order in which they come about.
std::array<StepVector, 13> vectors_of(const ModelSteps& steps) {
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

std::array<StepMatrix, 3> matrices_of(const ModelSteps& steps) {
  return {{{"k", &steps.k}, {"v", &steps.v}, {"products", &steps.products}}};
}

std::vector<NamedTensor> step_arrays(const ModelSteps& steps) {
  std::vector<NamedTensor> arrays;
  for (const StepVector& vector : vectors_of(steps)) {
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

// The JSON array that holds the numbers of a stage.
std::string_view array_of_stage(std::string_view stage) {
  constexpr std::pair<std::string_view, std::string_view> kArrays[] = {
      {"Query", "q"},
      {"Keys", "k"},
      {"Products", "products"},
      {"Scores", "scores"},
      {"Scaled", "scaled"},
      {"Biased", "bias"},
      {"Capped", "capped"},
      {"Masked", "masked"},
      {"Softmax", "weights"},
      {"Values", "v"},
      {"Weighted sum", "weighted_sum"},
      {"Output", "output"}};
  for (const auto& [name, array] : kArrays) {
    if (name == stage) return array;
  }
  FOVEA_ASSERT(false);
  return "";
}

Json stages_json(const StepsFigure& figure) {
  Json stages = Json::array();
  for (const StepsStage& stage : figure.stages) {
    stages.push_back(Json::object({{"name", stage.name},
                                   {"formula", stage.formula},
                                   {"numbers", std::string(array_of_stage(stage.name))}}));
  }
  return stages;
}

// The one column of the row, with its products and what it passes on.
Json step_pair_json(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  const int64_t column = *view.to;
  const auto at = static_cast<size_t>(column);
  const std::optional<int64_t> rank = steps.rank_of(column);
  std::vector<double> passed;
  for (const double value : steps.v.row(column)) passed.push_back(steps.weights[at] * value);
  Json pair = Json::object({{"column", column},
                            {"token", view.cols.positions[at].text},
                            {"hidden", !rank},
                            {"k", Json::array_of(steps.k.row(column))},
                            {"products", Json::array_of(steps.products.row(column))},
                            {"score", steps.scores[at]},
                            {"scaled", steps.scaled[at]}});
  if (!steps.bias.empty()) pair.set("bias", steps.bias[at]);
  if (!steps.capped.empty()) pair.set("capped", steps.capped[at]);
  pair.set("masked", rank ? Json(steps.masked[at]) : Json());
  pair.set("weight", steps.weights[at]);
  pair.set("captured", steps.captured[at]);
  pair.set("rank", rank ? Json(*rank) : Json());
  pair.set("v", Json::array_of(steps.v.row(column)));
  pair.set("weighted_value", Json::array_of(passed));
  return pair;
}

// The weights of the same q and k under other similarities.
Json others_json(const ModelStepsView& view) {
  Json others = Json::array();
  for (const ModelSteps& other : view.others) {
    others.push_back(Json::object({{"compared_by", std::string(name_of(*other.similarity))},
                                   {"note", std::string(kNotTheModel)},
                                   {"scores", Json::array_of(other.scores)},
                                   {"weights", Json::array_of(other.weights)}}));
  }
  return others;
}

// All but the arrays, which are put in when the facts are written.
Json steps_result(const ModelStepsView& view, const StepsFigure& figure, bool captured) {
  const ModelSteps& steps = view.steps;
  const AttentionShape& shape = steps.shape;
  Json result = Json::object({{"row", steps.row},
                              {"token", view.rows.positions[static_cast<size_t>(steps.row)].text},
                              {"row_axis", view.rows.name},
                              {"cols", position_texts(view.cols)}});
  if (view.picture) {
    const Picture& picture = view.picture->picture;
    result.set("picture", Json(Json::Array{picture.width, picture.height}));
  }
  result.set("defaults", Json::array_of(view.defaults));
  result.set("kv_head", steps.kv_head);
  result.set("heads", shape.heads);
  result.set("compared_by", view.similarity_name());
  if (steps.similarity) result.set("note", std::string(kNotTheModel));
  if (!captured) result.set("rotary", view.rotary);  // else nobody knows
  result.set("scale", steps.scale);
  if (!steps.capped.empty()) result.set("soft_cap", double{view.rule.soft_cap});
  if (view.to) result.set("pair", step_pair_json(view));
  result.set("sum", steps.sum);
  if (!steps.similarity) result.set("map_difference", steps.map_difference);
  if (steps.output_difference) result.set("output_difference", *steps.output_difference);
  if (!view.others.empty()) result.set("others", others_json(view));
  result.set("stages", stages_json(figure));
  return result;
}

// The row of weights.
MapData row_data(const ModelStepsView& view, const FigureText& text) {
  MapData data{.rows = {.name = view.rows.name}, .cols = view.cols, .text = text};
  data.rows.positions = {view.rows.positions[static_cast<size_t>(view.steps.row)]};
  const std::vector<double>& weights = view.steps.weights;
  data.weights = Tensor::from({int64_t{1}, static_cast<int64_t>(weights.size())},
                              std::vector<float>(weights.begin(), weights.end()));
  return data;
}

Answer answer_steps(const Question& question, const FinishedRun& run) {
  const ModelStepsView view = steps_view(question, run);
  StepsFigure figure = model_steps_figure(view);
  Answer answer;
  answer.facts = place_facts(view.steps.site, {HeadChoice::Kind::kOne, view.steps.head});
  answer.facts.set("result", steps_result(view, figure, run.engine() == nullptr));
  answer.arrays = [steps = view.steps] { return step_arrays(steps); };
  if (!view.steps.block) {
    answer.notes.emplace_back(
        "the run was captured without the blocks around its attention: what the head adds to the "
        "token is not known");
  }
  if (view.others.empty()) {
    answer.numbers = row_data(view, figure.text);
    answer.figure = std::move(figure);
    return answer;
  }
  const MatrixFigure compared = model_similarities_figure(view);
  answer.figure = compared;
  answer.numbers_apart = [compared] { return data_of(compared); };
  return answer;
}

}  // namespace

QuestionKind steps_question() {
  FieldInfo head = head_field({"mean"}), token = token_field(), to = at_field();
  head.shown = "N";
  head.help = "which head, from 0";
  head.words.clear();
  head.otherwise = "0; of a translation the one that its alignment is read from";
  token.help =
      "the query: a token by its text or its number from 0; of a decoder what it reads "
      "there; of a picture [CLS], \"[REG 1]\" or \"patch 3,7\"";
  token.otherwise = "a word of the text, the last of a causal model; [CLS] of a picture";
  FieldInfo to_token = token;
  to.name = "to";
  to.help = "a pair: the patch or cell at this pixel, as the key";
  to.rules = {{.excludes = "to_token", .why = "chooses a patch"}};
  to_token.name = "to_token";
  to_token.help = "a pair: the token that is looked at, the key, named as the query is";
  to_token.otherwise = "the whole row";
  const auto whole_rows = [](const char* other) {
    return FieldRule{.excludes = other, .why = "compares whole rows", .at = "all"};
  };
  return {.name = "steps",
          .summary = "one token or one pair step by step: q, k, products, scores, softmax, sum",
          .fields = {site_field(),
                     layer_field(),
                     head,
                     patch_field(/*beside_token=*/true),
                     token,
                     to,
                     to_token,
                     {.name = "similarity",
                      .shown = "NAME",
                      .help = "how a query is compared with a key, which is then not what the "
                              "model computed; all: beside each other",
                      .type = FieldType::kChoice,
                      .words = {"dot", "cosine", std::string(kAllSimilarities)},
                      .otherwise = "the model's own way",
                      .rules = {whole_rows("to"), whole_rows("to_token")}}},
          .verbs = {"steps"},
          .has_page = false,
          .site =
              [](const Question& question, const Engine& engine, bool sees_picture) {
                return usual_steps_site(question.place, engine.facts(), sees_picture);
              },
          .check_input = check_steps_pixels,
          .needs = [](const Question&,
                      const OpenedInput&) { return RunNeeds{.blocks = true, .outputs = true}; },
          .answer = answer_steps};
}

}  // namespace fovea
