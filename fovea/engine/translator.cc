#include "fovea/engine/translator.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/base/utf8.h"
#include "fovea/engine/anchors.h"
#include "fovea/engine/changed_inputs.h"
#include "fovea/engine/text_axis.h"
#include "fovea/generate/decoder_words.h"
#include "fovea/layers/interventions.h"
#include "fovea/layers/text_mask.h"

namespace fovea {
namespace {

// Tokens outside of the vocabulary look all the same to the model.
void warn_of_unknown(const Tokenizer& tokenizer, EncodedInput& input) {
  const std::optional<int32_t> unknown = tokenizer.unknown_id();
  const Position* first = nullptr;
  int64_t count = 0;
  for (size_t i = 0; i < input.inputs.input_ids.size(); ++i) {
    const Position& position = input.axis.positions[i];
    if (position.special || input.inputs.input_ids[i] != unknown) continue;
    if (count++ == 0) first = &position;
  }
  if (count == 0) return;
  const std::string text =
      input.axis.source.substr(static_cast<size_t>(first->source_begin),
                               static_cast<size_t>(first->source_end - first->source_begin));
  input.warnings.push_back(fmt::format(
      "{} of the {} tokens are not in the vocabulary (the first: '{}'); the model takes "
      "all of them for the same",
      count, input.inputs.input_ids.size(), text.empty() ? first->text : to_one_line(text)));
}

bool has_words(const Axis& axis) {
  return !std::ranges::all_of(axis.positions, &Position::special);
}

}  // namespace

void check_translates(const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (!facts.has_decoder() || facts.takes_features() || facts.head != HeadKind::kTargetWords) {
    const std::string what = facts.finds_objects()    ? "it finds objects in pictures"
                             : !facts.has_decoder()   ? "it has one stack, not encoder and decoder"
                             : facts.takes_features() ? "it takes sound, not text"
                                                      : "it has no scores of words";
    fail(ErrorKind::kUnsupported,
         "{} ({}) does not translate: {}; take a model such as en-fr, Marian, T5 or BART",
         engine.name(), engine.checkpoint().config.model_type(), what);
  }
}

Translator::Translator(Engine engine, const Languages& languages)
    : engine_((check_translates(engine), std::move(engine))),
      source_tokenizer_(engine_.tokenizer()),
      target_tokenizer_(engine_.target_tokenizer()),
      config_(engine_.generation_config()),
      shared_words_(engine_.model().seq2seq()->shared_words()) {
  if (!config_.decoder_start_token_id) {
    fail(ErrorKind::kBadFile,
         "{}: has no decoder_start_token_id, with which the decoder begins; add it",
         engine_.checkpoint().config.source());
  }
  start_id_ = *config_.decoder_start_token_id;
  if (!languages.source.empty()) {
    source_tokenizer_ = source_tokenizer_.with_language(languages.source);
  }
  if (languages.target.empty()) return;
  if (engine_.checkpoint().config.model_type() == "marian") {
    // Its languages stand at the beginning of the source.
    source_tokenizer_ = source_tokenizer_.with_language(languages.target);
    return;
  }
  const int64_t id = target_tokenizer_.language_id(languages.target);
  target_tokenizer_ = target_tokenizer_.with_language(languages.target);
  // mBART's decoder begins with the language, that of later models writes it first.
  const bool begins_with_language = std::ranges::any_of(
      target_tokenizer_.languages(),
      [&](const std::string& code) { return target_tokenizer_.language_id(code) == start_id_; });
  if (begins_with_language) {
    start_id_ = id;
  } else {
    config_.search.rules.forced_bos_token_id = id;
  }
}

SearchOptions Translator::search_options(const TranslateOptions& options) const {
  SearchOptions search = config_.search;
  const int64_t positions = engine_.facts().target->most_tokens;
  search.most_tokens = config_.most_tokens(1, positions);
  if (!config_.max_new_tokens && !config_.max_length) {
    // transformers' 20 would cut most sentences.
    search.most_tokens = positions > 0 ? std::min<int64_t>(positions, 256) : 256;
  }
  if (options.beams) search.beams = *options.beams;
  if (options.length_penalty) search.length_penalty = *options.length_penalty;
  if (options.most_tokens) search.most_tokens = *options.most_tokens;
  if (positions > 0 && search.most_tokens > positions) {
    if (options.most_tokens) {
      fail(ErrorKind::kInvalidArgument,
           "{} tokens of a target are asked for but this model has positions for {}; ask for that "
           "many at most",
           search.most_tokens, positions);
    }
    search.most_tokens = positions;
  }
  validate(search);
  return search;
}

Translator::Target Translator::written(const Hypothesis& hypothesis) const {
  Target target{.ids = {start_id_}};
  std::span<const int64_t> ids = hypothesis.ids;
  const std::vector<int64_t>& ends = config_.search.stop_ids;
  if (!ids.empty() && std::ranges::find(ends, ids.back()) != ends.end()) {
    target.next_id = ids.back();
    ids = ids.first(ids.size() - 1);
  }
  target.ids.insert(target.ids.end(), ids.begin(), ids.end());
  target.axis = written_axis(target_tokenizer_, target.ids);
  while (target.prefix < static_cast<int64_t>(target.ids.size()) &&
         target.axis.positions[static_cast<size_t>(target.prefix)].special) {
    ++target.prefix;
  }
  return target;
}

Translator::Target Translator::given(std::string_view text,
                                     std::vector<std::string>& warnings) const {
  EncodedInput input = encode_text(target_tokenizer_, text);
  warn_of_unknown(target_tokenizer_, input);
  for (const std::string& warning : input.warnings) warnings.push_back("target: " + warning);
  if (!has_words(input.axis)) {
    fail(ErrorKind::kInvalidArgument, "the target has {} bytes but no words; give some text",
         text.size());
  }
  // Special tokens that lead are written first; those behind are the end.
  const std::vector<int64_t>& ids = input.inputs.input_ids;
  const std::vector<Position>& positions = input.axis.positions;
  Target target{.ids = {start_id_}, .axis = {.source = input.axis.source}};
  target.axis.positions.push_back(
      ids_axis(&target_tokenizer_, std::span(&start_id_, 1)).positions.front());
  bool leads = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!positions[i].special) leads = false;
    const bool repeats_start = i == 0 && ids[i] == start_id_ && positions[i].special;
    if (repeats_start || (!leads && positions[i].special)) continue;
    if (leads) ++target.prefix;
    target.ids.push_back(ids[i]);
    target.axis.positions.push_back(positions[i]);
  }
  if (const int64_t most = engine_.facts().target->most_tokens; most > 0) {
    check_length(engine_.checkpoint().config, static_cast<int64_t>(target.ids.size()), most,
                 "target");
  }
  if (!config_.search.stop_ids.empty()) target.next_id = config_.search.stop_ids.front();
  return target;
}

