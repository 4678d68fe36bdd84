#include "fovea/figure/row_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {

std::optional<double> sink_share(const AttentionRecord& record, std::span<const float> weights) {
  if (record.rule.sink_logit.empty()) return {};
  double sum = 0;
  for (const float weight : weights) sum += std::isnan(weight) ? 0.0 : double{weight};
  return std::clamp(1 - sum, 0.0, 1.0);
}

std::string sink_note(std::optional<double> share) {
  return share ? fmt::format(" · {:.0f} % goes to the sink", 100 * *share) : "";
}

std::string expert_note(const Run& run, SiteId site, int64_t token) {
  constexpr int64_t kMostNamed = 4;
  const ExpertChoice* choice = run.find_experts(site.layer);
  if (choice == nullptr || site.kind != SiteKind::kSelf || token < 0 || token >= choice->tokens()) {
    return "";
  }
  std::string note = " · then expert ";
  const int64_t named = std::min(choice->taken(), kMostNamed);
  for (int64_t i = 0; i < named; ++i) {
    const auto place = static_cast<size_t>(token * choice->taken() + i);
    if (i > 0) note += i + 1 == choice->taken() ? " and " : ", ";
    note += fmt::format("{} ({:.0f} %)", choice->chosen.values<int64_t>()[place],
                        100 * choice->shares.values<float>()[place]);
  }
  if (named < choice->taken()) note += ", …";
  return note + fmt::format(" of {}", choice->experts);
}

}  // namespace fovea
