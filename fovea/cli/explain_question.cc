#include "fovea/cli/explain_question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/suggest.h"

namespace fovea {
namespace {

// Whether the answer is watched while the explanation is checked.
bool checks(const Args& args) {
  return args.flag("check") || args.flag("compare");
}

std::string_view default_model(const Args& args) {
  const bool two_stacks =
      args.has("target") || (args.has("method") && args["method"] == "alti+") ||
      (args.has("site") &&
       (args["site"] == "encoder" || args["site"] == "decoder" || args["site"] == "cross"));
  if (args.has("INPUT") && names_picture(args["INPUT"])) {
    return two_stacks || args.has("query") ? kDefaultDetectionModel : kDefaultPictureModel;
  }
  return two_stacks ? kDefaultTranslationModel : kDefaultTextModel;
}

// What the decoder reads of the source is what most methods are about; those that go through a
// stack begin with the encoder.
SiteKind question_kind(const Args& args, const ExplainQuestion& question, bool sees_picture) {
  const ModelFacts& facts = question.engine.facts();
  if (args.has("site")) return chosen_site(args, question.engine, sees_picture);
  if (facts.has_decoder() || facts.finds_objects()) {
    const bool cells = args.has("at") && facts.finds_objects();
    return question.method.needs.one_stack || cells ? SiteKind::kEncoderSelf : SiteKind::kCross;
  }
  const SiteKind kind = chosen_site(args, question.engine, sees_picture);
  const bool stack = question.method.needs.one_stack || question.method.needs.target;
  return kind == SiteKind::kPool && stack ? sites_of(facts, sees_picture).front().kind : kind;
}

const AttentionRecord& any_record(const RunResult& result, SiteKind kind) {
  for (const auto& record : result.run.records) {
    if (record->site.kind == kind) return *record;
  }
  fail(ErrorKind::kNotFound, "the run has no maps of {}", to_string(SiteId{kind, 0}));
}

// Positions that hold something: no padding.
std::vector<int64_t> real_positions(const AttentionRecord& record, const Axis& axis) {
  const std::vector<uint8_t>& valid = record.rule.mask.key_valid;
  const bool says = is_self_attention(record.site.kind) && valid.size() == axis.positions.size();
  std::vector<int64_t> places;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    if (!says || valid[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  return places;
}

FoundToken mask_or_first(const ExplainQuestion& question, const std::vector<int64_t>& places) {
  const Tokenizer* tokenizer = question.engine.find_tokenizer();
  const auto mask = tokenizer == nullptr ? std::nullopt : tokenizer->role("mask_token");
  const std::vector<int64_t>& ids = question.result.inputs.input_ids;
  for (size_t i = 0; mask && i < ids.size(); ++i) {
    if (ids[i] == *mask) return {static_cast<int64_t>(i), ""};
  }
  return {places.empty() ? 0 : places.front(), ""};
}

// Of a decoder: the step that writes the last token that is no special one.
int64_t last_written_step(const Axis& target) {
  for (auto i = static_cast<int64_t>(target.positions.size()) - 1; i > 0; --i) {
    if (!target.positions[static_cast<size_t>(i)].special) return i - 1;
  }
  return static_cast<int64_t>(target.positions.size()) - 1;
}

// Of a word of several pieces the first: when that is written the word is chosen.
FoundToken first_piece(const Axis& axis, FoundToken found) {
  if (found.note.empty()) return found;
  const auto word_at = [&](int64_t i) { return axis.positions[static_cast<size_t>(i)].word; };
  const int64_t word = word_at(found.index);
  while (word >= 0 && found.index > 0 && word_at(found.index - 1) == word) --found.index;
  found.note = fmt::format("the first piece of a word of several, {}",
                           axis.positions[static_cast<size_t>(found.index)].text);
  return found;
}

// Of a decoder: the step that writes the token which --token names among those that it read next.
FoundToken chosen_step(const Args& args, const RunResult& result) {
  const Axis& target = *result.run.find_axis("target");
  if (args.has("token")) {
    FoundToken found = first_piece(target, find_token(target, args["token"]));
    if (found.index == 0) {
      fail(ErrorKind::kInvalidArgument,
           "--token is '{}', which the decoder starts from and nobody writes; name a token of the "
           "target, 1 to {}",
           args["token"], target.positions.size() - 1);
    }
    --found.index;
    return found;
  }
  return {last_written_step(target), ""};
}

// The cell at the middle of what the query found.
FoundToken object_cell(const ExplainQuestion& question, const Axis& cells, int64_t query) {
  const float* box = question.result.outputs.pred_boxes.tensor.matrix<float>().row(query);
  const auto place = [](double fraction, int64_t count) {
    return std::clamp(static_cast<int64_t>(fraction * static_cast<double>(count)), int64_t{0},
                      count - 1);
  };
  // Without the picture nobody says where its padding begins.
  std::optional<int64_t> cell = place(double{box[1]}, cells.grid_rows) * cells.grid_cols +
                                place(double{box[0]}, cells.grid_cols);
  if (question.picture) {
    const PictureSize size = question.picture->picture.size();
    cell = question.picture->grid.patch_of_pixel(place(double{box[0]}, size.width),
                                                 place(double{box[1]}, size.height));
  }
  return {front_positions(cells) + cell.value_or(0),
          fmt::format("the middle of what query {} found", query)};
}

int64_t surest_query(const ExplainQuestion& question, const Args& args) {
  TargetChoice choice;
  if (args.has("query")) choice.query = args.integer("query");
  return std::get<BoxTarget>(named_target(question.engine, question.result, choice).target).query;
}

bool cuts_edges(const Args& args) {
  return args.has("unit") && args["unit"] == "edge";
}

// Whether the position is a step of a decoder, whichever attention is looked at: that of the
// answer.
bool asks_from_step(const Args& args, const ExplainQuestion& question) {
  if (!question.engine.facts().has_decoder()) return false;
  if (any_record(question.result, question.kind).row_axis == "steps") return true;
  return question.method.name == "alti+" || (question.method.needs.target && !cuts_edges(args));
}

FoundToken chosen_row(const Args& args, const ExplainQuestion& question) {
  const AttentionRecord& record = any_record(question.result, question.kind);
  const Axis& rows = *question.result.run.find_axis(record.row_axis);
  const ModelFacts& facts = question.engine.facts();
  if (asks_from_step(args, question)) return chosen_step(args, question.result);
  if (facts.finds_objects() && !args.has("at") && !args.has("token")) {
    const int64_t query = surest_query(question, args);
    return question.kind == SiteKind::kEncoderSelf ? object_cell(question, rows, query)
                                                   : FoundToken{query, ""};
  }
  if (question.picture) {
    const bool asks = question.method.needs.position || args.has("at") || args.has("token");
    return asks ? chosen_patch(args, *question.picture, rows, question.engine) : FoundToken{};
  }
  if (args.has("token")) return find_token(rows, args["token"]);
  const std::vector<int64_t> places = real_positions(record, rows);
  if (facts.causal) return {places.empty() ? 0 : places.back(), ""};
  return mask_or_first(question, places);
}

// "seen from [CLS]"; of a decoder's step what it writes: "writing musique".
std::string row_name(const RunResult& result, const Axis& rows, int64_t position) {
  if (rows.name != "steps") {
    return "seen from " + rows.positions[static_cast<size_t>(position)].text;
  }
  const Axis& target = *result.run.find_axis("target");
  const auto next = static_cast<size_t>(position) + 1;
  return next < target.positions.size() ? "writing " + target.positions[next].text
                                        : "after " + target.positions.back().text;
}

// Of a decoder the step that writes the word asked about, whichever attention is looked at.
int64_t answer_position(const ExplainQuestion& question) {
  const AttentionRecord& record = any_record(question.result, question.kind);
  if (!question.engine.facts().has_decoder() || record.row_axis == "steps") {
    return question.position;
  }
  return last_written_step(*question.result.run.find_axis("target"));
}

struct NamedTargets {
  NamedTarget target;
  std::optional<NamedTarget> against;
};

NamedTargets find_targets(const Args& args, const ExplainQuestion& question, int64_t position) {
  TargetChoice choice{.position = position};
  if (args.has("class")) choice.name = args["class"];
  if (args.has("query")) choice.query = args.integer("query");
  const HeadKind head = question.engine.facts().head;
  const bool similar = head == HeadKind::kNone || head == HeadKind::kSimilarity;
  // Of a model that embeds, the one text that is given is what to be similar to.
  if (similar && args.has("against") && !args.has("class")) {
    choice.name = args["against"];
    return {named_target(question.engine, question.result, choice), {}};
  }
  NamedTargets found{named_target(question.engine, question.result, choice), {}};
  if (!args.has("against")) return found;
  choice.name = args["against"];
  if (const auto* box = std::get_if<BoxTarget>(&found.target.target)) choice.query = box->query;
  found.against = named_target(question.engine, question.result, choice);
  if (found.against->name == found.target.name) {
    fail(ErrorKind::kInvalidArgument,
         "--against is '{}', which is what is asked about: {}; name another", args["against"],
         found.target.name);
  }
  return found;
}

void set_targets(const Args& args, ExplainQuestion& question) {
  if (question.method.needs.target) {
    NamedTargets found = find_targets(
        args, question, cuts_edges(args) ? answer_position(question) : question.position);
    question.target = std::move(found.target);
    question.against = std::move(found.against);
  }
  if (!checks(args)) return;
  if (question.target) {
    question.watched = question.target;
    question.watched_against = question.against;
  } else {
    NamedTargets found = find_targets(args, question, answer_position(question));
    question.watched = std::move(found.target);
    question.watched_against = std::move(found.against);
  }
}

// An option that would change nothing is a misunderstanding.
void refuse_what_is_not_asked(const Args& args, const Method& method, const ModelFacts& facts) {
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
  refuse("query", facts.finds_objects(), "the model finds no objects");
  const std::string no_row = fmt::format("{} asks from no position", method.name);
  const bool answers_everywhere = asks && facts.head != HeadKind::kSequenceClass &&
                                  facts.head != HeadKind::kPictureClass &&
                                  facts.head != HeadKind::kNone;
  refuse("token", method.needs.position || answers_everywhere || cuts_edges(args), no_row);
  refuse("at", method.needs.position || cuts_edges(args), no_row);
  refuse("layer", method.takes_layer, fmt::format("{} goes through all layers", method.name));
  const bool one_head = args.has("head") && args["head"] != "mean";
  refuse("head", method.takes_head || !one_head, fmt::format("{} takes all heads", method.name));
}

}  // namespace

std::vector<Option> method_parameter_options() {
  struct Merged {
    const MethodParameter* parameter;
    std::vector<std::string> methods;
    std::vector<std::string> choices;  // of any of them
  };
  const std::vector<Method> methods = all_methods();
  std::vector<Merged> merged;
  for (const Method& method : methods) {
    for (const MethodParameter& parameter : method.parameters) {
      const auto found = std::ranges::find_if(
          merged, [&](const Merged& one) { return one.parameter->name == parameter.name; });
      if (found == merged.end()) {
        merged.push_back({&parameter, {method.name}, parameter.choices});
        continue;
      }
      found->methods.push_back(method.name);
      for (const std::string& choice : parameter.choices) {
        if (std::ranges::count(found->choices, choice) == 0) found->choices.push_back(choice);
      }
    }
  }
  std::vector<Option> options;
  for (const Merged& one : merged) {
    const bool number = one.parameter->choices.empty();
    options.push_back(Option::text(
        one.parameter->name, number ? "N" : fmt::format("{}", fmt::join(one.choices, "|")),
        fmt::format("of {}: {} (default: {})", fmt::join(one.methods, " and "), one.parameter->help,
                    one.parameter->otherwise)));
  }
  return options;
}

std::vector<Method> chosen_methods(const Args& args) {
  const std::vector<Method> all = all_methods();
  if (!args.has("method")) return all;
  std::vector<std::string> names;
  for (const Method& method : all) names.push_back(method.name);
  std::vector<Method> chosen;
  std::string_view rest = args["method"];
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string name(rest.substr(0, comma));
    const auto found = std::ranges::find(all, name, &Method::name);
    if (found == all.end()) {
      fail(ErrorKind::kInvalidArgument, "--method is '{}' but must be one of {}{}", name,
           fmt::join(names, ", "), did_you_mean(name, names));
    }
    if (std::ranges::count(chosen, name, &Method::name) == 0) chosen.push_back(*found);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return chosen;
}

void check_question(const Args& args) {
  const size_t count = chosen_methods(args).size();
  if (args.has("method") && count > 1 && !args.flag("compare")) {
    fail(ErrorKind::kInvalidArgument,
         "--method names {} methods but one is asked; give --compare to see them side by side",
         count);
  }
  check_input_args(args);
  if (args.has("at")) parse_pixel(args["at"]);
}

// An embedding is nearest to itself whatever the input, so that its similarity has no gradient.
Method chosen_method(const Args& args, const ModelFacts& facts) {
  if (args.has("method")) return find_method(args["method"]);
  const bool embeds = facts.head == HeadKind::kNone || facts.head == HeadKind::kSimilarity;
  return find_method(embeds && !args.has("against") && !args.has("class") ? "rollout"
                                                                          : "relevancy");
}

Engine open_for_question(const Args& args) {
  return open_engine(args, default_model(args));
}

ExplainQuestion read_question(const Args& args, const Engine& engine, const Method& method) {
  ExplainQuestion question{.engine = engine, .method = method};
  const ModelFacts& facts = question.engine.facts();
  refuse_what_is_not_asked(args, method, facts);
  question.picture = find_picture_input(question.engine, args);
  const bool sees_picture = question.picture || gives_pixels(args, question.engine);
  check_row_options(args, question.engine, question.picture.has_value());
  question.kind = question_kind(args, question, sees_picture);
  if (args.has("layer")) question.layer = args.integer("layer");
  if (args.has("head") && args["head"] != "mean") {
    question.head = parse_integer("--head", args["head"]);
  }
  for (const Option& option : method_parameter_options()) {
    const bool own = std::ranges::count(method.parameters, option.name, &MethodParameter::name) > 0;
    // Of several methods each takes what it knows; one alone says what it does not.
    if (args.has(option.name) && (own || !args.flag("compare"))) {
      question.parameters[option.name] = args[option.name];
    }
  }
  question.how.record.values = method.needs.block;
  question.how.record.block = method.needs.block;
  if (method.needs.gradient) {
    question.how.record.wanted = [](SiteId site) { return site.layer == 0; };
  }
  if (method.needs.target || checks(args) || facts.finds_objects()) {
    question.how.logits = logits_for_target(question.engine, /*last=*/!args.has("token"));
  } else if (facts.head == HeadKind::kSequenceClass || facts.head == HeadKind::kPictureClass) {
    question.how.logits = LogitRows::kAll;  // cheap, and people want to know what it said
  }
  question.result = question.picture ? run_picture(question.engine, *question.picture, question.how)
                                     : run_input(question.engine, args, question.how);
  const FoundToken row = chosen_row(args, question);
  question.position = row.index;
  if (!row.note.empty()) question.notes.push_back(row.note);
  const AttentionRecord& record = any_record(question.result, question.kind);
  if (method.needs.position || args.has("token") || args.has("at")) {
    const std::string rows = asks_from_step(args, question) ? "steps" : record.row_axis;
    question.position_name =
        row_name(question.result, *question.result.run.find_axis(rows), question.position);
  }
  if (args.has("span")) {
    question.span = find_span(columns_of(question.result.run, question.kind), args["span"]);
  }
  set_targets(args, question);
  return question;
}

EngineSubject subject_of(const ExplainQuestion& question) {
  const Tensor& logits = question.result.outputs.logits.tensor;
  const bool last = logits.rank() == 2 && logits.size(0) == 1;
  const bool asks = question.target || question.watched;
  return {question.engine, question.engine.label(question.result.inputs),
          asks ? logits_for_target(question.engine, last) : LogitRows::kNone};
}

Explanation answer(const ExplainQuestion& question) {
  EngineSubject subject = subject_of(question);
  ExplainRequest request{.run = question.result.run,
                         .kind = question.kind,
                         .position = question.position,
                         .layer = question.layer,
                         .head = question.head,
                         .span = question.span,
                         .subject = &subject,
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
