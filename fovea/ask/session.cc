#include "fovea/ask/session.h"

#include <algorithm>
#include <mutex>

#include "fovea/ask/map_answer.h"
#include "fovea/ask/places.h"
#include "fovea/ask/predictions.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/engine/chat.h"
#include "fovea/vision/decode.h"

namespace fovea {
namespace {

void refuse_settings(const Input& input, std::string_view why, bool pair, bool translation) {
  const auto refuse = [&](std::string_view field, bool given) {
    if (given) fail(ErrorKind::kInvalidArgument, Field{field}, "{}; leave it out", why);
  };
  refuse("pair", pair && input.pair);
  refuse("chat", pair && input.chat);
  refuse("target", translation && input.translate.target);
  refuse("from", translation && !input.languages.source.empty());
  refuse("to", translation && !input.languages.target.empty());
  refuse("beam", translation && input.translate.beams);
  refuse("length_penalty", translation && input.translate.length_penalty);
  refuse("most_tokens", translation && input.translate.most_tokens);
}

void check_reads_text(const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (!facts.takes_pixels() || facts.takes_text()) return;
  fail(ErrorKind::kInvalidArgument,
       "{} sees pictures and reads no text; give it a picture or pixel_values", engine.name());
}

void open_text(OpenedInput& opened, const Text& text) {
  const Engine& engine = opened.engine;
  check_reads_text(engine);
  if (engine.facts().has_decoder()) {
    if (opened.input.pair) {
      fail(ErrorKind::kInvalidArgument, Field{"pair"},
           "it is a second text but {} has a decoder; did you mean `target`?", engine.name());
    }
    if (opened.input.chat) {
      fail(ErrorKind::kInvalidArgument, Field{"chat"},
           "it is for models that go on writing but {} translates; leave it out", engine.name());
    }
    opened.translator.emplace(engine, opened.input.languages);
    opened.encoded = opened.translator->encode(text.text);
    return;
  }
  refuse_settings(opened.input,
                  fmt::format("it is for translation but {} has no decoder", engine.name()),
                  /*pair=*/false, /*translation=*/true);
  opened.encoded = opened.input.chat ? encode_chat(engine, text.text, opened.input.chat->system)
                                     : engine.encode(text.text, opened.input.pair);
}

void open_picture(OpenedInput& opened, PictureBytes& picture) {
  refuse_settings(opened.input,
                  fmt::format("it goes with a text but {} is run on the picture '{}'",
                              opened.engine.name(), picture.name),
                  /*pair=*/true, /*translation=*/true);
  opened.picture =
      picture_input(opened.engine, decode_picture(as_bytes(picture.bytes), picture.name).picture,
                    opened.input.size);
  opened.encoded = opened.picture->input;
  picture.bytes = {};  // nobody reads them again
}

void open_tensors(OpenedInput& opened, const ModelInputs& inputs) {
  const Engine& engine = opened.engine;
  refuse_settings(
      opened.input,
      engine.facts().has_decoder()
          ? std::string("it goes with a text but token ids are given, which may hold it")
          : fmt::format("it is for translation but {} has no decoder", engine.name()),
      /*pair=*/true, /*translation=*/true);
  opened.encoded = engine.label(inputs);
}

void refuse_size(const OpenedInput& opened) {
  if (!opened.input.size || opened.picture) return;
  fail(ErrorKind::kInvalidArgument, Field{"size"},
       "it is for pictures but {} is not given one; leave it out", opened.engine.name());
}

// A model that ends its text at once has drawn no new row, and looks as if it had not been asked.
void note_nothing_written(const OpenedInput& opened, RunResult& result) {
  const Engine& engine = opened.engine;
  if (result.generated.size() != 1) return;
  const std::vector<int64_t> stops = engine.generation_config().search.stop_ids;
  if (std::ranges::count(stops, result.generated.front()) == 0) return;
  const bool hint = !opened.input.chat && has_chat_template(engine);
  const Tokenizer* tokenizer = engine.find_tokenizer();
  const auto id = static_cast<int32_t>(result.generated.front());
  result.warnings.push_back(fmt::format(
      "{} wrote nothing: its first token, {}, ends the text{}", engine.name(),
      tokenizer != nullptr ? tokenizer->token(id) : std::to_string(id),
      hint ? "; it is a chat model, which answers what is said to it by its template (`chat`)"
           : ""));
}

Translation finished(const OpenedInput& opened, const RunOptions& options) {
  const Engine& engine = opened.engine;
  const EncodedInput& encoded = opened.encoded;
  Translation translation;
  if (opened.input.generate) {
    const int64_t tokens = encoded.inputs.tokens(), more = opened.input.generate->most_tokens;
    check_room(engine.facts(), tokens, more);
    translation.result = engine.generate(encoded, *opened.input.generate, options);
    note_nothing_written(opened, translation.result);
    for (std::string& warning : engine.length_warnings(tokens + more)) {
      translation.result.warnings.push_back(std::move(warning));
    }
  } else if (opened.translator) {
    const std::string& text = std::get<Text>(opened.input.what).text;
    translation = opened.translator->translate(text, opened.input.translate, options);
  } else if (opened.picture) {
    translation.result = run_picture(engine, *opened.picture, options);
  } else {
    translation.result = engine.run(encoded, options);
  }
  return translation;
}

// A page holds weights in steps from 0 to 1.
void check_page_weights(const ArrayFacts& arrays) {
  constexpr float kRoundedOne = 1.001F;
  if (arrays.scan.largest <= kRoundedOne) return;
  fail(ErrorKind::kUnsupported, "a page holds weights of 0 to 1 but the largest of {} is {:.4g}",
       arrays.file, arrays.scan.largest);
}

}  // namespace

struct Session::State {
  std::shared_ptr<const OpenedInput> opened;  // null: a captured run
  RecorderOptions record;
  bool wants_logits = false;  // what it predicts is told beside the maps

