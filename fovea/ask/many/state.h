// What was counted so far over many inputs, as a value: it is merged with that of another part,
// written to a file, and gone on from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/chunked_statistics.h"

namespace fovea {

struct ManyState {
  // Inputs that something is to be told about: how many, and the first.
  struct Told {
    int64_t count = 0;
    int64_t first = 0;  // its number
    std::string text;   // what is to be told of it

    void add(int64_t input, std::string what);
    void merge(const Told& other);
  };
  // Inputs [begin, end).
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };
  // What one input gave, in the order that its kind of question says.
  struct Row {
    int64_t input = 0;
    std::string name;  // empty where no answer shows it
    std::vector<double> numbers;
    Json more = {};  // what is no number; null: nothing
  };

  Json of = Json::object({});  // what is counted: model, question, inputs
  std::vector<Range> counted;  // in order, with gaps between them
  Told left_out;               // inputs that could not be read, or that the model cannot take
  Told noted;                  // inputs that were counted, with a warning
  Json settled;                // what the first inputs decided for all; null: nothing yet
  std::map<std::string, int64_t> counts;
  ChunkedStatistics sums;
  std::vector<Row> rows;
  bool cancelled = false;  // the last count was stopped; no part of what is kept

  int64_t inputs() const;  // that were counted or left out
  bool has(int64_t input) const;
  void end_input(int64_t input);
  // `reason` says what is wrong with it; it may begin with the name already.
  void leave_out(int64_t input, const std::string& name, const std::string& reason);

  // Adds a count of other inputs. Throws Error{kInvalidArgument} if it is of another question, or
  // of inputs that are counted already, and is then as it was.
  void merge(ManyState other);

  Json to_json() const;
  // Throws Error{kBadFile} naming `where`: for what is no state, or one in another format.
  static ManyState from_json(const Json& json, const std::string& where);
};

// The first thing that two counts do not share, in words: "limit was 0 and is now 7". Empty: they
// are of the same.
std::string difference(const Json& was, const Json& now);

}  // namespace fovea
