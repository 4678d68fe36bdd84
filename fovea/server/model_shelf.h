// The models that the server was started with, by the names it lists. A request names one of them
// and never a path.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/engine/engine.h"
#include "fovea/server/file_stamp.h"

namespace fovea {

class ModelShelf {
 public:
  // `name`: what requests call it; `place`: what Engine::open() opens. Throws
  // Error{kInvalidArgument} if the name is taken by another place.
  void add(const std::string& name, const std::string& place);

  std::vector<std::string> names() const;
  bool holds(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  // Opens the model at the first call. Throws Error{kNotFound} about the field "model" that lists
  // the names, and what opening throws. A model whose files have changed or gone since it was
  // opened is opened anew, or says so.
  Engine engine(std::string_view name, DType compute);
  // For lists: what it is and what it takes, or why it cannot be opened. Opens it once.
  Json facts(std::string_view name);

 private:
  struct Entry {
    std::string place;
    std::mutex mutex;
    std::map<DType, Engine> engines;
    std::vector<FileStamp> stamps;
    std::optional<Json> facts;
  };
  Entry& entry(std::string_view name);

  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace fovea
