// Files that requests brought: pictures, captured runs, arrays of weights, inputs of a model. Each
// is checked when it arrives, and gone after an hour in which nobody used it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/ask/session.h"
#include "fovea/base/json.h"
#include "fovea/models/model.h"

namespace fovea {

// One file may be so long.
inline constexpr uint64_t kMostUploadBytes = uint64_t{256} << 20;

struct Upload {
  std::string id;    // the same for the same bytes
  std::string name;  // for messages
  uint64_t bytes = 0;
  Json facts;                                  // what it is: kind, width and height
  std::shared_ptr<const std::string> picture;  // the file's bytes; null: it is no picture
  std::optional<Session> run;                  // of a captured run or of arrays
  std::optional<ModelInputs> inputs;           // what a model reads
};

class UploadShelf {
 public:
  explicit UploadShelf(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Throws Error{kBadFile} and Error{kUnsupported} for a file that is none of these, and
  // Error{kOutOfMemory} where all uploads together would be too large.
  std::shared_ptr<const Upload> add(std::string bytes, const std::string& name);
  // Throws Error{kNotFound} about the field "upload".
  std::shared_ptr<const Upload> upload(std::string_view id);
  uint64_t bytes() const;
  // Lets those go that nobody has used for this long.
  void drop_unused(std::chrono::seconds time);

 private:
  struct Entry {
    std::shared_ptr<const Upload> upload;
    std::chrono::steady_clock::time_point used;
  };

  uint64_t most_bytes_;
  mutable std::mutex mutex_;
  uint64_t bytes_ = 0;
  std::map<std::string, Entry, std::less<>> uploads_;
};

}  // namespace fovea
