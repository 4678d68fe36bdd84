// What "cat" attends to in a captured run: the weights, and the same as facts in JSON.
#include <fmt/format.h>

#include "fovea/ask/session.h"
#include "fovea/capture/run_file.h"

int main(int, char** arguments) {
  const fovea::Session session = fovea::Session::of(fovea::load_run(arguments[1]));
  const fovea::Question question = fovea::parse_question(
      fovea::Json::object({{"kind", "read"}, {"layer", 0}, {"head", 1}, {"token", "cat"}}));
  const fovea::Answer answer = session.ask(question);
  fmt::print("{}\n", fovea::text_in(answer.figure).caption);
  fmt::print("{}\n", fovea::whole(answer).at("result", "the answer").dump());
}
