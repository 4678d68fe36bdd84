#include "fovea/cli/explain/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/explain/position.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/site_options.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {
namespace {

// Whether the answer is watched while the explanation is checked.
bool checks(const Args& args) {
  return args.flag("check") || args.flag("compare");
}

std::string_view default_explain_model(const GivenInput& given, const Args& args) {
  const bool two_stacks =
      (args.has("method") && args["method"] == "alti+") || names_two_stacks(args);
  if (given.kind == GivenInput::Kind::kPicture) {
    return two_stacks || args.has("query") ? kDefaultDetectionModel : kDefaultPictureModel;
  }
  return two_stacks || args.has("target") ? kDefaultTranslationModel : kDefaultTextModel;
}

// What the decoder reads of the source is what most methods are about; those that go through a
// stack begin with the encoder.
SiteKind question_kind(const Args& args, const ExplainQuestion& question, bool sees_picture) {
  const Engine& engine = *question.engine;
  const ModelFacts& facts = engine.facts();
  if (args.has("site")) return chosen_site(args, engine, sees_picture);
  if (facts.has_decoder() || facts.finds_objects()) {
    const bool cells = args.has("at") && facts.finds_objects();
    return question.method.needs.one_stack || cells ? SiteKind::kEncoderSelf : SiteKind::kCross;
  }
  const SiteKind kind = chosen_site(args, engine, sees_picture);
  const bool stack = question.method.needs.one_stack || question.method.needs.target;
  return kind == SiteKind::kPool && stack ? sites_of(facts, sees_picture).front() : kind;
}

struct NamedTargets {
  NamedTarget target;
  std::optional<NamedTarget> against;
};

bool embeds(const Engine& engine) {
  const HeadKind head = engine.facts().head;
  return head == HeadKind::kNone || head == HeadKind::kSimilarity;
}

// What --class or --against names. To be similar to, a model that sees pictures takes a picture
// file as well as a text.
TargetChoice named_choice(const Engine& engine, TargetChoice choice, const char* option,
                          const std::string& name) {
  choice.name = name;
  const ModelFacts& facts = engine.facts();
  if (!embeds(engine)) return choice;
  const bool takes_file = facts.takes_pixels() && (names_picture(name) || !facts.takes_text());
  if (takes_file && file_exists(name)) {
    choice.similar_to = read_picture_input(engine, name).input;
  } else if (facts.takes_text()) {
    check_is_text(fmt::format("--{}", option), name);
  } else {
    fail(ErrorKind::kInvalidArgument,
         "'{}' is to be compared with but is no file, and {} sees pictures only; give a picture "
         "file",
         name, engine.name());
  }
  return choice;
}

NamedTargets named_targets(const Args& args, const ExplainQuestion& question, int64_t position) {
  const Engine& engine = *question.engine;
  TargetChoice choice{.position = position};
  if (args.has("query")) choice.query = args.integer("query");
  // Of a model that embeds, the one that is given is what to be similar to.
  const bool alone = embeds(engine) && args.has("against") && !args.has("class");
  const char* asked = alone ? "against" : "class";
  NamedTargets found{
      named_target(engine, question.result,
                   args.has(asked) ? named_choice(engine, choice, asked, args[asked]) : choice),
      {}};
  if (alone || !args.has("against")) return found;
  if (const auto* box = std::get_if<BoxTarget>(&found.target.target)) choice.query = box->query;
  found.against = named_target(engine, question.result,
                               named_choice(engine, choice, "against", args["against"]));
  if (found.against->name == found.target.name) {
    fail(ErrorKind::kInvalidArgument,
         "--against is '{}', which is what is asked about: {}; name another", args["against"],
         found.target.name);
  }
  return found;
}

void set_targets(const Args& args, ExplainQuestion& question) {
  if (question.method.needs.target) {
    NamedTargets found = named_targets(
        args, question,
        cuts_edges(question.parameters) ? answer_position(question) : question.position);
    question.target = std::move(found.target);
    question.against = std::move(found.against);
  }
  if (!checks(args)) return;
  if (question.target) {
    question.watched = question.target;
    question.watched_against = question.against;
  } else {
    NamedTargets found = named_targets(args, question, answer_position(question));
    question.watched = std::move(found.target);
    question.watched_against = std::move(found.against);
  }
}

// Whether every position has an answer of its own.
bool answers_everywhere(const ModelFacts& facts) {
  return facts.head == HeadKind::kMaskedLm || facts.head == HeadKind::kCausalLm ||
         facts.head == HeadKind::kTokenClass || facts.head == HeadKind::kTargetWords;
}

// The positions that the columns of the question's maps will be; none where only the run tells.
const Axis* columns_before(const ExplainQuestion& question, const EncodedInput& input) {
  const bool cells = !input.patches.positions.empty() && question.kind != SiteKind::kTextSelf;
  const Axis& axis = question.kind == SiteKind::kDecoderSelf ? input.target
                     : cells                                 ? input.patches
                                                             : input.axis;
  return axis.positions.empty() ? nullptr : &axis;
}

// Why the scores could not be graded, whatever they will be; empty: nothing is known against it.
std::string refuses_check(const ExplainQuestion& question, const Axis* columns) {
  if (scores_heads(question.method, question.parameters)) return refuses_card({.name = "heads"});
  if (question.kind == SiteKind::kDecoderSelf && finds_objects(question)) {
    return refuses_card({.name = "queries"});
  }
  return columns == nullptr ? "" : refuses_card(*columns);
}

// What would be refused after the run is refused before it.
void check_before_run(const Args& args, const ExplainQuestion& question,
                      const EncodedInput& input) {
  const Axis* columns = columns_before(question, input);
  if (columns != nullptr) {
    check_positions(question.method, static_cast<int64_t>(columns->positions.size()));
  }
  if (!checks(args)) return;
  if (const std::string reason = refuses_check(question, columns); !reason.empty()) {
    fail(ErrorKind::kUnsupported, "{} cannot be checked: {}", question.method.name, reason);
  }
}

// What the run must give, beside the maps.
RunOptions how_to_run(const Args& args, const ExplainQuestion& question) {
  const Method& method = question.method;
  const ModelFacts& facts = question.engine->facts();
  RunOptions how;
  how.record.values = method.needs.block;
  how.record.block = method.needs.block;
  if (method.needs.gradient) {
    how.record.wanted = [](SiteId site) { return site.layer == 0; };
  }
  if (method.needs.target || checks(args) || facts.finds_objects()) {
    how.logits = logits_for_target(*question.engine, /*last=*/!args.has("token"));
  } else if (facts.head == HeadKind::kSequenceClass || facts.head == HeadKind::kPictureClass) {
    how.logits = LogitRows::kAll;  // cheap, and people want to know what it said
  }
  return how;
}

}  // namespace

