// A method that explains: it gives a number to every position of the input, or to every head. Each
// method is a file of fovea/explain/methods and describes itself. Help, documentation and every
// front end are made from these descriptions.
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

// What a method needs beside Q, K and the log-sum-exps of a run.
struct MethodNeeds {
  bool position = false;   // one position to ask from
  bool one_stack = false;  // self-attention: rows and columns are the same positions
  bool block = false;      // V and the block around each attention (RecorderOptions)
  bool subject = false;    // the model, to run it again
  bool target = false;     // an output that is asked about
  bool span = false;       // a stretch of columns that is asked about
  // The gradient of that output. The gradient run makes records of its own, so the captured run
  // only has to tell its axes and its first layers.
  bool gradient = false;
};

struct MethodParameter {
  std::string name;  // "discard"
  std::string help;
  std::string otherwise;             // the default, as text
  std::vector<std::string> choices;  // empty: a number
  double least = 0, most = 1;        // the range of a number
};

// Parameters that the caller gave, by name. All others have the method's defaults.
using GivenParameters = std::map<std::string, std::string, std::less<>>;

// What is asked: which run, from which position, about which output.
struct ExplainRequest {
  const Run& run;
  // The stack whose layers are looked through. For an encoder and a decoder: what the target reads.
  SiteKind kind = SiteKind::kSelf;
  int64_t position = 0;  // asked from its row: the class token, the last token, ...
  // For methods that look at one layer or head. None: the last layer, the mean of its heads.
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
  std::optional<PositionSpan> span;  // the columns asked about
  Subject* subject = nullptr;        // null: the model cannot be run again
  const Target* target = nullptr;
  const Target* against = nullptr;  // the answer is for `target` rather than this
  GivenParameters parameters;
};

struct Explanation {
  Axis axis;                          // what is scored; "heads" is a grid, layers x heads
  std::vector<double> scores;         // one per position
  std::optional<int64_t> row = {};    // the position asked from, if the axis has it
  std::optional<int64_t> layer = {};  // the layer that is explained; none: all
  // A decoder's target read so far, if the method scores that beside the source.
  Axis target_axis = {};
  std::vector<double> target_scores = {};
  bool is_signed = false;          // a score below 0 speaks against the target
  std::string measures;            // for captions and colour bars: "change of probability"
  std::vector<std::string> notes;  // what the user should know before believing it
};

struct Method {
  std::string name;
  std::string summary;  // one line
  std::string answers;  // a few sentences: which question, and when it misleads
  std::string cost;     // in words, for N tokens and L layers
  MethodNeeds needs;
  std::vector<MethodParameter> parameters;
  bool takes_layer = false;    // can look at one layer alone
  bool takes_head = false;     // can look at one head alone
  bool scores_heads = false;   // scores are always for heads
  int64_t most_positions = 0;  // the longest axis that it takes; 0: any
  // Says why the method cannot explain a run, naming what is missing; empty: it can. Null: it can
  // explain any run with maps.
  std::string (*refuses)(const Run& run) = nullptr;
  Explanation (*explain)(const ExplainRequest& request) = nullptr;
};

// Made from methods/ by CMake, in the order of the names.
std::vector<Method> all_methods();
// Throws Error{kNotFound} that lists the names.
Method method_named(std::string_view name);

// The parameter's value: as given, or the default. Throws Error{kInvalidArgument} with the valid
// range or choices.
double number_parameter(const Method& method, const ExplainRequest& request, std::string_view name);
int64_t whole_parameter(const Method& method, const ExplainRequest& request, std::string_view name);
std::string choice_parameter(const Method& method, const ExplainRequest& request,
                             std::string_view name);

// Throws Error{kInvalidArgument} for parameters that the method does not have, and for invalid
// values.
void check_parameters(const Method& method, const GivenParameters& given);
// Throws Error{kUnsupported} above the method's limit; the message names methods without one.
void check_positions(const Method& method, int64_t positions);
// Whether the method scores heads, not positions.
bool scores_heads(const Method& method, const GivenParameters& given);

// Whether rows and columns are the same positions in this kind of attention.
bool is_self_attention(SiteKind kind);

// The axis of the columns in this stack's maps. Throws Error{kNotFound} if the run has no such
// maps.
const Axis& columns_of(const Run& run, SiteKind kind);

// The record of the asked layer, or of the stack's last one. Throws Error{kInvalidArgument} with
// the valid range for a layer, head or position that is not there.
std::shared_ptr<const AttentionRecord> layer_asked(const ExplainRequest& request);

// The axis of methods that score heads: "heads", a grid of layers x heads. Throws
// Error{kUnsupported} if layers have different numbers of heads.
Axis heads_axis(std::span<const std::shared_ptr<const AttentionRecord>> layers);
// The same for layers 0 to `layers` - 1.
Axis heads_axis(int64_t layers, int64_t heads);

// Throws Error{kUnsupported} if the run lacks what the method needs, has another kind of attention,
// or cannot be run again. The message names methods that would work.
void check_needs(const Method& method, const ExplainRequest& request);

// Runs a method. Throws what check_needs, check_parameters and check_positions throw, and
// Error{kInvalidArgument} if the method asks about an output or a stretch and none is given.
Explanation explain(const Method& method, const ExplainRequest& request);

}  // namespace fovea
