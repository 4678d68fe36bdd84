#include "fovea/server/run_shelf.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/server/http_request.h"

namespace fovea {
namespace {

// What lies in a file costs no memory that the system could not take back.
uint64_t bytes_in_memory(const Tensor& tensor) {
  if (tensor.empty() || is_mapped({tensor.raw(), tensor.bytes()})) return 0;
  return tensor.bytes();
}

uint64_t bytes_in_memory(const FinishedRun& finished) {
  constexpr uint64_t kPosition = 160;  // of a position with its text
  uint64_t bytes = bytes_in_memory(finished.run().picture);
  for (const Axis& axis : finished.run().axes) {
    bytes += axis.source.size() + kPosition * axis.positions.size();
  }
  for (const auto& record : finished.run().records) {
    for (const Tensor* tensor : {&record->queries, &record->keys, &record->values, &record->lse,
                                 &record->weights, &record->output}) {
      bytes += bytes_in_memory(*tensor);
    }
  }
  return bytes + bytes_in_memory(finished.result().outputs.logits.tensor) +
         bytes_in_memory(finished.result().outputs.last_hidden_state.tensor);
}

constexpr size_t kMostPyramids = 4096;

std::string choice_key(const ServedMap& choice) {
  return fmt::format("{}/{}/{}", to_string(choice.site), to_json(choice.head).dump(),
                     static_cast<int>(choice.value));
}

}  // namespace

OpenRun::OpenRun(std::string hash, Session session, bool captured, std::string name,
                 std::vector<FileStamp> files)
    : hash_(std::move(hash)),
      session_(std::move(session)),
      captured_(captured),
      name_(std::move(name)),
      files_(std::move(files)),
      bytes_(bytes_in_memory(*session_.run())) {}

std::shared_ptr<const AttentionRecord> OpenRun::record(SiteId site) const {
  const std::shared_ptr<const FinishedRun> run = finished();
  std::vector<int> layers;
  std::set<std::string_view> kinds;
  for (const auto& record : run->run().records) {
    if (record->site == site) return record;
    kinds.insert(to_string(record->site.kind));
    if (record->site.kind == site.kind) layers.push_back(record->site.layer);
  }
  if (layers.empty()) {
    fail(ErrorKind::kNotFound, Field{"site"}, "this run has no {}; it has {}", to_string(site.kind),
         fmt::join(kinds, ", "));
  }
  fail(ErrorKind::kNotFound, Field{"layer"}, "{} is no layer of {}, which has {} to {}", site.layer,
       to_string(site.kind), layers.front(), layers.back());
}

std::shared_ptr<const Pyramid> OpenRun::kept(
    const std::string& key, const std::shared_ptr<TileCache>& cache,
    const std::function<std::shared_ptr<const CellSource>()>& source) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = pyramids_.find(key); found != pyramids_.end()) return found->second;
  }
  auto made = std::make_shared<const Pyramid>(source(), cache);
  const std::lock_guard lock(mutex_);
  // They are small, but their number is that of all choices.
  if (pyramids_.size() >= kMostPyramids) pyramids_.clear();
  return pyramids_.emplace(key, std::move(made)).first->second;
}

std::shared_ptr<const Pyramid> OpenRun::pyramid(const ServedMap& choice,
                                                const std::shared_ptr<TileCache>& cache) {
  return kept(choice_key(choice), cache,
              [&] { return cell_source(record(choice.site), choice.head, choice.value); });
}

std::shared_ptr<const Pyramid> OpenRun::difference(const OpenRun& other, const ServedMap& choice,
                                                   const std::shared_ptr<TileCache>& cache) {
  return kept(choice_key(choice) + "/" + other.hash(), cache, [&] {
    return difference_of(cell_source(record(choice.site), choice.head, choice.value),
                         cell_source(other.record(choice.site), choice.head, choice.value));
  });
}

std::shared_ptr<OpenRun> RunShelf::add(std::shared_ptr<OpenRun> run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = runs_.find(run->hash()); found != runs_.end()) {
    found->second.used = ++uses_;
    return found->second.run;
  }
  if (run->bytes() > most_bytes_) {
    fail(ErrorKind::kOutOfMemory,
         "the run takes {} of memory but the server keeps {} for all; give a shorter input",
         format_bytes(run->bytes()), format_bytes(most_bytes_));
  }
  make_room(run->bytes());
  bytes_ += run->bytes();
  dropped_.erase(run->hash());
  runs_.emplace(run->hash(), Entry{run, ++uses_});
  return run;
}

void RunShelf::make_room(uint64_t bytes) {
  while (bytes_ + bytes > most_bytes_) {
    auto oldest = runs_.end();
    for (auto it = runs_.begin(); it != runs_.end(); ++it) {
      if (it->second.run->captured()) continue;
      if (oldest == runs_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest == runs_.end()) return;
    bytes_ -= oldest->second.run->bytes();
    dropped_.insert(oldest->first);
    runs_.erase(oldest);
  }
}

std::shared_ptr<OpenRun> RunShelf::find(std::string_view hash) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(hash);
  if (found == runs_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.run;
}

std::shared_ptr<OpenRun> RunShelf::run(std::string_view hash) {
  if (auto found = find(hash)) {
    if (found->captured()) found->check_files();
    return found;
  }
  const std::lock_guard lock(mutex_);
  if (dropped_.find(hash) != dropped_.end()) {
    throw HttpProblem(410, "the run was dropped to make room; run its input again");
  }
  throw HttpProblem(404, "there is no such run; run its input, or see which runs there are");
}

std::vector<std::shared_ptr<OpenRun>> RunShelf::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Entry*> entries;
  for (const auto& [hash, entry] : runs_) entries.push_back(&entry);
  std::ranges::sort(entries, std::greater<>(), &Entry::used);
  std::vector<std::shared_ptr<OpenRun>> runs;
  for (const Entry* entry : entries) runs.push_back(entry->run);
  return runs;
}

uint64_t RunShelf::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace fovea
