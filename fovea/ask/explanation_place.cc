#include "fovea/ask/explanation_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/ask/places.h"
#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// In the order of the records.
std::vector<SiteKind> kinds_in(const Run& run) {
  std::vector<SiteKind> kinds;
  for (const auto& record : run.records) {
    if (std::ranges::count(kinds, record->site.kind) == 0) kinds.push_back(record->site.kind);
  }
  return kinds;
}

SiteKind site_in_run(SiteKind wanted, const Run& run, const std::vector<SiteKind>& kinds) {
  if (std::ranges::count(kinds, wanted) > 0) return wanted;
  // One tower alone has nothing to tell it from.
  const bool picture =
      std::ranges::any_of(run.axes, [](const Axis& axis) { return axis.name == "patches"; });
  if (wanted == SiteKind::kVisionSelf && picture &&
      std::ranges::count(kinds, SiteKind::kSelf) > 0) {
    return SiteKind::kSelf;
  }
  std::vector<std::string> names;
  for (const SiteKind each : kinds) names.emplace_back(name_of(each));
  fail(ErrorKind::kInvalidArgument, Field{"site"},
       "{} is not in the run, which holds only {}; choose another", alias_of(wanted),
       fmt::join(names, " and "));
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

FoundToken mask_or_first(const AskedExplanation& asked, const std::vector<int64_t>& places) {
  const Tokenizer* tokenizer = asked.engine() ? asked.engine()->find_tokenizer() : nullptr;
  const auto mask = tokenizer == nullptr ? std::nullopt : tokenizer->role("mask_token");
  const std::vector<int64_t>& ids = asked.result().inputs.input_ids;
  for (size_t i = 0; mask && i < ids.size(); ++i) {
    if (ids[i] == *mask) return {static_cast<int64_t>(i), ""};
  }
  return {places.empty() ? 0 : places.front(), ""};
}

// The first piece of a word: once that is written, the word is chosen.
int64_t first_piece(const Axis& axis, int64_t index) {
  const auto word_at = [&](int64_t i) { return axis.positions[static_cast<size_t>(i)].word; };
  const int64_t word = word_at(index);
  while (word >= 0 && index > 0 && word_at(index - 1) == word) --index;
  return index;
}

// More than punctuation.
bool is_word(const Axis& axis, int64_t index) {
  return std::ranges::any_of(decode_utf8(to_valid_utf8(plain_label(axis, index))),
                             is_word_character);
}

// The decoder's step that writes the last word. If it wrote only punctuation: the last token.
FoundToken last_written_step(const Axis& target) {
  const auto count = static_cast<int64_t>(target.positions.size());
  std::optional<int64_t> last;
  for (int64_t i = count - 1; i > 0; --i) {
    if (target.positions[static_cast<size_t>(i)].special) continue;
    if (!last) last = i;
    if (!is_word(target, i)) continue;
    const int64_t first = first_piece(target, i);
    return {first - 1, fmt::format("asked about the last word that is written, {}",
                                   target.positions[static_cast<size_t>(first)].text)};
  }
  return {last.value_or(count) - 1, ""};
}

// The decoder's step that writes the named token. Tokens are named as the decoder read them one
// step later.
FoundToken chosen_step(const Place& place, const RunResult& result) {
  const Axis& target = *result.run.find_axis("target");
  if (!place.token) return last_written_step(target);
  FoundToken found = token_named(target, *place.token);
  if (!found.note.empty()) {  // a word of several pieces
    found.index = first_piece(target, found.index);
    found.note = fmt::format("the first piece of a word of several, {}",
                             target.positions[static_cast<size_t>(found.index)].text);
  }
  if (found.index == 0) {
    fail(ErrorKind::kInvalidArgument, Field{"token"},
         "'{}' is what the decoder starts from and nobody writes; name a token of the target, 1 "
         "to {}",
         *place.token, target.positions.size() - 1);
  }
  --found.index;
  return found;
}

// The cell at the middle of what the query found.
FoundToken object_cell(const AskedExplanation& asked, const Axis& cells, int64_t query) {
  const float* box = asked.result().outputs.pred_boxes.tensor.matrix<float>().row(query);
  const auto place = [](double fraction, int64_t count) {
    return std::clamp(static_cast<int64_t>(fraction * static_cast<double>(count)), int64_t{0},
                      count - 1);
  };
  // Without the picture nobody says where its padding begins.
  std::optional<int64_t> cell = place(double{box[1]}, cells.grid_rows) * cells.grid_cols +
                                place(double{box[0]}, cells.grid_cols);
  if (asked.picture) {
    const PictureSize size = asked.picture->picture->size();
    cell = asked.picture->grid.patch_of_pixel(place(double{box[0]}, size.width),
                                              place(double{box[1]}, size.height));
  }
  return {PictureAxis::of(cells).specials + cell.value_or(0),
          fmt::format("the middle of what query {} found", query)};
}

int64_t surest_query(const Place& place, const AskedExplanation& asked) {
  const TargetChoice choice{.query = place.query};
  return std::get<BoxTarget>(named_target(*asked.engine(), asked.result(), choice).target).query;
}

// Whether the position is a step of a decoder, whichever attention is looked at: that of the
// answer.
bool asks_from_step(const AskedExplanation& asked) {
  if (!has_decoder(asked)) return false;
  if (any_record(asked.result(), asked.kind).row_axis == "steps") return true;
  return asked.method.name == "alti+" ||
         (asked.method.needs.target && !cuts_edges(asked.parameters));
}

// The query in a captured run of objects. The surest one cannot be chosen here: only the model
// knows it, and where its object lies.
FoundToken captured_query(const Place& place, const Axis& rows) {
  if (rows.name != "queries") {
    fail(ErrorKind::kInvalidArgument, Field{"token"},
         "a captured run does not hold where objects lie; name a cell, \"cell 3,7\" say");
  }
  const auto count = std::ssize(rows.positions);
  if (!place.query) {
    fail(ErrorKind::kInvalidArgument, Field{"query"},
         "a captured run does not hold which object query is the surest; name one, 0 to {}",
         count - 1);
  }
  if (*place.query < count) return {*place.query, ""};
  fail(ErrorKind::kInvalidArgument, Field{"query"},
       "{} is beyond the run, which has {} object queries, 0 to {}", *place.query, count,
       count - 1);
}

// The row in a captured run of a picture: a token or patch by its name. The run has only a small
// copy of the picture, so pixels do not count here.
FoundToken captured_patch(const Place& place, const Axis& rows) {
  if (place.token) return token_named(rows, *place.token);
  if (rows.grid_rows > 0 && PictureAxis::of(rows).specials == 0) {
    fail(ErrorKind::kInvalidArgument, Field{"token"},
         "there is no token in front of the patches to look from; choose a patch, \"patch 3,7\" "
         "say");
  }
  return {};
}

}  // namespace

