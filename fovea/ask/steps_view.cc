#include "fovea/ask/steps_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/picture_answer.h"
#include "fovea/ask/places.h"
#include "fovea/base/error.h"
#include "fovea/capture/words.h"
#include "fovea/explain/alignment/aligner.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

bool names_row(const Place& place) {
  return !place.at.empty() || place.token || place.layer;
}

// The usual site of a captured run: the one that a model with these attentions would have.
SiteKind usual_captured_site(const Place& place, const Run& run) {
  const auto holds = [&](SiteKind kind) {
    return std::ranges::any_of(run.records,
                               [&](const auto& each) { return each->site.kind == kind; });
  };
  const bool finds_objects = run.find_axis("queries") != nullptr;
  if (holds(SiteKind::kCross) && !finds_objects) return SiteKind::kCross;
  if (holds(SiteKind::kPool) && !names_row(place)) {
    const Axis& patches = *run.find_axis(chosen_record(run, {.kind = SiteKind::kPool})->col_axis);
    if (patches.grid_rows > 0 && PictureAxis::of(patches).specials == 0) return SiteKind::kPool;
  }
  return chosen_kind(run, {});
}

SiteKind site_of_steps(const Place& place, const FinishedRun& finished) {
  const Engine* engine = finished.engine();
  if (engine == nullptr) {
    const SiteKind kind = place.site.value_or(usual_captured_site(place, finished.run()));
    const bool one_tower = std::ranges::none_of(
        finished.run().records, [&](const auto& each) { return each->site.kind == kind; });
    // One tower alone has nothing to tell it from.
    return kind == SiteKind::kVisionSelf && one_tower ? SiteKind::kSelf : kind;
  }
  const bool picture = looks_at_picture(place, *finished.opened);
  return place.site ? site_taken(*place.site, *engine, picture)
                    : usual_steps_site(place, engine->facts(), picture);
}

// The picture as it was given, or the small copy that a captured run keeps of it.
std::optional<PatchPicture> picture_under(const FinishedRun& finished, const Axis& rows,
                                          const Axis& cols) {
  if (finished.opened) {
    const std::optional<PictureInput>& given = finished.opened->picture;
    if (!given) return {};
    return PatchPicture{given->picture, given->grid};
  }
  const auto seen = captured_picture(finished.run(), cols.grid_rows > 0 ? cols : rows);
  return seen ? std::optional(PatchPicture{*seen->picture, seen->grid}) : std::nullopt;
}

std::string input_name(const FinishedRun& finished, const Axis& cols) {
  if (!finished.opened) return cols.source;
  const auto* picture = std::get_if<PictureBytes>(&finished.opened->input.what);
  return picture != nullptr ? picture->name : cols.source;
}

[[noreturn]] void fail_without_picture(std::string_view field, const std::string& model) {
  fail(ErrorKind::kInvalidArgument, Field{field},
       "it is a pixel of a picture but {} is given a text; choose a word with `{}`", model,
       field == "at" ? "token" : "to_token");
}

void append_note(std::string& notes, const std::string& note) {
  if (!notes.empty() && !note.empty()) notes += " · ";
  notes += note;
}

// The row of a text. If none is named, a causal model takes the last word, which sees all others,
// and another model the first.
FoundToken word_row(const Place& place, ModelStepsView& view, bool causal) {
  if (!place.at.empty()) fail_without_picture("at", view.run.model);
  if (place.token) return token_named(view.rows, *place.token);
  view.defaults.push_back(fmt::format("the {} token", causal ? "last" : "first"));
  const Mask own = view.is_cross() ? Mask() : view.rule.mask;
  std::vector<int64_t> places;
  for (size_t i = 0; i < view.rows.positions.size(); ++i) {
    const bool padding = !own.key_valid.empty() && own.key_valid[i] == 0;
    if (!view.rows.positions[i].special && !padding) places.push_back(static_cast<int64_t>(i));
  }
  if (places.empty()) return {};
  return {causal ? places.back() : places.front(), ""};
}

// The column of a pair; none where the whole row is asked about.
std::optional<int64_t> pair_column(const Question& question, ModelStepsView& view) {
  if (const Json* to = question.fields.find("to")) {
    const Json::Array& pixel = to->as_array("a question");
    if (!view.picture) fail_without_picture("to", view.run.model);
    return position_at(view.picture->grid, view.cols,
                       {pixel[0].as_int("a question"), pixel[1].as_int("a question")}, "to");
  }
  const std::optional<std::string> token = question.word("to_token");
  if (!token) return {};
  const FoundToken found = token_named(view.cols, *token, {"to_token"});
  append_note(view.note, found.note);
  return found.index;
}

// Of a translation the head that its alignment is read from, in the layer that is asked for.
std::optional<HeadCandidate> aligning_head(const Place& place, const FinishedRun& finished,
                                           SiteKind kind) {
  if (!finished.is_translation() || kind != SiteKind::kCross || place.head) return {};
  const Translation& translation = finished.translation;
  const PairMaps pair = pair_maps(finished.run(), translation.prefix, translation.anchors);
  HeadRanking ranking;
  ranking.add(pair);
  AlignOptions options;
  if (place.layer) options.layer = static_cast<int>(*place.layer);
  const MapChoice choice = choose_map(ranking.statistics(), options);
  return HeadCandidate{choice.layer, choice.head, choice.reading};
}

