// A model, an input and its run, of which questions are asked.
#pragma once

#include <memory>

#include "fovea/ask/answer.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/base/watch.h"
#include "fovea/figure/page_options.h"

namespace fovea {

// Copies share everything. The model runs when the first question needs it, and again when a later
// one needs more than was kept. Const members may be called from any thread; who needs a run that
// another thread is making waits for it, or stops when cancelled.
class Session {
 public:
  // Encodes the input. `record` says where records are kept. Throws what encoding throws, and
  // Error{kInvalidArgument} about a field of the input that the model has no use for.
  static Session open(Engine engine, Input input, const RecorderOptions& record = {});
  // For a run that was captured, or hooked from another framework. A question that needs the model
  // says so.
  static Session of(Run run);
  // For arrays of weights. A question that needs queries, keys or values says so.
  static Session of(ArrayRun arrays);

  // Null: a captured run.
  const OpenedInput* opened() const;
  std::shared_ptr<const FinishedRun> run(const RunNeeds& needs = {}) const;
  // With what the question needs. Throws what ask() throws before the model runs.
  std::shared_ptr<const FinishedRun> run(const Question& question) const;
  // Throws Error{kNotFound} that lists the sites, and Error{kInvalidArgument} without such a head.
  AttentionMap map(SiteId site, int64_t head) const { return run()->result().map(site, head); }

  // Throws Error{kInvalidArgument} about a field that does not suit the model or the run, where the
  // model's facts tell before it runs; and what running and drawing up the figure throw.
  Answer ask(const Question& question, const Watch& watch = {}) const;
  // Where a page of the whole run opens that shows what is asked. Throws as ask() does.
  PageOptions page(const Question& question) const;

 private:
  struct State;
  struct Resolved;
  Resolved resolved(const Question& question) const;
  explicit Session(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace fovea
