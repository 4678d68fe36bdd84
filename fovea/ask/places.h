// Which attentions a model computes, and whether it has the one that is asked about.
#pragma once

#include <optional>
#include <vector>

#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine.h"

namespace fovea {

// The attentions that the model computes for such an input, the most telling first.
std::vector<SiteKind> sites_of(const ModelFacts& facts, bool sees_picture);

// The attention that is meant. Throws Error{kInvalidArgument} about "site" that lists what there
// is.
SiteKind site_taken(SiteKind wanted, const Engine& engine, bool sees_picture);

struct SiteSize {
  int64_t layers = 0;
  int64_t heads = 0;
};
SiteSize size_of(const ModelFacts& facts, SiteKind kind);

// Throw Error{kInvalidArgument} about "layer" or "head" with what there is.
void check_layer(int64_t layer, const Engine& engine, SiteKind kind);
void check_head(const HeadChoice& head, const Engine& engine, SiteKind kind);
// The same about "query", for one of a model's object queries.
void check_query(int64_t query, const Engine& engine);

// Checks a question by the model's facts, before the model runs and before the input is read; only
// `sees_picture` is known about the input. Throws as the functions above do, and
// Error{kUnsupported} for a kind of question that is not about such models.
void check_place(const Question& question, const Engine& engine, bool sees_picture = false);
void check_place(const Question& question, const OpenedInput& opened);

}  // namespace fovea
