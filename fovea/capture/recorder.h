// Collects the records of one run while a model computes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fovea/capture/expert_choice.h"
#include "fovea/capture/spill_file.h"

namespace fovea {

// What to keep beside Q, K and LSE.
struct RecorderOptions {
  bool values = true;
  bool outputs = false;                          // AttentionRecord::output, to check maps
  bool block = false;                            // BlockContext
  bool positions = false;                        // PositionParts, where the model adds positions
  std::function<bool(SiteId)> wanted = nullptr;  // none: every site

  // Takes each record as soon as it is made, instead of keeping it, so that memory does not grow.
  // `text` is the number of the text if several run at once. Several threads may then call it for
  // different texts; one text's layers come in order.
  std::function<void(int64_t text, AttentionRecord record)> give_to = nullptr;

  // How many bytes of records stay in memory; later ones go to a temporary file (spill_folder()).
  // None: half of the memory that is available when the first record is made.
  std::optional<uint64_t> in_memory = std::nullopt;

  // Options for runs that need no records, only outputs.
  static RecorderOptions nothing() {
    return {.wanted = [](SiteId) { return false; }};
  }
};

// May be called from several threads.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options = {}) : options_(std::move(options)) {}

  const RecorderOptions& options() const { return options_; }
  // Whether to keep the site's record. Ask before anything is copied for it.
  bool wants(SiteId site) const { return !options_.wanted || options_.wanted(site); }
  // Keeps a record, which must pass validate(). Throws Error{kInvalidArgument} if the site is there
  // already.
  void add(AttentionRecord record, int64_t text = 0);
  // Keeps which experts a layer took; those of a later step come behind the earlier ones.
  void add(ExpertChoice choice);
  // Returns all records in the order of their sites, and leaves the recorder empty.
  std::vector<std::shared_ptr<const AttentionRecord>> take();
  // The same for experts, in the order of the layers.
  std::vector<ExpertChoice> take_experts();

 private:
  // The file for the next record; null: it stays in memory.
  SpillFile* place_for(uint64_t bytes);

  RecorderOptions options_;
  std::mutex mutex_;
  std::map<SiteId, std::shared_ptr<const AttentionRecord>> records_;
  std::map<int, ExpertChoice> experts_;  // by layer
  std::optional<uint64_t> limit_;        // bytes in memory, once known
  uint64_t kept_ = 0;
  std::unique_ptr<SpillFile> spill_;
};

}  // namespace fovea
