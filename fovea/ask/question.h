// A question about a run: one flat object. It is the same in URLs, HTTP bodies, Python's keywords,
// files beside figures and the program's options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/picture_bytes.h"
#include "fovea/atlas/head_choice.h"
#include "fovea/base/json.h"
#include "fovea/capture/site.h"

namespace fovea {

// A pixel of a picture as the file shows it, from the top left.
struct PictureSpot {
  int64_t x = 0;
  int64_t y = 0;
};

// Which attention is meant, and which position of it. What is not given is chosen to suit the model
// and the question; the answer's facts say what was taken.
struct Place {
  std::optional<SiteKind> site;
  std::optional<int64_t> layer;
  bool all_layers = false;
  std::optional<HeadChoice> head;
  std::vector<PictureSpot> at;       // pixels of the picture, whose patches or cells are meant
  std::optional<int64_t> query;      // for a model that finds objects
  std::optional<std::string> token;  // as token_named() takes it; JSON's number 5 is "#5"
  bool column = false;               // who attends to it, not what it attends to
  bool words = false;                // pieces of words are put together
};

struct Question {
  std::string kind;  // a name of all_question_kinds(); empty: what suits the place
  Place place;
  Json fields = Json::object();  // the kind's own, checked
  // Pictures that fields name, for example to be similar to. The front end opens the files; JSON
  // holds only their names.
  std::map<std::string, PictureBytes, std::less<>> pictures = {};

  // Readers of the kind's own fields.
  bool flag(std::string_view name) const { return fields.find(name) != nullptr; }
  std::optional<double> number(std::string_view name) const;
  std::optional<std::string> word(std::string_view name) const;
};

// What a run is about. That decides which kind of question is usual.
enum class RunSort { kText, kPicture, kObjects };

// Reads a question. If it names no kind, the other fields decide (usual_kind), and the result names
// it. Throws Error{kInvalidArgument} about a field that the kind does not have (naming the
// nearest), a wrong value, or fields that do not go together.
Question parse_question(const Json& json, RunSort sort = RunSort::kText);
// Its inverse: parse_question(to_json(q)) is q.
Json to_json(const Question& question);

// The kind that such fields are about. For a text: read for a token, matrix for one head, else
// heads. For a picture: the maps over it. For objects in a picture: the kind that the fields belong
// to, else the objects.
std::string usual_kind(const Json& given, RunSort sort);

}  // namespace fovea
