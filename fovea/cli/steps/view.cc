#include "fovea/cli/steps/view.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/command.h"

namespace fovea {
namespace {

int64_t problem_token_named(const std::vector<std::string>& labels, const std::string& token) {
  std::vector<int64_t> found;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == token) found.push_back(static_cast<int64_t>(i));
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    fail(ErrorKind::kInvalidArgument, "--token '{}' is the label of {}; give one of these numbers",
         token, fmt::join(found, " and "));
  }
  const auto count = static_cast<int64_t>(labels.size());
  const auto index = parse_number<int64_t>(token);
  if (!index) {
    fail(ErrorKind::kInvalidArgument,
         "--token '{}' is not a label of this file{}; give a label or a number from 0 to {}", token,
         did_you_mean(token, labels), count - 1);
  }
  if (*index < 0 || *index >= count) {
    fail(ErrorKind::kInvalidArgument, "--token is {} but there are {} vectors, 0 to {}", token,
         count, count - 1);
  }
  return *index;
}

int64_t pixel_at(const PixelGrid& grid, const std::string& at) {
  const PixelArgument pixel = parse_pixel(at);
  return grid.index_of({.row = pixel.y, .column = pixel.x});
}

}  // namespace

StepsView choose_view(const StepsProblem& problem, const StepsChoice& choice) {
  StepsView view{.head = choice.head, .column = choice.column};
  if (choice.token && choice.at) {
    fail(ErrorKind::kInvalidArgument, "--token and --at both choose a vector; give one of them");
  }
  if (choice.at && !problem.grid) {
    fail(ErrorKind::kInvalidArgument, "--at chooses a pixel but {} has no image; use --token",
         problem.file);
  }
  if (problem.memory && (choice.head || choice.column)) {
    fail(ErrorKind::kInvalidArgument, "--{} does not go with a memory; leave it out",
         choice.head ? "head" : "column");
  }
  if (choice.head && *choice.head >= problem.attention.heads) {
    fail(ErrorKind::kInvalidArgument, "--head is {} but there are {} heads, 0 to {}", *choice.head,
         problem.attention.heads, problem.attention.heads - 1);
  }
  if (choice.token) {
    view.place =
        problem_token_named(choice.column ? problem.source_labels : problem.labels, *choice.token);
  } else if (choice.at) {
    view.place = pixel_at(*problem.grid, *choice.at);
  } else if (problem.grid) {
    view.place = problem.grid->index_of(
        {.row = problem.grid->height / 2, .column = problem.grid->width / 2});
  } else if (choice.column) {
    fail(ErrorKind::kInvalidArgument, "--column needs to know whose column; add --token");
  }
  return view;
}

}  // namespace fovea
