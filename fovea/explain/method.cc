#include "fovea/explain/method.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/team.h"
#include "fovea/explain/rollout.h"

namespace fovea {
namespace {

const MethodParameter& parameter_named(const Method& method, std::string_view name) {
  const auto found = std::ranges::find(method.parameters, name, &MethodParameter::name);
  FOVEA_ASSERT(found != method.parameters.end());
  return *found;
}

std::string given_or_otherwise(const MethodParameter& parameter, const ExplainRequest& request) {
  const auto given = request.parameters.find(parameter.name);
  return given == request.parameters.end() ? parameter.otherwise : given->second;
}

std::vector<std::string> names_of(const std::vector<Method>& methods) {
  std::vector<std::string> names;
  for (const Method& method : methods) names.push_back(method.name);
  return names;
}

// Why a method that looks at the block around attention cannot; empty: it can.
std::string lacks_blocks(const Run& run) {
  const bool found = std::ranges::any_of(run.records, [](const auto& record) {
    return record->block.has_value() && !record->values.empty();
  });
  return found ? "" : "its attention is recorded without values and the block around it";
}

std::string refusal(const Method& method, const Run& run) {
  if (run.records.empty()) return "it holds no attention";
  return method.refuses == nullptr ? "" : method.refuses(run);
}

// Methods that could be used instead. If a model is at hand, the input can be recorded again.
std::string alternatives(const Method& refused, const ExplainRequest& request) {
  std::vector<Method> able;
  for (const Method& method : all_methods()) {
    if (method.name == refused.name) continue;
    const bool can_run =
        request.subject != nullptr ||
        (!method.needs.subject && (!method.needs.block || lacks_blocks(request.run).empty()));
    if (can_run && refusal(method, request.run).empty()) able.push_back(method);
  }
  return able.empty() ? "no method can" : fmt::format("use {}", fmt::join(names_of(able), ", "));
}

double number_in(const Method& method, const MethodParameter& parameter, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < parameter.least || *value > parameter.most) {
    fail(ErrorKind::kInvalidArgument, "{} of {} is '{}' but must be a number from {} to {}",
         parameter.name, method.name, text, parameter.least, parameter.most);
  }
  return *value;
}

void check_choice(const Method& method, const MethodParameter& parameter, std::string_view text) {
  if (std::ranges::count(parameter.choices, text) > 0) return;
  fail(ErrorKind::kInvalidArgument, "{} of {} is '{}' but must be one of: {}", parameter.name,
       method.name, text, fmt::join(parameter.choices, ", "));
}

// The positions of the asked stack: rows or columns, whichever are more.
int64_t positions_of(const ExplainRequest& request) {
  int64_t most = 0;
  for (const auto& record : request.run.records) {
    const AttentionShape shape = record->shape();
    if (record->site.kind == request.kind) most = std::max({most, shape.rows, shape.cols});
  }
  return most;
}

std::string head_name(int64_t layer, int64_t head) {
  return fmt::format("layer {} head {}", layer, head);
}

}  // namespace

Method method_named(std::string_view name) {
  for (Method& method : all_methods()) {
    if (method.name == name) return std::move(method);
  }
  fail(ErrorKind::kNotFound, "there is no method '{}'; there are {}", name,
       fmt::join(names_of(all_methods()), ", "));
}

void check_parameters(const Method& method, const GivenParameters& given) {
  for (const auto& [name, value] : given) {
    const auto found = std::ranges::find(method.parameters, name, &MethodParameter::name);
    if (found == method.parameters.end()) {
      std::vector<std::string> known;
      for (const MethodParameter& parameter : method.parameters) known.push_back(parameter.name);
      fail(ErrorKind::kInvalidArgument, "{} has no parameter '{}'; {}", method.name, name,
           known.empty() ? "it has none" : fmt::format("it has {}", fmt::join(known, ", ")));
    }
    if (found->choices.empty()) {
      number_in(method, *found, value);
    } else {
      check_choice(method, *found, value);
    }
  }
}

void check_positions(const Method& method, int64_t positions) {
  if (method.most_positions == 0 || positions <= method.most_positions) return;
  fail(ErrorKind::kUnsupported,
       "{} takes at most {} positions but there are {}; use rollout or value-norm, or a smaller "
       "input",
       method.name, method.most_positions, positions);
}

bool scores_heads(const Method& method, const GivenParameters& given) {
  const auto unit = given.find("unit");
  return method.scores_heads || (unit != given.end() && unit->second == "head");
}

double number_parameter(const Method& method, const ExplainRequest& request,
                        std::string_view name) {
  const MethodParameter& parameter = parameter_named(method, name);
  return number_in(method, parameter, given_or_otherwise(parameter, request));
}

