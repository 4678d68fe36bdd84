// The words under a figure. They always say row or column, layer, head, what the numbers are and
// what they sum to, and never call attention importance.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/capture/run.h"
#include "fovea/figure/view.h"

namespace fovea {

// "7,639".
std::string count_text(int64_t count);

// A title: "tiny-bert · self-attention · layer 5". It has only the last part of the model's path.
std::string title_of(const Run& run, SiteKind kind, std::string_view rest);

// The end of a picture's caption: " · " and the note on the model's card, or nothing.
std::string model_note(const Run& run);

// "head 7", "mean of 12 heads", "max of 12 heads", "heads 0, 3", "12 heads".
std::string heads_text(HeadChoice head, int64_t heads);
// "1.00", or "0.42 to 1.00" where they differ.
std::string sum_text(std::span<const double> sums);
// "each row sums to 1.00", "rows sum to 0.98 to 1.00".
std::string row_sums_text(std::span<const double> sums);

// `Row 5 "cat" → what it attends to`, `Column 5 "cat" ← who attends to it`.
std::string token_text(const Axis& axis, int64_t index, bool column);
// "Rows attend to columns · layer 3, head 7 · softmax weight · each row sums to 1.00".
std::string matrix_caption(std::string_view place, std::span<const double> row_sums);
// The same of other values than weights, without their sums.
std::string matrix_caption(std::string_view place, std::string_view value);
// `Row 5 "cat" → … · layer 3, head 7 · softmax weight · sum 1.00`.
std::string token_caption(std::string_view token, std::string_view place,
                          std::span<const double> sums);
std::string token_caption(std::string_view token, std::string_view place, std::string_view value);

}  // namespace fovea
