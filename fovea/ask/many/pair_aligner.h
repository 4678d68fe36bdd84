// The words of texts and their translations aligned, pair by pair: a model is made to write each
// translation, and a map of its cross-attention gives the links.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/answer.h"
#include "fovea/ask/many/counter.h"
#include "fovea/explain/alignment/alignment_score.h"
#include "fovea/explain/alignment/symmetrize.h"

namespace fovea {

inline constexpr int64_t kRankedPairs = 100;  // by which the map is chosen
inline constexpr Symmetrization kUsualSymmetrization = Symmetrization::kLiltGrowDiag;

// `settled` holds the map of each direction, and a row the links of its pair. If the ranking of all
// maps is asked for, `settled` holds that and there are no links.
std::unique_ptr<Counter> align_counter(const ManyAsked& asked);

// The links of a row.
Alignment links_of(const ManyState::Row& row);

// By gold links; none where there were none.
std::optional<AlignmentScore> alignment_score(const ManyState& state);

// What the first pairs settled, in words: which map each direction is read from, and how both are
// joined.
std::vector<std::string> settled_texts(const ManyAsked& asked, const ManyState& state);

Answer align_answer(const ManyAsked& asked, const ManyState& state);

}  // namespace fovea