EncodedInput Translator::encode(std::string_view source) const {
  EncodedInput input = encode_text(source_tokenizer_, source);
  warn_of_unknown(source_tokenizer_, input);
  input.inputs.token_type_ids.clear();
  if (!has_words(input.axis)) {
    fail(ErrorKind::kInvalidArgument, "the source has {} bytes but no words; give some text",
         source.size());
  }
  return input;
}

Translation Translator::translate(std::string_view source, const TranslateOptions& options,
                                  const RunOptions& run) const {
  return run_on_team([&] { return translate_here(source, options, run); });
}

std::vector<Hypothesis> Translator::hypotheses(const EncodedSource& source,
                                               const SearchOptions& how,
                                               const std::vector<Intervention>& changes) const {
  const Seq2SeqModel& model = *engine_.model().seq2seq();
  const std::span<const int64_t> start(&start_id_, 1);
  if (changes.empty()) {
    DecoderWords words(model, source);
    return search(words, start, how);
  }
  ChangedDecoderWords words(model, source, changes);
  return search(words, start, how);
}

Translation Translator::translate_here(std::string_view source, const TranslateOptions& options,
                                       const RunOptions& run) const {
  EncodedInput input = encode(source);
  Translation translation{.forced = options.target.has_value()};
  // Errors in the target are found before the source is read.
  Target target;
  SearchOptions how;
  if (options.target) {
    target = given(*options.target, input.warnings);
    translation.target = *options.target;
  } else {
    how = search_options(options);
  }
  const Seq2SeqModel& model = *engine_.model().seq2seq();
  Recorder recorder(run.record);
  const Interventions changes(run.changes);
  Pass reading{.recorder = &recorder};
  if (!run.changes.empty()) reading.changes = &changes;
  const EncodedSource encoded = model.encode(changed_inputs(engine_, input, run.changes), reading);
  if (!options.target) {
    const std::vector<Hypothesis> found = hypotheses(encoded, how, run.changes);
    FOVEA_ASSERT(!found.empty());
    target = written(found.front());
    translation.beams = how.beams;
    if (how.beams > 1) translation.score = found.front().score;
    // At the limit many models are made to end, whatever is left to say.
    const auto length = static_cast<int64_t>(found.front().ids.size());
    translation.complete =
        target.next_id && (length < how.most_tokens || how.rules.forced_eos_token_id.empty());
    translation.target = target.axis.source;
  }
  translation.prefix = target.prefix;
  input.inputs.decoder_input_ids = std::move(target.ids);
  input.target = std::move(target.axis);
  input.next_id = target.next_id;
  const auto divide = options.words == WordDivision::kSpaces ? divide_at_spaces : divide_into_words;
  divide(input.axis);
  divide(input.target);
  const auto first = static_cast<size_t>(target.prefix);
  translation.anchors = piece_anchors({input.axis.positions, input.inputs.input_ids},
                                      {std::span(input.target.positions).subspan(first),
                                       std::span(input.inputs.decoder_input_ids).subspan(first)},
                                      shared_words_);
  RunOptions writing = run;
  const auto tokens = static_cast<int64_t>(input.inputs.decoder_input_ids.size());
  if (!options.target) writing.changes = changes_within(run.changes, tokens);
  translation.result = engine_.run_decoder(input, encoded, recorder, writing);
  return translation;
}

}  // namespace fovea