void check_question(const Args& args) {
  const std::vector<Method> methods = chosen_methods(args);
  if (args.flag("compare")) {
    check_known_parameters(args, methods);
  } else if (args.has("method") && methods.size() > 1) {
    fail(ErrorKind::kInvalidArgument,
         "--method names {} methods but one is asked; give --compare to see them side by side",
         methods.size());
  }
  const GivenInput given = given_input(args, InputKinds::kRuns);
  if (given.kind == GivenInput::Kind::kRun) check_run_args(given, args);
  if (args.has("at")) parse_pixel(args["at"]);
}

Engine open_for_question(const GivenInput& given, const Args& args) {
  return open_engine(args, default_explain_model(given, args));
}

bool has_decoder(const ExplainQuestion& question) {
  if (question.engine) return question.engine->facts().has_decoder();
  const Axis* target = question.result.run.find_axis("target");
  return question.result.run.find_axis("steps") != nullptr && target != nullptr &&
         !target->positions.empty();
}

bool finds_objects(const ExplainQuestion& question) {
  if (question.engine) return question.engine->facts().finds_objects();
  return question.result.run.find_axis("queries") != nullptr;
}

bool is_causal(const ExplainQuestion& question) {
  if (question.engine) return question.engine->facts().text_stack().causal;
  return std::ranges::any_of(question.result.run.records, [&](const auto& record) {
    return record->site.kind == question.kind && record->rule.mask.ahead == 0;
  });
}

