#include "fovea/cli/explain/position.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/cli/site_options.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

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

FoundToken mask_or_first(const ExplainQuestion& question, const std::vector<int64_t>& places) {
  const Tokenizer* tokenizer = question.engine ? question.engine->find_tokenizer() : nullptr;
  const auto mask = tokenizer == nullptr ? std::nullopt : tokenizer->role("mask_token");
  const std::vector<int64_t>& ids = question.result.inputs.input_ids;
  for (size_t i = 0; mask && i < ids.size(); ++i) {
    if (ids[i] == *mask) return {static_cast<int64_t>(i), ""};
  }
  return {places.empty() ? 0 : places.front(), ""};
}

// Of a word of several pieces the first: when that is written the word is chosen.
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

// Of a decoder: the step that writes the last word; where it writes punctuation alone, the last
// token.
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

// Of a decoder: the step that writes the token which --token names among those that it read next.
FoundToken chosen_step(const Args& args, const RunResult& result) {
  const Axis& target = *result.run.find_axis("target");
  if (args.has("token")) {
    FoundToken found = token_named(target, args["token"]);
    if (!found.note.empty()) {  // a word of several pieces
      found.index = first_piece(target, found.index);
      found.note = fmt::format("the first piece of a word of several, {}",
                               target.positions[static_cast<size_t>(found.index)].text);
    }
    if (found.index == 0) {
      fail(ErrorKind::kInvalidArgument,
           "--token is '{}', which the decoder starts from and nobody writes; name a token of the "
           "target, 1 to {}",
           args["token"], target.positions.size() - 1);
    }
    --found.index;
    return found;
  }
  return last_written_step(target);
}

// The cell at the middle of what the query found.
FoundToken object_cell(const ExplainQuestion& question, const Axis& cells, int64_t query) {
  const float* box = question.result.outputs.pred_boxes.tensor.matrix<float>().row(query);
  const auto place = [](double fraction, int64_t count) {
    return std::clamp(static_cast<int64_t>(fraction * static_cast<double>(count)), int64_t{0},
                      count - 1);
  };
  // Without the picture nobody says where its padding begins.
  std::optional<int64_t> cell = place(double{box[1]}, cells.grid_rows) * cells.grid_cols +
                                place(double{box[0]}, cells.grid_cols);
  if (question.picture) {
    const PictureSize size = question.picture->picture.size();
    cell = question.picture->grid.patch_of_pixel(place(double{box[0]}, size.width),
                                                 place(double{box[1]}, size.height));
  }
  return {PictureAxis::of(cells).specials + cell.value_or(0),
          fmt::format("the middle of what query {} found", query)};
}

int64_t surest_query(const ExplainQuestion& question, const Args& args) {
  TargetChoice choice;
  if (args.has("query")) choice.query = args.integer("query");
  return std::get<BoxTarget>(named_target(*question.engine, question.result, choice).target).query;
}

// Whether the position is a step of a decoder, whichever attention is looked at: that of the
// answer.
bool asks_from_step(const ExplainQuestion& question) {
  if (!has_decoder(question)) return false;
  if (any_record(question.result, question.kind).row_axis == "steps") return true;
  return question.method.name == "alti+" ||
         (question.method.needs.target && !cuts_edges(question.parameters));
}

// Of a captured run of objects: which query is the surest and where its object lies is known to the
// model alone.
FoundToken captured_query(const Args& args, const Axis& rows) {
  if (rows.name != "queries") {
    fail(ErrorKind::kInvalidArgument,
         "a captured run does not hold where objects lie; name a cell with --token \"cell 3,7\"");
  }
  if (!args.has("query")) {
    fail(ErrorKind::kInvalidArgument,
         "a captured run does not hold which object query is the surest; give --query 0 to {}",
         rows.positions.size() - 1);
  }
  const int64_t query = args.integer("query");
  if (query < std::ssize(rows.positions)) return {query, ""};
  fail(ErrorKind::kInvalidArgument, "--query is {} but the run has {} object queries, 0 to {}",
       query, rows.positions.size(), rows.positions.size() - 1);
}

// Of a captured run of a picture, whose pixels are those of a small copy.
FoundToken captured_patch(const Args& args, const Axis& rows) {
  if (args.has("token")) return token_named(rows, args["token"]);
  if (rows.grid_rows > 0 && PictureAxis::of(rows).specials == 0) {
    fail(ErrorKind::kInvalidArgument,
         "there is no token in front of the patches to look from; choose a patch with --token "
         "\"patch 3,7\"");
  }
  return {};
}

}  // namespace

bool cuts_edges(const GivenParameters& parameters) {
  const auto unit = parameters.find("unit");
  return unit != parameters.end() && unit->second == "edge";
}

FoundToken chosen_row(const Args& args, const ExplainQuestion& question) {
  const AttentionRecord& record = any_record(question.result, question.kind);
  const Axis& rows = *question.result.run.find_axis(record.row_axis);
  const bool asks = question.method.needs.position || args.has("at") || args.has("token");
  if (asks && rows.positions.empty()) {
    fail(ErrorKind::kUnsupported, "the maps of {} have no rows to ask from",
         name_of(question.kind));
  }
  if (asks_from_step(question)) return chosen_step(args, question.result);
  if (finds_objects(question) && !args.has("at") && !args.has("token")) {
    if (!question.engine) return asks ? captured_query(args, rows) : FoundToken{};
    const int64_t query = surest_query(question, args);
    return question.kind == SiteKind::kEncoderSelf ? object_cell(question, rows, query)
                                                   : FoundToken{query, ""};
  }
  if (question.picture) {
    if (!asks) return {};
    return question.engine ? chosen_patch(args, *question.picture, rows, *question.engine)
                           : captured_patch(args, rows);
  }
  if (args.has("token")) return token_named(rows, args["token"]);
  const std::vector<int64_t> places = real_positions(record, rows);
  if (is_causal(question)) return {places.empty() ? 0 : places.back(), ""};
  return mask_or_first(question, places);
}

std::string position_name(const ExplainQuestion& question) {
  const RunResult& result = question.result;
  const int64_t position = question.position;
  const std::string axis =
      asks_from_step(question) ? "steps" : any_record(result, question.kind).row_axis;
  // Steps of a text that goes on have no target beside it; they are named by what is read there.
  const Axis* written = result.run.find_axis("target");
  if (axis != "steps" || written == nullptr || written->positions.empty()) {
    return "seen from " + result.run.find_axis(axis)->positions[static_cast<size_t>(position)].text;
  }
  const auto next = static_cast<size_t>(position) + 1;
  return next < written->positions.size() ? "writing " + written->positions[next].text
                                          : "after " + written->positions.back().text;
}

int64_t answer_position(const ExplainQuestion& question) {
  const AttentionRecord& record = any_record(question.result, question.kind);
  if (!has_decoder(question) || record.row_axis == "steps") {
    return question.position;
  }
  return last_written_step(*question.result.run.find_axis("target")).index;
}

}  // namespace fovea
