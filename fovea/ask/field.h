// A field of a question or of an input, described once. The program's options and help, the members
// of JSON with their schema, and the controls of all other front ends are made from it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

// A pixel is [x, y], typed X,Y: column and row, from 0. A size is [width, height], typed WxH. A
// range is the text A:B, from 0 and without B; either may be left out, and JSON may say [A, B].
enum class FieldType { kFlag, kText, kInteger, kReal, kChoice, kPixel, kSize, kRange };

// A rule about other fields, if this field is given: another one must be given too, must not be
// given, or must be one of some words.
struct FieldRule {
  std::string needs = {};                // this other field must be given
  std::string value = {};                // ... and have this value; empty: any
  std::string excludes = {};             // this other field must not be given
  std::string beside = {};               // where this other field is given,
  std::vector<std::string> values = {};  // ... it must be one of these
  std::string why;                       // completes "it ...": "shows who attends to a token"
  // The rule holds only if the field is this word, or is a number above this one.
  std::string at = {};
  double above = -std::numeric_limits<double>::infinity();
};

struct FieldInfo {
  std::string name;   // in JSON: "length_penalty"
  std::string shown;  // what help shows for the value: "WORD|i"
  std::string help;   // one line
  FieldType type = FieldType::kText;
  // A choice: all its words. A number or a size: words that may stand in its place ("mean").
  std::vector<std::string> words = {};
  std::map<std::string, std::string> aliases = {};  // another word, and the one it means
  double low = -std::numeric_limits<double>::infinity();
  bool low_excluded = false;  // the value must be above `low`
  double high = std::numeric_limits<double>::infinity();
  std::string otherwise = {};  // the default, in words
  bool may_be_empty = false;   // of a text
  bool required = false;       // must be given
  bool several = false;        // takes a list of such values
  int64_t most = 0;            // most values of a list; 0: any number
  bool or_index = false;       // for a text: JSON may give a number N, which means "#N"
  bool or_list = false;        // takes also a list of whole numbers from 0, typed 0,3,7
  bool on_page = true;         // a saved page shows it too
  std::string models = {};     // which models it is for; empty: all
  std::vector<FieldRule> rules = {};
};

// Whether a member of an object says anything: null and false mean the same as no member.
bool is_given(const Json& value);

// Whether it is a list of numbers, as `or_list` takes it: [0, 3], or the text 0,3.
bool is_list(const Json& value);

// Null if there is none.
const FieldInfo* find_field(std::span<const FieldInfo> fields, std::string_view name);

// Turns what a person typed into the value that it means. A list takes several texts; pixels may
// also come as X,Y:X,Y. Throws as checked_value() does.
Json typed_value(const FieldInfo& field, const std::vector<std::string>& texts);

// Its inverse: what to type for a value; nothing for a flag.
std::vector<std::string> typed_texts(const FieldInfo& field, const Json& value);

// The value as it is stored, with words for aliases. Throws Error{kInvalidArgument} about the field
// for another type, a number that is too small or too large and a word that there is not.
Json checked_value(const FieldInfo& field, const Json& value);

// Messages write other fields `like this`, so that front ends can put in their own words.

// An object of checked values. A flag that is false and a member that is null count as not given.
// Throws Error{kInvalidArgument} about the first member that `what` has no field for (with the
// nearest one), that has a wrong value or that breaks a rule, or about one that is missing.
Json checked_fields(std::span<const FieldInfo> fields, const Json& given, std::string_view what);

// The JSON Schema of an object with these members, rules included.
Json schema_of(std::span<const FieldInfo> fields);

}  // namespace fovea
