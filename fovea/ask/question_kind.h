// A kind of question: a view of a run. Each is a file of fovea/ask/kinds and describes itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/page_options.h"

namespace fovea {

class Counter;
struct ManyAsked;
struct ManyState;

struct QuestionKind {
  std::string name;
  std::string view = {};            // what a verb calls it, if not by its name
  std::string summary;              // one line
  std::vector<FieldInfo> fields;    // fields of the place first
  std::vector<std::string> verbs;   // verbs of the program that offer it as --view
  bool has_maps = true;             // has numbers for .npy and the like; a table has none
  bool has_page = true;             // a saved page can open at it
  std::optional<SiteKind> only_of;  // the one attention that it is about; none: any
  // Chooses the attention if that depends on more than the model; null: the model's first.
  SiteKind (*site)(const Question& question, const Engine& engine, bool sees_picture) = nullptr;
  // Throws Error{kUnsupported} for a model that it is not about; null: any model.
  void (*check)(const Engine& engine) = nullptr;
  // Checks a question against the model and its input before it runs, and throws if something asked
  // is missing; null: check_place() checks enough.
  void (*check_input)(const Question& question, const OpenedInput& opened) = nullptr;
  // What the run must hold beside its records; null: nothing.
  RunNeeds (*needs)(const Question& question, const OpenedInput& opened) = nullptr;
  Answer (*answer)(const Question& question, const FinishedRun& run) = nullptr;
  // A kind over many inputs has these in place of `answer` (ask/many/counter.h): one counts, the
  // other makes the answer. `counter` throws for what does not go together.
  std::unique_ptr<Counter> (*counter)(const ManyAsked& asked) = nullptr;
  Answer (*finish)(const ManyAsked& asked, const ManyState& state) = nullptr;
  const char* doing = "counting";  // for who waits
  // The part of the question that decides what is counted; the rest only says what is shown. Null:
  // all of it counts.
  Json (*counted)(const Question& question) = nullptr;
  // Where a page of the run opens that shows the same; null: by the place alone.
  PageOptions (*page)(const Question& question, const FinishedRun& run) = nullptr;
};

// Made from kinds/ by CMake, in the order of the names.
std::vector<QuestionKind> all_question_kinds();
// Throws Error{kInvalidArgument} about the field "kind" that lists the names.
const QuestionKind& question_kind_named(std::string_view name);

// Throws Error{kInvalidArgument} for what a saved page does not show.
void check_page(const Question& question);

std::vector<FieldInfo> joined_fields(std::vector<FieldInfo> fields, std::vector<FieldInfo> more);

// The fields of a place, as most kinds take them.
FieldInfo site_field();
FieldInfo layer_field(bool all_layers = false);
FieldInfo head_field(std::vector<std::string> words = {"mean", "max", "min", "all"});
// The same where several heads have a map each: a list of them is taken too.
FieldInfo heads_field();
FieldInfo at_field(bool several = false);
FieldInfo query_field();
FieldInfo token_field();
FieldInfo column_field();
FieldInfo words_field();
// The field "exact": show every cell, never pooled.
FieldInfo exact_field();

// What is drawn and how it becomes a colour: "of", "scale", "range".
FieldInfo of_field();
FieldInfo scale_field();
FieldInfo range_field();
std::vector<FieldInfo> drawing_fields();
// The same over a picture, and "smooth".
std::vector<FieldInfo> picture_drawing_fields();
// A part of a map: "rows", "cols" and "around".
std::vector<FieldInfo> part_fields();
// "pool": what a bin of a map is that is too long for its cells.
FieldInfo pool_field();
// Columns left out: "hide_sinks", "hide_special", "renormalise".
std::vector<FieldInfo> hiding_fields();
// "needles": rings around single strong weights of a long map.
FieldInfo needles_field();

}  // namespace fovea
