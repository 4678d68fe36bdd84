#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/places.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/steps_view.h"
#include "fovea/ask/vectors.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/run_input.h"
#include "fovea/io/npz.h"

namespace fovea {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;

// Exactly one of a model's input and a file of vectors, and no option of the other.
void check_args(const Args& args) {
  const bool vectors = args.has("vectors");
  const bool input = args.has("INPUT") || args.has("text-file") || args.has("inputs");
  if (vectors == input) {
    fail(ErrorKind::kInvalidArgument,
         "steps takes a text, a picture or a captured run (INPUT, --text-file or --inputs) or "
         "--vectors FILE.json "
         "and was given "
         "{}; see `fovea steps --help`",
         vectors ? "both" : "neither");
  }
  if (args.has("INPUT") && args["INPUT"].ends_with(".json") &&
      args["INPUT"].find(' ') == std::string::npos) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is '{0}' but should be a text or a picture; did you mean '--vectors {0}'?",
         args["INPUT"]);
  }
  const std::vector<std::string_view> foreign =
      vectors ? std::vector<std::string_view>{"model", "layer", "pair", "target",  "site",
                                              "from",  "to",    "size", "to-token"}
              : std::vector<std::string_view>{"temperature", "column"};
  for (const std::string_view name : foreign) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument, "--{} does not go with {}; leave one of them out", name,
           vectors ? "--vectors" : "the input of a model");
    }
  }
}

// Checks the file that steps are written to.
void check_steps_out(const Args& args) {
  if (!args.has("out")) return;
  const std::string suffix = lower_suffix(args["out"]);
  if (suffix == ".json" || suffix == ".npz" || is_figure_suffix(args["out"])) return;
  fail(ErrorKind::kInvalidArgument,
       "--out is '{}' but steps are written to .json, .npz, .png, .svg, .pdf; give one of these "
       "suffixes",
       args["out"]);
}

void run_vectors(const Args& args) {
  if (args.has("similarity") && args["similarity"] == kAllSimilarities) {
    fail(ErrorKind::kInvalidArgument,
         "--similarity all compares q and k of a model but --vectors is given; take one of {}",
         fmt::join(similarity_names(), ", "));
  }
  Json question = Json::object();
  set_given(question, args, vector_fields());
  const std::string& file = args["vectors"];
  const auto steps = std::make_shared<const VectorSteps>(
      ask_vectors(read_text_file(file, kLargestFile), file, question));
  show({.figure = vector_weights_figure(steps->problem, steps->result, steps->view),
        .json = [steps] { return vectors_json(*steps); },
        .write_data = [steps](const auto& path) { write_npz(path, vectors_arrays(*steps)); },
        .told = vector_steps_figure(steps->problem, steps->result, steps->view)},
       args);
}

// For a picture, --to is the other patch; for a text, the language to translate into.
Question steps_question(const Args& args, const GivenInput& given) {
  std::vector<FieldInfo> fields = question_kind_named("steps").fields;
  const bool picture =
      given.kind == GivenInput::Kind::kPicture || given.kind == GivenInput::Kind::kRun;
  if (!picture) std::erase_if(fields, [](const FieldInfo& field) { return field.name == "to"; });
  Json json = Json::object({{"kind", "steps"}});
  set_given(json, args, fields);
  return parse_question(json);
}

// Keeps the one layer that is asked about, of every attention: of a long text all others would fill
// the memory for nothing.
Session run_session(const GivenInput& given, const Args& args, const Question& question) {
  const bool target = args.has("target") && given.kind != GivenInput::Kind::kPicture;
  Engine engine =
      open_engine(args, default_model_for(given, target || is_of_two_stacks(question.place.site)));
  if (args.has("to") && given.kind != GivenInput::Kind::kPicture && !engine.facts().has_decoder()) {
    fail(ErrorKind::kInvalidArgument,
         "--to is a language to translate into but {} has no decoder; the key of a pair is named "
         "with --to-token",
         engine.name());
  }
  const bool translates = engine.facts().has_decoder() && !question.place.head;
  const auto wanted = [facts = engine.facts(), layer = question.place.layer,
                       translates](SiteId site) {
    // The head of an alignment is chosen among all.
    if (translates && site.kind == SiteKind::kCross) return true;
    return site.layer == layer.value_or(size_of(facts, site.kind).layers - 1);
  };
  return open_session(args, given, std::move(engine), question, {.wanted = wanted});
}

// The answer with what the program can say of its defaults: which options choose others.
Answer with_options(Answer answer) {
  auto* figure = std::get_if<StepsFigure>(&answer.figure);
  const Json& result = answer.facts.at("result", "an answer");
  std::vector<std::string> defaults;
  for (const Json& each : result.at("defaults", "an answer").as_array("an answer")) {
    defaults.push_back(each.as_string("an answer"));
  }
  if (figure == nullptr || defaults.empty()) return answer;
  const auto fact =
      std::ranges::find(figure->facts, fmt::format("By default {}", fmt::join(defaults, ", ")));
  if (fact == figure->facts.end()) return answer;
  *fact += result.find("picture") != nullptr ? " · --layer, --head, --at and --token choose others"
                                             : " · --layer, --head and --token choose others";
  return answer;
}

