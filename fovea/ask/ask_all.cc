#include "fovea/ask/ask_all.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/many/counter.h"
#include "fovea/ask/places.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

const QuestionKind& kind_over_many(const Question& question) {
  const QuestionKind& kind = question_kind_named(question.kind);
  if (kind.counter == nullptr) {
    fail(ErrorKind::kInvalidArgument, Field{"kind"},
         "{} is asked of one run, not counted over many inputs", kind.name);
  }
  return kind;
}

// What is still to be counted, in steps; false: it was cancelled.
bool count_all(Counter& counter, const ManyInputs& inputs, const char* title, ManyState& state,
               const std::function<void(ManyState&)>& between) {
  try {
    InputQueue queue(inputs, state);
    counter.prepare(queue, state);
    std::optional<Progress> progress;  // of one input its own stages say more
    if (inputs.count != 1) progress.emplace(title, inputs.count).advance(state.inputs());
    while (queue.peek() != nullptr) {
      const int64_t before = state.inputs();
      counter.count(queue, state);
      if (progress) progress->advance(state.inputs() - before);
      if (between) between(state);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCancelled) throw;
    return false;
  }
  return true;
}

std::vector<std::string> notes_of(const ManyState& state) {
  std::vector<std::string> notes;
  if (state.noted.count > 0) {
    notes.push_back(state.noted.text);
    if (state.noted.count > 1) {
      notes.back() += fmt::format(" (and {} more lines with notes)", state.noted.count - 1);
    }
  }
  if (state.left_out.count > 0) {
    notes.push_back(fmt::format("{} of {} inputs were left out; the first: {}",
                                state.left_out.count, state.inputs(), state.left_out.text));
  }
  return notes;
}

Json input_facts_of(const ManyState& state) {
  Json json = Json::object(
      {{"inputs", state.inputs() - state.left_out.count}, {"left_out", state.left_out.count}});
  if (state.left_out.count > 0) json.set("first_reason", state.left_out.text);
  return json;
}

}  // namespace

Json identity_of(const Engine& engine, const ManyInputs& inputs, const Question& question,
                 const std::optional<Engine>& reverse) {
  const QuestionKind& kind = kind_over_many(question);
  Json json = kind.counted != nullptr ? kind.counted(question) : to_json(question);
  json.set("kind", question.kind);
  json.set("model", engine.model_hash());
  if (reverse) json.set("reverse_model", reverse->model_hash());
  json.set("dtype", engine.options().compute == DType::kI16 ? "i16" : "f32");
  for (const auto& [name, value] : inputs.of.as_object("")) json.set(name, value);
  return json;
}

ManyState ask_all(const Engine& engine, const ManyInputs& inputs, const Question& question,
                  const Watch& watch, ManyOptions options) {
  const WatchScope scope(watch);
  const QuestionKind& kind = kind_over_many(question);
  check_place(question, engine, inputs.pictures);
  const std::unique_ptr<Counter> counter =
      kind.counter({engine, options.reverse, question, inputs.pictures, inputs.languages});
  ManyState state = std::move(options.state);
  const Json identity = identity_of(engine, inputs, question, options.reverse);
  if (state.inputs() == 0) state.of = identity;
  if (const std::string what = difference(state.of, identity); !what.empty()) {
    fail(ErrorKind::kInvalidArgument, "the state is of another count: {}", what);
  }
  state.cancelled = !count_all(*counter, inputs, kind.doing, state, options.between);
  return state;
}

Answer answer_of(const ManyState& state, const Engine& engine, const ManyInputs& inputs,
                 const Question& question) {
  const QuestionKind& kind = kind_over_many(question);
  if (state.left_out.count == state.inputs()) {
    fail(ErrorKind::kBadFile, "there is no input to count{}{}",
         state.left_out.count > 0 ? "; the first: " : "", state.left_out.text);
  }
  Answer answer = kind.finish({engine, {}, question, inputs.pictures, inputs.languages}, state);
  Json model = Json::object({{"name", engine.name()},
                             {"hash", engine.model_hash()},
                             {"architecture", engine.architecture().name}});
  if (const std::string& note = engine.checkpoint().note; !note.empty()) model.set("note", note);
  complete_facts(answer, {.question = to_json(question),
                          .model = std::move(model),
                          .input = input_facts_of(state),
                          .notes = notes_of(state)});
  return answer;
}

}  // namespace fovea
