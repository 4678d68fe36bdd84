// A method that explains: it gives every position of the input (or every head) a number. Each is a
// file of fovea/explain/methods and describes itself; help, documentation and every front end are
// made from that.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/capture/position_span.h"
#include "fovea/capture/run.h"
#include "fovea/capture/subject.h"

namespace fovea {

// What a method must be given beside Q, K and the log-sum-exps of a run.
struct MethodNeeds {
  bool position = false;   // one position to ask from
  bool one_stack = false;  // self-attention: rows and columns are the same positions
  bool block = false;      // V and the block around each attention (RecorderOptions)
  bool subject = false;    // the model, to run it again
  bool target = false;     // an output that is asked about
  bool span = false;       // a stretch of columns that is asked about
  // The gradient of that output, which the model gives with records of its own: of the run axes and
  // the first layers are enough.
  bool gradient = false;
};

struct MethodParameter {
  std::string name;  // "discard"
  std::string help;
  std::string otherwise;             // what holds where it is not given, as text
  std::vector<std::string> choices;  // empty: a number
  double least = 0, most = 1;        // of a number
};

// Given by name; what is not given is as the method says.
using GivenParameters = std::map<std::string, std::string, std::less<>>;

// What is asked: of which run, from which position, about which output.
struct ExplainRequest {
  const Run& run;
  // The stack whose layers are looked through; of an encoder and a decoder: what the target reads.
  SiteKind kind = SiteKind::kSelf;
  int64_t position = 0;  // whose row: the class token, the last token, ...
  // Of methods that look at one layer or head: none is the last layer, the mean of its heads.
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
  std::optional<PositionSpan> span;  // of columns
  Subject* subject = nullptr;        // null: the model cannot be run again
  const Target* target = nullptr;
  const Target* against = nullptr;  // the answer is for `target` rather than this
  GivenParameters parameters;
};

struct Explanation {
  Axis axis;                        // what the scores stand for; "heads": layers x heads as a grid
  std::vector<double> scores;       // one per position
  std::optional<int64_t> row = {};  // the position asked from, where it is one of these
  std::optional<int64_t> layer = {};  // that it is about; none: all
  // Of a decoder: what it has read so far, where the method counts that beside the source.
  Axis target_axis = {};
  std::vector<double> target_scores = {};
  bool is_signed = false;          // below 0: speaks against the target
  std::string measures;            // for captions and colour bars: "change of probability"
  std::vector<std::string> notes;  // what the user should know before believing it
};

struct Method {
  std::string name;
  std::string summary;  // one line
  std::string answers;  // which question, and when it misleads: a few sentences
  std::string cost;     // in words, N tokens and L layers
  MethodNeeds needs;
  std::vector<MethodParameter> parameters;
  bool takes_layer = false;    // looks at the asked layer alone, if one is asked for
  bool takes_head = false;     // the same of a head
  bool scores_heads = false;   // whatever its parameters say
  int64_t most_positions = 0;  // that it takes; 0: any number
  // Why the run cannot be explained so, naming what is missing; empty: it can. Null: any
  // run with maps can.
  std::string (*refuses)(const Run& run) = nullptr;
  Explanation (*explain)(const ExplainRequest& request) = nullptr;
};

// Made from methods/ by CMake, in the order of the names.
std::vector<Method> all_methods();
// Throws Error{kNotFound} that lists the names.
Method method_named(std::string_view name);

// A parameter as given or as it is otherwise. Throws Error{kInvalidArgument} with the valid range
// or choices.
double number_parameter(const Method& method, const ExplainRequest& request, std::string_view name);
int64_t whole_parameter(const Method& method, const ExplainRequest& request, std::string_view name);
std::string choice_parameter(const Method& method, const ExplainRequest& request,
                             std::string_view name);

// Throws Error{kInvalidArgument} for parameters that the method does not have, and for values that
// are none of theirs.
void check_parameters(const Method& method, const GivenParameters& given);
// Throws Error{kUnsupported} that names the limit and methods without one.
void check_positions(const Method& method, int64_t positions);
// Whether its scores are of heads rather than of positions.
bool scores_heads(const Method& method, const GivenParameters& given);

// Whether rows and columns are the same positions.
bool is_self_attention(SiteKind kind);

// The axis that the columns of this stack's maps count along. Throws Error{kNotFound} without such
// maps.
const Axis& columns_of(const Run& run, SiteKind kind);

// The asked layer of the asked stack, otherwise the last. Throws Error{kInvalidArgument} with the
// valid range for a layer, head or position that is not there.
std::shared_ptr<const AttentionRecord> layer_asked(const ExplainRequest& request);

// The axis of methods that score heads: "heads", layers x heads as a grid. Throws
// Error{kUnsupported} if layers differ in their heads.
Axis heads_axis(std::span<const std::shared_ptr<const AttentionRecord>> layers);
// The same of layers 0 to `layers` - 1.
Axis heads_axis(int64_t layers, int64_t heads);

// Throws Error{kUnsupported} that names the methods that would work where this one cannot: of a run
// without what it needs, of another kind of attention, or without the model.
void check_needs(const Method& method, const ExplainRequest& request);

// Runs a method. Throws what check_needs, check_parameters and check_positions throw, and
// Error{kInvalidArgument} without an output or a stretch that it asks about.
Explanation explain(const Method& method, const ExplainRequest& request);

}  // namespace fovea