SiteKind explained_site(const Question& question, const Engine& engine, bool sees_picture) {
  const Place& place = question.place;
  if (place.site) return site_taken(*place.site, engine, sees_picture);
  const ModelFacts& facts = engine.facts();
  const MethodNeeds needs = method_asked(question, facts).needs;
  if (facts.has_decoder() || facts.finds_objects()) {
    const bool cells = !place.at.empty() && facts.finds_objects();
    return needs.one_stack || cells ? SiteKind::kEncoderSelf : SiteKind::kCross;
  }
  // Without a token in front of the patches, the pooling head is what looks at all of them.
  const std::vector<SiteKind> sites = sites_of(facts, sees_picture);
  const bool names_row = !place.at.empty() || place.token || place.layer;
  const bool pools =
      sites.back() == SiteKind::kPool && facts.picture->front_tokens.empty() && !names_row;
  return pools && !needs.one_stack && !needs.target ? SiteKind::kPool : sites.front();
}

SiteKind explained_site(const Question& question, const Run& run) {
  const Place& place = question.place;
  const std::vector<SiteKind> kinds = kinds_in(run);
  const auto holds = [&](SiteKind kind) { return std::ranges::count(kinds, kind) > 0; };
  if (kinds.empty()) return SiteKind::kSelf;
  if (place.site) return site_in_run(*place.site, run, kinds);
  const bool one_stack = method_asked(question, run).needs.one_stack;
  if (holds(SiteKind::kCross) && holds(SiteKind::kEncoderSelf)) {
    return one_stack ? SiteKind::kEncoderSelf : SiteKind::kCross;
  }
  if (!holds(SiteKind::kPool) || one_stack) return kinds.front();
  const Axis& patches = columns_of(run, SiteKind::kPool);
  const bool nothing_in_front = patches.grid_rows > 0 && PictureAxis::of(patches).specials == 0;
  const bool names_row = place.token || place.layer;
  return nothing_in_front && !names_row ? SiteKind::kPool : kinds.front();
}

FoundToken explained_row(const Question& question, const AskedExplanation& asked) {
  const Place& place = question.place;
  const AttentionRecord& record = any_record(asked.result(), asked.kind);
  const Axis& rows = *asked.result().run.find_axis(record.row_axis);
  const bool names = !place.at.empty() || place.token;
  const bool asks = asked.method.needs.position || names;
  if (asks && rows.positions.empty()) {
    fail(ErrorKind::kUnsupported, "the maps of {} have no rows to ask from", name_of(asked.kind));
  }
  if (asks_from_step(asked)) return chosen_step(place, asked.result());
  if (finds_objects(asked) && !names) {
    // A detector without its head says as little of objects as a captured run.
    const bool knows =
        asked.engine() != nullptr && !asked.result().outputs.pred_boxes.tensor.empty();
    if (!knows) return asks ? captured_query(place, rows) : FoundToken{};
    const int64_t query = surest_query(place, asked);
    return asked.kind == SiteKind::kEncoderSelf ? object_cell(asked, rows, query)
                                                : FoundToken{query, ""};
  }
  if (asked.picture) {
    if (!asks) return {};
    return asked.engine() ? picture_row(place, asked.picture->grid, rows, asked.engine()->name())
                          : captured_patch(place, rows);
  }
  if (place.token) return token_named(rows, *place.token);
  const std::vector<int64_t> places = real_positions(record, rows);
  if (is_causal(asked)) return {places.empty() ? 0 : places.back(), ""};
  return mask_or_first(asked, places);
}

std::string position_name(const AskedExplanation& asked) {
  const RunResult& result = asked.result();
  const auto position = static_cast<size_t>(asked.position);
  const std::string axis =
      asks_from_step(asked) ? "steps" : any_record(result, asked.kind).row_axis;
  // Steps of a text that goes on have no target beside it; they are named by what is read there.
  const Axis* written = result.run.find_axis("target");
  if (axis != "steps" || written == nullptr || written->positions.empty()) {
    return "seen from " + result.run.find_axis(axis)->positions[position].text;
  }
  return position + 1 < written->positions.size()
             ? "writing " + written->positions[position + 1].text
             : "after " + written->positions.back().text;
}

int64_t answer_position(const AskedExplanation& asked) {
  const AttentionRecord& record = any_record(asked.result(), asked.kind);
  if (!has_decoder(asked) || record.row_axis == "steps") return asked.position;
  return last_written_step(*asked.result().run.find_axis("target")).index;
}

}  // namespace fovea
