#include "fovea/ask/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/explanation_place.h"
#include "fovea/ask/places.h"
#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/vision/decode.h"

namespace fovea {
namespace {

// Whether every position has an answer of its own.
bool answers_everywhere(const ModelFacts& facts) {
  return facts.head == HeadKind::kMaskedLm || facts.head == HeadKind::kCausalLm ||
         facts.head == HeadKind::kTokenClass || facts.head == HeadKind::kTargetWords;
}

// A field that would change nothing is a misunderstanding.
void refuse_what_is_not_asked(const Question& question, const Method& method,
                              const GivenParameters& parameters, bool has_objects,
                              bool at_every_position) {
  const Place& place = question.place;
  const auto refuse = [](std::string_view field, bool given, bool used, std::string_view why) {
    if (given && !used) fail(ErrorKind::kInvalidArgument, Field{field}, "{}; leave it out", why);
  };
  const auto has = [&](std::string_view field) { return question.fields.find(field) != nullptr; };
  const bool edges = cuts_edges(parameters);
  const bool asks = method.needs.target || question.flag("check");
  const std::string no_answer =
      fmt::format("{} asks nothing about the model's answer", method.name);
  refuse("class", has("class"), asks, no_answer);
  refuse("against", has("against"), asks, no_answer);
  refuse("span", has("span"), method.needs.span,
         fmt::format("{} asks about no stretch", method.name));
  refuse("query", place.query.has_value(), has_objects, "the model finds no objects");
  const std::string no_row = fmt::format("{} asks from no position", method.name);
  refuse("token", place.token.has_value(),
         method.needs.position || (asks && at_every_position) || edges, no_row);
  refuse("at", !place.at.empty(), method.needs.position || edges, no_row);
  refuse("layer", place.layer.has_value(), method.takes_layer,
         fmt::format("{} goes through all layers", method.name));
  const bool one_head = place.head && place.head->kind == HeadChoice::Kind::kOne;
  refuse("head", one_head, method.takes_head, fmt::format("{} takes all heads", method.name));
}

// The positions that the columns of the maps will be; none where only the run tells.
const Axis* columns_before(SiteKind kind, const EncodedInput& input) {
  const bool cells = !input.patches.positions.empty() && kind != SiteKind::kTextSelf;
  const Axis& axis = kind == SiteKind::kDecoderSelf ? input.target
                     : cells                        ? input.patches
                                                    : input.axis;
  return axis.positions.empty() ? nullptr : &axis;
}

// Why the scores could not be graded, whatever they will be; empty: nothing is known against it.
std::string refuses_check(const Method& method, const GivenParameters& parameters, SiteKind kind,
                          const ModelFacts& facts, const Axis* columns) {
  if (scores_heads(method, parameters)) return refuses_card({.name = "heads"});
  if (kind == SiteKind::kDecoderSelf && facts.finds_objects()) {
    return refuses_card({.name = "queries"});
  }
  return columns == nullptr ? "" : refuses_card(*columns);
}

// How the question names an answer. To be similar to, a model that sees pictures takes a picture
// given with the question, or a text.
TargetChoice named_choice(const Question& question, const Engine& engine, TargetChoice choice,
                          const char* field) {
  choice.name = question.word(field);
  if (!choice.name || !embeds(engine.facts())) return choice;
  const auto picture = question.pictures.find(*choice.name);
  if (picture != question.pictures.end()) {
    const PictureBytes& file = picture->second;
    choice.similar_to =
        picture_input(engine, decode_picture(as_bytes(file.bytes), file.name).picture).input;
  } else if (!engine.facts().takes_text()) {
    fail(ErrorKind::kInvalidArgument, Field{field},
         "'{}' is to be compared with but {} sees pictures only; give a picture", *choice.name,
         engine.name());
  }
  return choice;
}

struct NamedTargets {
  NamedTarget target;
  std::optional<NamedTarget> against;
};

NamedTargets named_targets(const Question& question, const AskedExplanation& asked,
                           int64_t position) {
  const Engine& engine = *asked.engine();
  TargetChoice choice{.position = position, .query = question.place.query};
  const auto against = question.word("against");
  // In a model that embeds, "against" alone names what to be similar to.
  const bool alone = embeds(engine.facts()) && against && !question.word("class");
  NamedTargets found{
      named_target(engine, asked.result(),
                   named_choice(question, engine, choice, alone ? "against" : "class")),
      {}};
  if (alone || !against) return found;
  if (const auto* box = std::get_if<BoxTarget>(&found.target.target)) choice.query = box->query;
  found.against =
      named_target(engine, asked.result(), named_choice(question, engine, choice, "against"));
  if (found.against->name == found.target.name) {
    fail(ErrorKind::kInvalidArgument, Field{"against"},
         "'{}' is what is asked about: {}; name another", *against, found.target.name);
  }
  return found;
}

void set_targets(const Question& question, AskedExplanation& asked) {
  if (asked.method.needs.target) {
    NamedTargets found = named_targets(
        question, asked, cuts_edges(asked.parameters) ? answer_position(asked) : asked.position);
    asked.target = std::move(found.target);
    asked.against = std::move(found.against);
  }
  if (!question.flag("check")) return;
  if (asked.target) {
    asked.watched = asked.target;
    asked.watched_against = asked.against;
  } else {
    NamedTargets found = named_targets(question, asked, answer_position(asked));
    asked.watched = std::move(found.target);
    asked.watched_against = std::move(found.against);
  }
}

void set_place(const Question& question, AskedExplanation& asked) {
  const Place& place = question.place;
  asked.layer = place.layer;
  if (place.head && place.head->kind == HeadChoice::Kind::kOne) asked.head = place.head->head;
  const FoundToken row = explained_row(question, asked);
  asked.position = row.index;
  if (!row.note.empty()) asked.notes.push_back(row.note);
  if (asked.method.needs.position || place.token || !place.at.empty()) {
    asked.position_name = position_name(asked);
  }
  if (const auto span = question.word("span")) {
    asked.span = span_named(columns_of(asked.result().run, asked.kind), *span);
  }
}

AskedExplanation asked_of_captured(const Question& question, const FinishedRun& finished) {
  if (question.flag("check")) {
    fail(ErrorKind::kInvalidArgument, Field{"check"},
         "it runs the model again but a captured run holds maps alone; give the text or picture "
         "itself");
  }
  if (!question.place.at.empty()) {
    fail(ErrorKind::kInvalidArgument, Field{"at"},
         "it is a pixel of a picture file but this is a captured run; name a patch with `token`, "
         "\"patch 3,7\" say");
  }
  const Run& run = finished.run();
  AskedExplanation asked{.run = &finished, .method = method_asked(question, run)};
  asked.parameters = parameters_asked(question, asked.method);
  asked.kind = explained_site(question, run);
  check_needs(asked.method, {.run = run, .kind = asked.kind, .parameters = {}});
  refuse_what_is_not_asked(question, asked.method, asked.parameters, finds_objects(asked),
                           /*at_every_position=*/false);
  asked.picture = captured_picture(run, columns_of(run, asked.kind));
  set_place(question, asked);
  return asked;
}

}  // namespace

void check_explanation(const Question& question, const OpenedInput& opened) {
  const Engine& engine = opened.engine;
  const ModelFacts& facts = engine.facts();
  const Method method = method_asked(question, facts);
  const GivenParameters parameters = parameters_asked(question, method);
  refuse_what_is_not_asked(question, method, parameters, facts.finds_objects(),
                           answers_everywhere(facts));
  if (!question.place.at.empty() && !opened.picture) {
    fail(ErrorKind::kInvalidArgument, Field{"at"},
         "it is a pixel of a picture but {} is given a text; choose a word with `token`",
         engine.name());
  }
  const bool pictures = looks_at_picture(question.place, opened);
  check_place(question, engine, pictures);
  const SiteKind kind = explained_site(question, engine, pictures);
  const Axis* columns = columns_before(kind, opened.encoded);
  if (columns != nullptr) {
    check_positions(method, static_cast<int64_t>(columns->positions.size()));
  }
  if (!question.flag("check")) return;
  const std::string reason = refuses_check(method, parameters, kind, facts, columns);
  if (reason.empty()) return;
  fail(ErrorKind::kUnsupported, "{} cannot be checked: {}", method.name, reason);
}

RunNeeds explanation_needs(const Question& question, const OpenedInput& opened) {
  const ModelFacts& facts = opened.engine.facts();
  const MethodNeeds method = method_asked(question, facts).needs;
  RunNeeds needs{.blocks = method.block};
  if (method.gradient) needs.records = KeptRecords::kFirstLayers;
  if (method.target || question.flag("check") || facts.finds_objects()) {
    const LogitRows rows = logits_for_target(opened.engine, /*last=*/!question.place.token);
    needs.all_logits = rows == LogitRows::kAll;
    needs.last_logits = rows == LogitRows::kLast;
  }
  return needs;
}

AskedExplanation asked_explanation(const Question& question, const FinishedRun& run) {
  if (run.engine() == nullptr) return asked_of_captured(question, run);
  const OpenedInput& opened = *run.opened;
  AskedExplanation asked{.run = &run,
                         .needs = explanation_needs(question, opened),
                         .method = method_asked(question, opened.engine.facts())};
  asked.parameters = parameters_asked(question, asked.method);
  asked.kind = explained_site(question, opened.engine, looks_at_picture(question.place, opened));
  if (opened.picture) asked.picture = picture_seen(run);
  set_place(question, asked);
  set_targets(question, asked);
  return asked;
}

bool has_decoder(const AskedExplanation& asked) {
  if (asked.engine() != nullptr) return asked.engine()->facts().has_decoder();
  const Axis* target = asked.result().run.find_axis("target");
  return asked.result().run.find_axis("steps") != nullptr && target != nullptr &&
         !target->positions.empty();
}

bool finds_objects(const AskedExplanation& asked) {
  if (asked.engine() != nullptr) return asked.engine()->facts().finds_objects();
  return asked.result().run.find_axis("queries") != nullptr;
}

bool is_causal(const AskedExplanation& asked) {
  if (asked.engine() != nullptr) return asked.engine()->facts().text_stack().causal;
  return std::ranges::any_of(asked.result().run.records, [&](const auto& record) {
    return record->site.kind == asked.kind && record->rule.mask.ahead == 0;
  });
}

namespace {

EngineSubject subject_in(const Engine& engine, const RunResult& result,
                         const AskedExplanation& asked) {
  const Tensor& logits = result.outputs.logits.tensor;
  const bool last = logits.rank() == 2 && logits.size(0) == 1;
  const bool asks = asked.target || asked.watched;
  return {engine, engine.label(result.inputs),
          asks ? logits_for_target(engine, last) : LogitRows::kNone};
}

Explanation explained_in(const RunResult& result, const AskedExplanation& asked, Subject* subject) {
  const ExplainRequest request{.run = result.run,
                               .kind = asked.kind,
                               .position = asked.position,
                               .layer = asked.layer,
                               .head = asked.head,
                               .span = asked.span,
                               .subject = subject,
                               .target = asked.target ? &asked.target->target : nullptr,
                               .against = asked.against ? &asked.against->target : nullptr,
                               .parameters = asked.parameters};
  return explain(asked.method, request);
}

}  // namespace

EngineSubject subject_of(const AskedExplanation& asked) {
  return subject_in(*asked.engine(), asked.result(), asked);
}

Explanation explained(const AskedExplanation& asked) {
  if (asked.engine() == nullptr) return explained_in(asked.result(), asked, nullptr);
  EngineSubject subject = subject_of(asked);
  return explained_in(asked.result(), asked, &subject);
}

Explanation explained_by(const Engine& engine, const AskedExplanation& asked) {
  const RunResult result =
      engine.run(engine.label(asked.result().inputs), run_options(asked.needs));
  EngineSubject subject = subject_in(engine, result, asked);
  return explained_in(result, asked, &subject);
}

}  // namespace fovea
