#include "fovea/cli/count.h"

#include <fmt/format.h>

#include <chrono>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

constexpr auto kBetweenSaves = std::chrono::seconds(2);

// What a broken file says is of no use to who gave it: only that a count cannot go on from it.
Json parse_state(const std::filesystem::path& path) {
  try {
    return Json::parse(read_text_file(path), path.string());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadFile) throw;
    fail(ErrorKind::kBadFile,
         "{} is no count to go on from: it is cut off or no JSON; remove it to begin anew, or "
         "give another --state",
         path.string());
  }
}

ManyState load_state(const std::filesystem::path& path, const Json& identity) {
  if (!file_exists(path)) return {};
  ManyState state = ManyState::from_json(parse_state(path), path.string());
  if (const std::string what = difference(state.of, identity); !what.empty()) {
    fail(ErrorKind::kBadFile,
         "{} is of another count: {}; give the same as before, or remove it to begin anew",
         path.string(), what);
  }
  return state;
}

void save_state(const std::filesystem::path& path, const ManyState& state) {
  const InScope finished(nullptr);  // it may be saved because the count is cancelled
  const InterruptGuard guard;
  const std::string text = state.to_json().dump() + "\n";
  write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
}

}  // namespace

std::filesystem::path state_path(const Args& args) {
  if (args.has("state")) return args["state"];
  return args.has("out") ? args["out"] + ".part" : "";
}

ManyState counted(const Engine& engine, const ManyInputs& inputs, const Question& question,
                  const std::filesystem::path& file) {
  if (file.empty()) {
    ManyState state = ask_all(engine, inputs, question);
    if (state.cancelled) fail(ErrorKind::kCancelled, "the work was cancelled");
    return state;
  }
  ManyOptions options{.state = load_state(file, identity_of(engine, inputs, question))};
  if (const int64_t before = options.state.inputs(); before > 0) {
    print_warnings({fmt::format("{} inputs were counted by an earlier run", before)});
  }
  // The first at once, so that a place where nothing can be written is told early.
  std::chrono::steady_clock::time_point saved;
  options.between = [&](const ManyState& state) {
    if (std::chrono::steady_clock::now() - saved <= kBetweenSaves) return;
    save_state(file, state);
    saved = std::chrono::steady_clock::now();
  };
  // An interrupt ends the step, and is answered by saving what was counted before it.
  const InterruptGuard guard;
  ManyState state = ask_all(engine, inputs, question, {}, std::move(options));
  if (state.cancelled) {
    save_state(file, state);
    print_warnings({fmt::format("{} of {} inputs are counted; the same command goes on from {}",
                                state.inputs(), inputs.count, file.string())});
    write_notes();
  }
  return state;
}

void show_count(const Answer& answer, const Args& args, const std::string& preface,
                std::optional<Figure> told) {
  print_warnings(answer.notes);
  show({.figure = answer.figure,
        .data = [answer] { return numbers_of(answer); },
        .json = [answer] { return whole(answer); },
        .csv = [answer] { return records_csv(*answer.records); },
        .sidecar = [answer] { return answer_sidecar(answer); },
        .told = std::move(told)},
       args, preface);
}

}  // namespace fovea
