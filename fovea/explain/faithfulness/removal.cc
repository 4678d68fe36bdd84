#include "fovea/explain/faithfulness/removal.h"

#include "fovea/base/error.h"

namespace fovea {

std::string_view to_string(Removal removal) {
  return removal == Removal::kBlank ? "blank" : "hide";
}

RemovalRuns::RemovalRuns(Subject& subject, const WatchedAnswer& answer, const Axis& axis,
                         Removal how)
    : subject_(subject), answer_(answer), axis_(axis.name), how_(how) {
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    if (!axis.positions[i].special) positions_.push_back(static_cast<int64_t>(i));
  }
}

double RemovalRuns::value_without(const std::vector<bool>& taken) {
  FOVEA_ASSERT(taken.size() == positions_.size());
  if (const auto found = known_.find(taken); found != known_.end()) return found->second;
  std::vector<Intervention> changes;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) continue;
    if (how_ == Removal::kBlank) {
      changes.emplace_back(BlankPosition{axis_, positions_[i]});
    } else {
      changes.emplace_back(HidePosition{axis_, positions_[i]});
    }
  }
  const SubjectOutput output = subject_.run(changes, RecorderOptions::nothing());
  const double value =
      answer_.against != nullptr
          ? contrast_value(answer_.target, *answer_.against, output, answer_.measure)
          : target_value(answer_.target, output, answer_.measure, subject_.multi_label());
  known_.emplace(taken, value);
  return value;
}

}  // namespace fovea
