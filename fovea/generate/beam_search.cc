// The few best texts at once. Follows transformers' rules of what is kept, what is finished and
// when to stop, in f32 as there, so that equal and nearly equal texts fall alike.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/generate/search.h"
#include "fovea/generate/top_k.h"
#include "fovea/generate/word_scores.h"

namespace fovea {
namespace {

constexpr float kWorthless = -1e9f;  // the score of a place that no text has taken yet

struct Candidate {
  float score;  // log p of the text with this word
  int64_t row;
  int64_t id;
  bool ends;
  bool forbidden() const { return std::isinf(score); }
};

struct OpenText {
  std::vector<int64_t> ids;  // the prompt too
  std::vector<int64_t> rows;
  float score;  // log p
};

struct Place {
  Hypothesis text;
  float score = kWorthless;
  bool taken = false;
};

class BeamSearch {
 public:
  BeamSearch(NextWords& words, std::span<const int64_t> prompt, const SearchOptions& options)
      : words_(words),
        options_(options),
        prompt_(prompt),
        rules_(options.rules, options.stop_ids, std::ssize(prompt), options.most_tokens),
        beams_(static_cast<size_t>(options.beams)),
        places_(beams_) {}
  std::vector<Hypothesis> run();

 private:
  std::vector<Candidate> find_candidates(Tensor scores);
  void finish(const std::vector<Candidate>& candidates);
  void go_on_with(const std::vector<Candidate>& candidates);
  bool can_improve() const;
  float divided_by_length(float score, int64_t length) const;
  void tell_step() const;
  std::vector<Hypothesis> results();

  NextWords& words_;
  const SearchOptions& options_;
  std::span<const int64_t> prompt_;
  ScoreRules rules_;
  size_t beams_;
  int64_t written_ = 0;
  std::vector<OpenText> open_;
  std::vector<Place> places_;  // best first
  std::vector<float> scratch_;
};

std::vector<Hypothesis> BeamSearch::run() {
  check_cancelled();
  Tensor scores = words_.start(prompt_);
  validate(options_.rules, scores.size(1));
  open_.push_back({.ids = {prompt_.begin(), prompt_.end()}, .rows = {}, .score = 0});
  while (true) {
    const std::vector<Candidate> candidates = find_candidates(std::move(scores));
    ++written_;
    finish(candidates);
    go_on_with(candidates);
    tell_step();
    if (open_.empty() || !can_improve()) return results();
    check_cancelled();
    std::vector<int64_t> parents, ids;
    for (const OpenText& text : open_) {
      parents.push_back(text.rows.back());
      ids.push_back(text.ids.back());
    }
    scores = words_.step(parents, ids);
  }
}

// More than there are beams, so that as many go on even if all others end here. Forbidden words may
// be among them: which of equal candidates are kept depends on how many there are.
std::vector<Candidate> BeamSearch::find_candidates(Tensor scores) {
  const int64_t vocabulary = scores.size(1);
  FOVEA_ASSERT(scores.size(0) == std::ssize(open_));
  TopScores top(beams_ * std::max<size_t>(2, 1 + options_.stop_ids.size()));
  for (size_t r = 0; r < open_.size(); ++r) {
    const std::span<float> row = score_row(scores, static_cast<int64_t>(r));
    log_softmax(row, scratch_);
    rules_.apply(open_[r].ids, row);
    const float before = open_[r].score;
    const int64_t first = static_cast<int64_t>(r) * vocabulary;
    for (size_t id = 0; id < row.size(); ++id) {
      top.offer(row[id] + before, first + static_cast<int64_t>(id));
    }
  }
  std::vector<Candidate> candidates;
  const bool at_limit = written_ + 1 == options_.most_tokens;
  for (const Scored& entry : top.take()) {
    const int64_t id = entry.index % vocabulary;
    const bool ends = std::ranges::find(options_.stop_ids, id) != options_.stop_ids.end();
    candidates.push_back({entry.score, entry.index / vocabulary, id, ends || at_limit});
  }
  return candidates;
}

// Only an end among the best `beams` counts; the other candidates are there to go on.
void BeamSearch::finish(const std::vector<Candidate>& candidates) {
  std::vector<float> scores;
  for (const Place& place : places_) scores.push_back(place.score);
  for (size_t c = 0; c < candidates.size(); ++c) {
    const bool counts = c < beams_ && candidates[c].ends;
    scores.push_back(divided_by_length(candidates[c].score, written_) + (counts ? 0 : kWorthless));
  }
  std::vector<Place> kept;
  for (const size_t index : best_of(scores, beams_)) {
    if (index < beams_) {
      kept.push_back(std::move(places_[index]));
      continue;
    }
    const size_t c = index - beams_;
    const Candidate& candidate = candidates[c];
    Place& place = kept.emplace_back();
    if (c >= beams_ || !candidate.ends || candidate.forbidden()) continue;
    const OpenText& before = open_[static_cast<size_t>(candidate.row)];
    place = {.text = {.ids = {before.ids.begin() + std::ssize(prompt_), before.ids.end()},
                      .score = static_cast<double>(scores[index]),
                      .rows = before.rows},
             .score = scores[index],
             .taken = true};
    place.text.ids.push_back(candidate.id);
    place.text.rows.push_back(candidate.row);
  }
  places_ = std::move(kept);
}

void BeamSearch::go_on_with(const std::vector<Candidate>& candidates) {
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) {
    scores.push_back(candidate.score + (candidate.ends ? kWorthless : 0));
  }
  std::vector<OpenText> next;
  for (const size_t index : best_of(scores, beams_)) {
    const Candidate& candidate = candidates[index];
    if (candidate.ends || candidate.forbidden()) continue;
    OpenText& text = next.emplace_back(open_[static_cast<size_t>(candidate.row)]);
    text.ids.push_back(candidate.id);
    text.rows.push_back(candidate.row);
    text.score = candidate.score;
  }
  open_ = std::move(next);
}

// Whether the best open text may still take a place.
bool BeamSearch::can_improve() const {
  const bool full = std::ranges::all_of(places_, &Place::taken);
  if (!full) return true;
  if (options_.early_stopping == EarlyStopping::kAtOnce) return false;
  const bool longest =
      options_.early_stopping == EarlyStopping::kExhaustive && options_.length_penalty > 0;
  const float hoped =
      divided_by_length(open_.front().score, longest ? options_.most_tokens : written_);
  return hoped > places_.back().score;
}

float BeamSearch::divided_by_length(float score, int64_t length) const {
  using Limits = std::numeric_limits<float>;
  const double divisor = std::pow(static_cast<double>(length), options_.length_penalty);
  return score / static_cast<float>(std::clamp<double>(divisor, Limits::min(), Limits::max()));
}

void BeamSearch::tell_step() const {
  if (!options_.on_step) return;
  if (!open_.empty()) {
    options_.on_step(std::span(open_.front().ids).subspan(prompt_.size()));
  } else if (places_.front().taken) {
    options_.on_step(places_.front().text.ids);
  }
}

std::vector<Hypothesis> BeamSearch::results() {
  std::vector<Hypothesis> found;
  for (Place& place : places_) {
    if (place.taken) found.push_back(std::move(place.text));
  }
  if (found.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "no text could be finished: the rules of this generation forbid every word after {} "
         "written "
         "ones, or the length penalty {} is too strong; loosen them",
         written_ - 1, options_.length_penalty);
  }
  return found;
}

}  // namespace

std::vector<Hypothesis> beam_search(NextWords& words, std::span<const int64_t> prompt,
                                    const SearchOptions& options) {
  return BeamSearch(words, prompt, options).run();
}

}  // namespace fovea
