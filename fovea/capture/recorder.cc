#include "fovea/capture/recorder.h"

#include <fmt/format.h>

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/log.h"
#include "fovea/base/process_memory.h"

namespace fovea {

SpillFile* Recorder::place_for(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!limit_) {
    constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
    limit_ = options_.in_memory.value_or(available_memory_bytes().value_or(kAll) / 2);
  }
  if (kept_ + bytes <= *limit_) {
    kept_ += bytes;
    return nullptr;
  }
  if (spill_ == nullptr) {
    spill_ = std::make_unique<SpillFile>(spill_folder());
    log(LogLevel::kInfo, "the run takes more memory than {} MB; the rest of it goes to {}",
        *limit_ / 1'000'000, spill_folder().string());
  }
  return spill_.get();
}

void Recorder::add(AttentionRecord record, int64_t text) {
  validate(record);
  if (options_.give_to) {
    options_.give_to(text, std::move(record));
    return;
  }
  const SiteId site = record.site;
  if (SpillFile* spill = place_for(spilled_bytes(record))) record = spill->store(std::move(record));
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

void Recorder::add(ExpertChoice choice) {
  validate(choice);
  const std::lock_guard lock(mutex_);
  const auto found = experts_.find(choice.layer);
  if (found == experts_.end()) {
    experts_.emplace(choice.layer, std::move(choice));
  } else {
    found->second = joined(found->second, choice);
  }
}

std::vector<ExpertChoice> Recorder::take_experts() {
  const std::lock_guard lock(mutex_);
  std::vector<ExpertChoice> taken;
  for (auto& [layer, choice] : experts_) taken.push_back(std::move(choice));
  experts_.clear();
  return taken;
}

}  // namespace fovea