std::vector<std::string> default_places(const Question& question, SiteKind kind,
                                        const std::optional<HeadCandidate>& aligning) {
  std::vector<std::string> defaults;
  if (aligning) {
    defaults.push_back(question.place.layer
                           ? fmt::format("head {}, which aligns best there", *aligning->head)
                           : fmt::format("layer {} and head {}, which the alignment is read from",
                                         *aligning->layer, *aligning->head));
    return defaults;
  }
  if (!question.place.layer && kind != SiteKind::kPool) defaults.emplace_back("the last layer");
  if (!question.place.head) defaults.emplace_back("head 0");
  return defaults;
}

void choose_tokens(const Question& question, const FinishedRun& finished, ModelStepsView& view,
                   const AttentionRecord& record) {
  const Place& place = question.place;
  const SiteKind kind = record.site.kind;
  FoundToken token;
  if (view.picture) {
    token = picture_row(place, view.picture->grid, view.rows, view.run.model);
    if (place.at.empty() && !place.token && kind != SiteKind::kPool) {
      view.defaults.push_back(view.rows.positions.front().text);
    }
  } else {
    const bool causal = finished.engine() != nullptr
                            ? finished.engine()->facts().text_stack().causal
                            : record.rule.mask.ahead == 0;
    token = word_row(place, view, causal || kind == SiteKind::kDecoderSelf);
  }
  view.note = token.note;
  if (record.row_axis == "steps") {
    const Axis& steps = *finished.run().find_axis("steps");
    append_note(view.note, steps.positions[static_cast<size_t>(token.index)].text);
  }
  view.steps.row = token.index;
  view.to = pair_column(question, view);
}

}  // namespace

SiteKind usual_steps_site(const Place& place, const ModelFacts& facts, bool sees_picture) {
  const std::vector<SiteKind> sites = sites_of(facts, sees_picture);
  // Without a token in front of the patches, the pooling head is what looks at all of them.
  return sites.back() == SiteKind::kPool && facts.picture->front_tokens.empty() && !names_row(place)
             ? SiteKind::kPool
             : sites.front();
}

void check_steps_pixels(const Question& question, const OpenedInput& opened) {
  const Json* to = question.fields.find("to");
  if (!opened.picture) {
    if (!question.place.at.empty()) fail_without_picture("at", opened.engine.name());
    if (to != nullptr) fail_without_picture("to", opened.engine.name());
    return;
  }
  const PatchGrid& grid = opened.picture->grid;
  for (const PictureSpot& spot : question.place.at) patch_at(grid, spot);
  if (to == nullptr) return;
  const Json::Array& pixel = to->as_array("a question");
  patch_at(grid, {pixel[0].as_int("a question"), pixel[1].as_int("a question")}, "to");
}

ModelStepsView steps_view(const Question& question, const FinishedRun& finished) {
  const Run& run = finished.run();
  const Place& place = question.place;
  const SiteKind kind = site_of_steps(place, finished);
  const std::optional<HeadCandidate> aligning = aligning_head(place, finished, kind);
  std::optional<int64_t> layer = place.layer;
  if (aligning) layer = *aligning->layer;
  const RecordPointer record = chosen_record(run, {.kind = kind, .layer = layer});
  const Engine* engine = finished.engine();
  ModelStepsView view{.rotary = engine != nullptr && engine->facts().main.rotary,
                      .adds_positions = engine != nullptr ? engine->facts().finds_objects()
                                                          : run.find_axis("queries") != nullptr};
  view.run = run;
  // Rows that are steps of writing are named by what the decoder reads there.
  const Axis* read = record->row_axis == "steps" ? run.find_axis("target") : nullptr;
  view.rows = read != nullptr ? *read : *run.find_axis(record->row_axis);
  view.cols = *run.find_axis(record->col_axis);
  view.input = input_name(finished, view.cols);
  view.picture = picture_under(finished, view.rows, view.cols);
  view.rule = record->rule;
  view.steps.site = record->site;
  view.defaults = default_places(question, record->site.kind, aligning);
  choose_tokens(question, finished, view, *record);

  const int64_t head = place.head ? place.head->head : aligning ? *aligning->head : 0;
  const int64_t row = view.steps.row;
  const std::optional<std::string> similarity = question.word("similarity");
  std::optional<Similarity> other;
  if (similarity == "dot") other = DotProduct{};
  if (similarity == "cosine") other = Cosine{};
  view.steps = model_steps(record, head, row, other);
  if (similarity == kAllSimilarities) {
    view.others = {model_steps(record, head, row, DotProduct{}),
                   model_steps(record, head, row, Cosine{})};
  }
  return view;
}

}  // namespace fovea