  std::mutex mutex;  // of `finished`
  std::shared_ptr<const FinishedRun> finished;
};

// A question whose kind is known, and the run it is asked of.
struct Session::Resolved {
  const QuestionKind& kind;
  Question question;
  std::shared_ptr<const FinishedRun> run;
};

Session Session::open(Engine engine, Input input, const RecorderOptions& record) {
  auto opened = std::make_shared<OpenedInput>(OpenedInput{std::move(engine), std::move(input)});
  std::visit(
      [&](auto& what) {
        using What = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<What, std::monostate>) {
          fail(ErrorKind::kInvalidArgument, Field{"text"}, "there is no input; give a text");
        }
        if constexpr (std::is_same_v<What, Text>) open_text(*opened, what);
        if constexpr (std::is_same_v<What, PictureBytes>) open_picture(*opened, what);
        if constexpr (std::is_same_v<What, ModelInputs>) open_tensors(*opened, what);
      },
      opened->input.what);
  refuse_size(*opened);
  auto state = std::make_shared<State>();
  state->record = record;
  state->wants_logits = logits_wanted(opened->engine, opened->encoded);
  state->opened = std::move(opened);
  return Session(std::move(state));
}

Session Session::of(Run run) {
  auto state = std::make_shared<State>();
  auto finished = std::make_shared<FinishedRun>();
  finished->translation.result.run = std::move(run);
  state->finished = std::move(finished);
  return Session(std::move(state));
}

Session Session::of(ArrayRun arrays) {
  auto finished = std::make_shared<FinishedRun>();
  finished->translation.result.run = std::move(arrays.run);
  finished->translation.result.warnings = arrays.facts.notes();
  finished->arrays = std::move(arrays.facts);
  auto state = std::make_shared<State>();
  state->finished = std::move(finished);
  return Session(std::move(state));
}

Session::Resolved Session::resolved(const Question& question) const {
  const OpenedInput* input = opened();
  Question asked = question;
  if (asked.kind.empty()) {
    asked.kind = usual_kind(to_json(asked), input ? input->sort() : run()->sort());
  }
  const QuestionKind& kind = question_kind_named(asked.kind);
  if (kind.answer == nullptr) {
    fail(ErrorKind::kInvalidArgument, Field{"kind"},
         "{} is counted over many inputs but this is one run; ask it of many", kind.name);
  }
  if (input != nullptr) check_place(asked, *input);
  if (input != nullptr && kind.check_input != nullptr) kind.check_input(asked, *input);
  std::shared_ptr<const FinishedRun> finished =
      run(input && kind.needs != nullptr ? kind.needs(asked, *input) : RunNeeds{});
  return {kind, std::move(asked), std::move(finished)};
}

const OpenedInput* Session::opened() const {
  return state_->opened.get();
}

// On the team, which has one piece of work at a time: whoever needs the run of another waits for it
// there, and leaves when cancelled.
std::shared_ptr<const FinishedRun> Session::run(const RunNeeds& needs) const {
  const auto found = [&](const RunNeeds& wanted) {
    const std::lock_guard lock(state_->mutex);
    const auto& finished = state_->finished;
    return finished && (!state_->opened || finished->has.covers(wanted)) ? finished : nullptr;
  };
  if (auto run = found(needs)) return run;
  return run_on_team([&] {
    if (auto run = found(needs)) return run;
    // What others needed stays.
    const auto before = found({.records = KeptRecords::kFirstLayers});
    RunNeeds all = before ? needs.with(before->has) : needs;
    all.all_logits |= state_->wants_logits;
    auto run = std::make_shared<const FinishedRun>(
        FinishedRun{.opened = state_->opened,
                    .arrays = {},
                    .has = all,
                    .translation = finished(*state_->opened, run_options(all, state_->record))});
    const std::lock_guard lock(state_->mutex);
    state_->finished = run;
    return run;
  });
}

std::shared_ptr<const FinishedRun> Session::run(const Question& question) const {
  return resolved(question).run;
}

Answer Session::ask(const Question& question, const Watch& watch) const {
  const WatchScope scope(watch);
  const Resolved asked = resolved(question);
  Answer answer = asked.kind.answer(asked.question, *asked.run);
  complete_facts(answer, asked.question, *asked.run);
  return answer;
}

PageOptions Session::page(const Question& question) const {
  check_page(question);
  const Resolved asked = resolved(question);
  if (asked.run->arrays) check_page_weights(*asked.run->arrays);
  if (asked.kind.page != nullptr) return asked.kind.page(asked.question, *asked.run);
  return {.choice = view_choice(asked.question),
          .view = question.kind == "maps" ? "" : question.kind};
}

}  // namespace fovea
