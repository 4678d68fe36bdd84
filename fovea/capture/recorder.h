// Collects the records of one run while a model computes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fovea/capture/spill_file.h"

namespace fovea {

// What to keep beside Q, K and LSE.
struct RecorderOptions {
  bool values = true;
  bool outputs = false;                          // AttentionRecord::output, to check maps against
  bool block = false;                            // BlockContext
  bool positions = false;                        // PositionParts, where the model adds positions
  std::function<bool(SiteId)> wanted = nullptr;  // none: every site

  // Takes each record as soon as it is made, instead of keeping it: nothing piles up. `text` is its
  // number where several are run at once; it is then called for several texts at a time, but for
  // one text layer after layer.
  std::function<void(int64_t text, AttentionRecord record)> give_to = nullptr;

  // Records beyond so many bytes lie in a temporary file instead (spill_folder()); none: half of
  // what is available when the first one is made.
  std::optional<uint64_t> in_memory = std::nullopt;

  // For runs whose outputs alone count.
  static RecorderOptions nothing() {
    return {.wanted = [](SiteId) { return false; }};
  }
};

// May be called from several threads.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options = {}) : options_(std::move(options)) {}

  const RecorderOptions& options() const { return options_; }
  // Whether the site's record is to be kept: asked before anything is copied for it.
  bool wants(SiteId site) const { return !options_.wanted || options_.wanted(site); }
  // Keeps a record that passes validate(). Throws Error{kInvalidArgument} if the site is there
  // already.
  void add(AttentionRecord record, int64_t text = 0);
  // All records in the order of their sites; the recorder is empty afterwards.
  std::vector<std::shared_ptr<const AttentionRecord>> take();

 private:
  // Where the next record goes; null: into memory.
  SpillFile* place_for(uint64_t bytes);

  RecorderOptions options_;
  std::mutex mutex_;
  std::map<SiteId, std::shared_ptr<const AttentionRecord>> records_;
  std::optional<uint64_t> limit_;  // of bytes in memory, once it is known
  uint64_t kept_ = 0;
  std::unique_ptr<SpillFile> spill_;
};

}  // namespace fovea