void run_model(const Args& args) {
  if (args.has("similarity") &&
      (args["similarity"] == "scaled" || args["similarity"] == "additive")) {
    fail(ErrorKind::kInvalidArgument,
         "--similarity is '{}' but q and k of a model are compared by dot, cosine or all; leave it "
         "out for the model's own way, or use --vectors",
         args["similarity"]);
  }
  const GivenInput given = given_input(args, InputKinds::kRuns);
  const Question question = steps_question(args, given);
  const bool captured = given.kind == GivenInput::Kind::kRun;
  if (captured) refuse_model_options(args, given, {"model", "size", "pair", "target", "from"});
  const Session session =
      captured ? open_run_file(given.value, args) : run_session(given, args, question);
  const Answer answer = session.ask(question);
  print_warnings(answer.notes);
  show(content_of(with_options(answer)), args);
}

void run_steps(const Args& args) {
  check_args(args);
  check_outputs(args);
  check_steps_out(args);
  check_out_suffix(args);
  args.has("vectors") ? run_vectors(args) : run_model(args);
}

std::vector<std::string> similarity_choices() {
  std::vector<std::string> choices = similarity_names();
  choices.emplace_back(kAllSimilarities);
  return choices;
}

// Beside a text --to is a language, beside a picture a pixel.
std::vector<Option> model_input_options() {
  std::vector<Option> options = joined(input_options(), input_field_options({"size"}));
  Option& to = *std::ranges::find(options, "to", &Option::name);
  to.placeholder = "X,Y|CODE";
  to.help =
      "with a picture the key of one pair: the patch at this pixel; with a text the language to "
      "translate into, for models that know several";
  return options;
}

std::vector<Option> steps_options() {
  return {
      Option::text("vectors", "FILE.json", "vectors of your own instead of a model, see below"),
      option_of(computed_site_field()),
      Option::text("token", "WORD|i",
                   "the query, by its text or its number from 0; of a decoder the word that it "
                   "reads there; of a picture [CLS], \"[REG 1]\" or \"patch 3,7\""),
      Option::text("to-token", "WORD|i",
                   "one pair: the key that the query is compared with, named as --token is"),
      Option::integer("layer", "N", "which layer of a model, from 0 (default: the last)", 0),
      Option::integer("head", "N",
                      "from 0 (default: 0; of a translation the aligning one; of vectors all)", 0),
      Option::choice("similarity", similarity_choices(),
                     "how a query is compared with a key: dot or cosine instead of the "
                     "model's own way, or all three; of vectors scaled, dot, cosine or "
                     "additive, scaled unless it is a memory (dot)"),
      Option::real("temperature", "T",
                   "with vectors: divides the scores before softmax; 0 takes the best key only "
                   "(default: 1)",
                   0),
      Option::flag("column", "who attends to it, with vectors and --token or --at"),
      Option::text("at", "X,Y",
                   "the patch at this pixel of a picture (default: [CLS]); with vectors the "
                   "pixel itself (default: the centre)"),
      Option::flag("json", "print every number as JSON"),
      Option::text("out", "FILE", "write a file instead: .json, .npz, .png, .svg or .pdf")};
}

}  // namespace

Command steps_command() {
  return {.name = "steps",
          .summary = "attention step by step with the real numbers: Q, K, V, scores, softmax, sum",
          .details =
              "With INPUT: one token of a model, from its q, k and v to what the head adds, or\n"
              "with --to-token (of a picture --to) one pair. A model of pictures takes a\n"
              "picture file; its tokens are [CLS] and the patches. A captured run serves too.\n"
              "With --vectors: FILE.json holds one of\n"
              "  inputs   a list of vectors, and source, another list, for cross-attention\n"
              "  image    {height, width, pixels}, one vector per pixel\n"
              "  memory   {keys, values}, read by query or queries, hard and soft\n"
              "and may hold title, labels, source_labels, heads, scale, mask (\"causal\" or rows\n"
              "of 0 and 1), Wq Wk Wv Wo (one row per number that comes in; left out: identity),\n"
              "bq bk bv bo, and for additive similarity Wa_q Wa_k v.\n"
              "\n"
              "Vectors are rows: q = x Wq. Rows of weights are queries, columns are keys.\n"
              "\n"
              "examples:\n"
              "  fovea steps \"The cat sat on the mat.\" --token cat --layer 2 --head 5\n"
              "  fovea steps \"The cat sat on the mat.\" --token mat --to-token cat\n"
              "  fovea steps \"The cat sat on the mat.\" --token cat --out steps.png\n"
              "  fovea steps \"The cat sat on the mat.\" --similarity all\n"
              "  fovea steps \"I love music.\" --target \"J'aime la musique.\" --token musique\n"
              "  fovea steps photo.jpg --at 120,80 --head 2\n"
              "  fovea steps photo.jpg --at 120,80 --to 40,60\n"
              "  fovea steps --vectors examples/four_words.json\n"
              "  fovea steps --vectors examples/four_words.json --token sleep --head 1\n"
              "  fovea steps --vectors examples/memory.json --temperature 0.5\n"
              "  fovea steps --vectors examples/picture.json --at 7,1 --out weights.png\n",
          .positionals = {{.name = "INPUT",
                           .help = "the text, in quotes, a picture file for a model that sees "
                                   "pictures, or a captured run",
                           .required = false}},
          .options = joined(
              joined(model_options(kDefaultTextModel), model_input_options()),
              joined(steps_options(), map_options({"colors", "pixels", "svg-text", "sidecar"}))),
          .run = run_steps};
}

}  // namespace fovea