int64_t whole_parameter(const Method& method, const ExplainRequest& request,
                        std::string_view name) {
  const double value = number_parameter(method, request, name);
  if (value != std::floor(value)) {
    fail(ErrorKind::kInvalidArgument, "{} of {} is {} but must be a whole number", name,
         method.name, value);
  }
  return static_cast<int64_t>(value);
}

std::string choice_parameter(const Method& method, const ExplainRequest& request,
                             std::string_view name) {
  const MethodParameter& parameter = parameter_named(method, name);
  std::string text = given_or_otherwise(parameter, request);
  check_choice(method, parameter, text);
  return text;
}

bool is_self_attention(SiteKind kind) {
  return kind != SiteKind::kCross && kind != SiteKind::kPool && kind != SiteKind::kPanoptic;
}

const Axis& columns_of(const Run& run, SiteKind kind) {
  for (const auto& record : run.records) {
    if (record->site.kind == kind) return *run.find_axis(record->col_axis);
  }
  fail(ErrorKind::kNotFound, "the run has no maps of {}", to_string(SiteId{kind, 0}));
}

std::shared_ptr<const AttentionRecord> layer_asked(const ExplainRequest& request) {
  const LayerRecords layers = layers_of(request.run, request.kind);
  const auto check = [](std::string_view what, int64_t index, int64_t count) {
    if (index >= 0 && index < count) return;
    fail(ErrorKind::kInvalidArgument, "{} {} is asked for but there are 0 to {}", what, index,
         count - 1);
  };
  const auto count = static_cast<int64_t>(layers.size());
  const int64_t layer = request.layer.value_or(count - 1);
  check("layer", layer, count);
  const auto& record = layers[static_cast<size_t>(layer)];
  if (request.head) check("head", *request.head, record->shape().heads);
  check("position", request.position, record->shape().rows);
  return record;
}

Axis heads_axis(std::span<const std::shared_ptr<const AttentionRecord>> layers) {
  Axis axis{.name = "heads"};
  for (const auto& record : layers) {
    const int64_t heads = record->shape().heads;
    if (axis.grid_rows++ == 0) axis.grid_cols = heads;
    if (heads != axis.grid_cols) {
      fail(ErrorKind::kUnsupported,
           "{} has {} heads but the layer before has {}; ask for one layer at a time",
           to_string(record->site), heads, axis.grid_cols);
    }
    for (int64_t head = 0; head < heads; ++head) {
      axis.positions.push_back({.text = head_name(record->site.layer, head)});
    }
  }
  return axis;
}

Axis heads_axis(int64_t layers, int64_t heads) {
  Axis axis{.name = "heads", .grid_rows = layers, .grid_cols = heads};
  for (int64_t i = 0; i < layers * heads; ++i) {
    axis.positions.push_back({.text = head_name(i / heads, i % heads)});
  }
  return axis;
}

void check_needs(const Method& method, const ExplainRequest& request) {
  std::string reason = refusal(method, request.run);
  if (reason.empty() && method.needs.block) reason = lacks_blocks(request.run);
  if (!reason.empty()) {
    fail(ErrorKind::kUnsupported, "{} cannot explain this: {}; {}", method.name, reason,
         alternatives(method, request));
  }
  if (method.needs.one_stack && !is_self_attention(request.kind)) {
    fail(ErrorKind::kUnsupported,
         "{} follows positions from layer to layer, but rows and columns of {} are of two kinds; "
         "choose the encoder or the decoder, or use raw or value-norm",
         method.name, to_string(SiteId{request.kind, 0}));
  }
  if (method.needs.subject && request.subject == nullptr) {
    fail(ErrorKind::kUnsupported, "{} {}, but only its recorded maps are at hand; {}", method.name,
         method.needs.gradient ? "takes gradients of the model" : "runs the model again",
         alternatives(method, request));
  }
}

Explanation explain(const Method& method, const ExplainRequest& request) {
  check_needs(method, request);
  if (method.needs.target && request.target == nullptr) {
    fail(ErrorKind::kInvalidArgument,
         "{} asks about an output but none is given; name a class, a "
         "token or a text to compare with",
         method.name);
  }
  if (method.needs.span && !request.span) {
    fail(ErrorKind::kInvalidArgument, Field{"span"},
         "{} asks about a stretch of the input but none is given; give its text, or of a picture "
         "its positions, FIRST-LAST",
         method.name);
  }
  check_parameters(method, request.parameters);
  check_positions(method, positions_of(request));
  Explanation explanation = run_on_team([&] { return method.explain(request); });
  const bool own_rows = std::ranges::any_of(request.run.records, [&](const auto& record) {
    return record->site.kind == request.kind && record->col_axis == explanation.axis.name &&
           is_self_attention(request.kind);
  });
  if (method.needs.position && own_rows) explanation.row = request.position;
  return explanation;
}

}  // namespace fovea
