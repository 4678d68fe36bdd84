#include "fovea/explain/head_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fovea {
namespace {

constexpr std::array<double HeadSums::*, 21> kMembers{
    &HeadSums::rows,          &HeadSums::entropy,       &HeadSums::open_rows,
    &HeadSums::evenness,      &HeadSums::plain_rows,    &HeadSums::confidence,
    &HeadSums::distance_rows, &HeadSums::distance,      &HeadSums::delimiter_total,
    &HeadSums::delimiter,     &HeadSums::pattern_total, &HeadSums::previous,
    &HeadSums::duplicate,     &HeadSums::induction,     &HeadSums::later_rows,
    &HeadSums::first,         &HeadSums::repeats,       &HeadSums::retrieved,
    &HeadSums::placed_rows,   &HeadSums::answers,       &HeadSums::importance};

constexpr std::array<HeadMetric, 12> kMetrics{
    {{"entropy", &HeadNumbers::entropy, "of a row, in nats", MetricNeeds::kRows},
     {"evenness", &HeadNumbers::evenness, "entropy as a share of the largest possible",
      MetricNeeds::kRows},
     {"confidence", &HeadNumbers::confidence, "largest weight of a row, without special tokens",
      MetricNeeds::kRows},
     {"distance", &HeadNumbers::distance, "how far a row looks, in tokens or patches",
      MetricNeeds::kDistances},
     {"previous", &HeadNumbers::previous, "share of the weight on the token before",
      MetricNeeds::kTokens},
     {"duplicate", &HeadNumbers::duplicate, "share on earlier copies of the same token",
      MetricNeeds::kTokens},
     {"induction", &HeadNumbers::induction, "share on what followed such a copy",
      MetricNeeds::kTokens},
     {"delimiter", &HeadNumbers::delimiter, "share on special tokens and punctuation",
      MetricNeeds::kDelimiters},
     {"sink", &HeadNumbers::sink, "weight that later rows give to position 0", MetricNeeds::kFirst},
     {"retrieval", &HeadNumbers::retrieval,
      "share of repeats whose earlier place has the largest weight", MetricNeeds::kCausalTokens},
     {"positional", &HeadNumbers::positional, "share of rows with the largest weight at one offset",
      MetricNeeds::kTokens},
     {"importance", &HeadNumbers::importance,
      "how much the answer hangs on the head; needs gradients", MetricNeeds::kAnswer}}};

// Voita's limit for positional heads is 90 % of rows, Gu's for sinks 0.3; the others are ours.
constexpr double kPositional = 0.9;

constexpr std::array<HeadType, 10> kTypes{
    {{"current token", "positional 0.9 or more, offset 0: rows look at themselves",
      [](const HeadNumbers& n) { return n.positional >= kPositional && n.offset == 0; }},
     {"previous token", "positional 0.9 or more, offset -1",
      [](const HeadNumbers& n) { return n.positional >= kPositional && n.offset == -1; }},
     {"positional", "positional 0.9 or more, at the offset that is named",
      [](const HeadNumbers& n) { return n.positional >= kPositional; }},
     {"induction", "induction 0.3 or more: goes on as the text did before",
      [](const HeadNumbers& n) { return n.induction >= 0.3; }},
     {"duplicate token", "duplicate 0.3 or more",
      [](const HeadNumbers& n) { return n.duplicate >= 0.3; }},
     {"sink", "sink 0.3 or more: parks its weight on position 0",
      [](const HeadNumbers& n) { return n.sink >= 0.3; }},
     {"delimiter", "delimiter 0.5 or more",
      [](const HeadNumbers& n) { return n.delimiter >= 0.5; }},
     {"retrieval", "retrieval 0.3 or more (causal models)",
      [](const HeadNumbers& n) { return n.retrieval >= 0.3; }},
     {"broad", "evenness 0.9 or more: hardly chooses",
      [](const HeadNumbers& n) { return n.evenness >= 0.9; }},
     {"confident", "confidence 0.8 or more: one weight takes nearly all",
      [](const HeadNumbers& n) { return n.confidence >= 0.8; }}}};

double ratio_or_nan(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void HeadSums::add(const HeadSums& other) {
  for (const auto member : kMembers) this->*member += other.*member;
  for (size_t i = 0; i < at_offset.size(); ++i) at_offset[i] += other.at_offset[i];
}

std::span<double HeadSums::*const> head_sum_members() {
  return kMembers;
}

HeadNumbers numbers_of(const HeadSums& sums) {
  const auto most = std::ranges::max_element(sums.at_offset);
  return {.entropy = ratio_or_nan(sums.entropy, sums.rows),
          .evenness = ratio_or_nan(sums.evenness, sums.open_rows),
          .confidence = ratio_or_nan(sums.confidence, sums.plain_rows),
          .distance = ratio_or_nan(sums.distance, sums.distance_rows),
          .previous = ratio_or_nan(sums.previous, sums.pattern_total),
          .duplicate = ratio_or_nan(sums.duplicate, sums.pattern_total),
          .induction = ratio_or_nan(sums.induction, sums.pattern_total),
          .delimiter = ratio_or_nan(sums.delimiter, sums.delimiter_total),
          .sink = ratio_or_nan(sums.first, sums.later_rows),
          .retrieval = ratio_or_nan(sums.retrieved, sums.repeats),
          .positional = ratio_or_nan(*most, sums.placed_rows),
          .offset = (most - sums.at_offset.begin()) - kFarthestOffset,
          .importance = ratio_or_nan(sums.importance, sums.answers)};
}

std::span<const HeadMetric> head_metrics() {
  return kMetrics;
}

std::span<const HeadType> head_types() {
  return kTypes;
}

std::string head_type(const HeadNumbers& numbers) {
  const auto found =
      std::ranges::find_if(kTypes, [&](const HeadType& type) { return type.fits(numbers); });
  if (found == kTypes.end()) return "mixed";
  if (found->name == "positional") return fmt::format("positional {:+}", numbers.offset);
  return std::string(found->name);
}

}  // namespace fovea
