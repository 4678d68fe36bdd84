// A chat template: Jinja as transformers runs it.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/jinja/value.h"

namespace fovea::jinja {

// Copies share what was read. Const members may be called from any thread.
class Template {
 public:
  // `where` begins the messages. Throws Error{kUnsupported} for parts that fovea does not know, by
  // their name, and Error{kBadFile} for what is no template.
  static Template parse(std::string_view source, std::string where);

  // With these variables. Throws Error{kUnsupported} for filters, tests and methods that fovea does
  // not know, each by its name, and where values do not go together; Error{kInvalidArgument} if the
  // template refuses what it is given; both with the line. `now` is what strftime_now() tells.
  std::string render(const Dict& variables, std::time_t now) const;

 private:
  struct Parsed;
  explicit Template(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace fovea::jinja
