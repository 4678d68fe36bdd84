#include "fovea/capture/recorder.h"

namespace fovea {

void Recorder::add(AttentionRecord record, int64_t text) {
  validate(record);
  if (options_.give_to) {
    options_.give_to(text, std::move(record));
    return;
  }
  const SiteId site = record.site;
  auto shared = std::make_shared<const AttentionRecord>(std::move(record));
  const std::lock_guard lock(mutex_);
  if (!records_.emplace(site, std::move(shared)).second) {
    fail(ErrorKind::kInvalidArgument, "{} was recorded twice in one run; use one recorder a run",
         to_string(site));
  }
}

std::vector<std::shared_ptr<const AttentionRecord>> Recorder::take() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const AttentionRecord>> taken;
  taken.reserve(records_.size());
  for (auto& [site, record] : records_) taken.push_back(std::move(record));
  records_.clear();
  return taken;
}

}  // namespace fovea