void refuse_what_is_not_asked(const Args& args, const ExplainQuestion& question) {
  const Method& method = question.method;
  const bool edges = cuts_edges(question.parameters);
  const auto refuse = [&](const char* option, bool used, std::string_view why) {
    if (args.has(option) && !used) {
      fail(ErrorKind::kInvalidArgument, "--{} is given but {}; leave it out", option, why);
    }
  };
  const std::string no_answer =
      fmt::format("{} asks nothing about the model's answer", method.name);
  const bool asks = method.needs.target || checks(args);
  refuse("class", asks, no_answer);
  refuse("against", asks, no_answer);
  refuse("span", method.needs.span, fmt::format("{} asks about no stretch", method.name));
  refuse("query", finds_objects(question), "the model finds no objects");
  const std::string no_row = fmt::format("{} asks from no position", method.name);
  const bool at_every_position = question.engine && answers_everywhere(question.engine->facts());
  refuse("token", method.needs.position || (asks && at_every_position) || edges, no_row);
  refuse("at", method.needs.position || edges, no_row);
  refuse("layer", method.takes_layer, fmt::format("{} goes through all layers", method.name));
  const bool one_head = args.has("head") && args["head"] != "mean";
  refuse("head", method.takes_head || !one_head, fmt::format("{} takes all heads", method.name));
}

void set_layer_and_head(const Args& args, ExplainQuestion& question) {
  if (args.has("layer")) question.layer = args.integer("layer");
  if (args.has("head") && args["head"] != "mean") {
    question.head = parse_integer("--head", args["head"]);
  }
}

void set_position(const Args& args, ExplainQuestion& question) {
  const FoundToken row = chosen_row(args, question);
  question.position = row.index;
  if (!row.note.empty()) question.notes.push_back(row.note);
  if (question.method.needs.position || args.has("token") || args.has("at")) {
    question.position_name = position_name(question);
  }
  if (args.has("span")) {
    question.span = span_named(columns_of(question.result.run, question.kind), args["span"]);
  }
}

ExplainQuestion read_question(const GivenInput& given, const Args& args, const Engine& engine,
                              const Method& method) {
  ExplainQuestion question{.engine = engine, .method = method};
  question.parameters = parameters_for(args, method);
  refuse_what_is_not_asked(args, question);
  question.picture = find_picture_input(engine, given, args);
  const bool sees_picture = question.picture || gives_pixels(args, engine);
  check_row_options(args, engine, question.picture.has_value());
  question.kind = question_kind(args, question, sees_picture);
  check_layer(args, engine, question.kind);
  check_head(args, engine, question.kind);
  check_query(args, engine);
  set_layer_and_head(args, question);
  question.how = how_to_run(args, question);
  const auto check = [&](const EncodedInput& input) { check_before_run(args, question, input); };
  if (question.picture) check(question.picture->input);
  question.result = question.picture ? run_picture(engine, *question.picture, question.how)
                                     : run_input(engine, given, args, question.how, check);
  set_position(args, question);
  set_targets(args, question);
  return question;
}

EngineSubject subject_of(const ExplainQuestion& question) {
  const Tensor& logits = question.result.outputs.logits.tensor;
  const bool last = logits.rank() == 2 && logits.size(0) == 1;
  const bool asks = question.target || question.watched;
  const Engine& engine = *question.engine;
  return {engine, engine.label(question.result.inputs),
          asks ? logits_for_target(engine, last) : LogitRows::kNone};
}

Explanation answer(const ExplainQuestion& question) {
  std::optional<EngineSubject> subject;
  if (question.engine) subject.emplace(subject_of(question));
  ExplainRequest request{.run = question.result.run,
                         .kind = question.kind,
                         .position = question.position,
                         .layer = question.layer,
                         .head = question.head,
                         .span = question.span,
                         .subject = subject ? &*subject : nullptr,
                         .target = question.target ? &question.target->target : nullptr,
                         .against = question.against ? &question.against->target : nullptr,
                         .parameters = question.parameters};
  return explain(question.method, request);
}

Explanation answer_of(const Engine& engine, const ExplainQuestion& question) {
  ExplainQuestion other = question;
  other.engine = engine;
  other.result = engine.run(engine.label(question.result.inputs), question.how);
  return answer(other);
}

}  // namespace fovea
