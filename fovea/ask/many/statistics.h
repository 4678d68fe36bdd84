// Statistics of heads over texts or pictures: what can be counted of a model, and counting it.
#pragma once

#include <memory>
#include <vector>

#include "fovea/ask/many/counter.h"
#include "fovea/explain/head_numbers.h"

namespace fovea {

// The number that is drawn.
const HeadMetric& metric_of(const Question& question);

// Which attentions can be counted over texts or pictures, the usual one first. Throws
// Error{kUnsupported} for a model that takes neither.
std::vector<SiteKind> countable_sites(const Engine& engine, bool pictures);

// Whether the model gives each input one answer that importance can be asked about: a class, the
// next word, the surest object.
bool gives_answer(const Engine& engine);

// Whether a number can be counted there at all.
bool is_counted(MetricNeeds needs, const Engine& engine, bool pictures, SiteKind site);

// Adds to the state's `sums`. With `importance` it also runs back from each input's answer.
std::unique_ptr<Counter> statistics_counter(const ManyAsked& asked, SiteKind site, bool importance);

}  // namespace fovea
