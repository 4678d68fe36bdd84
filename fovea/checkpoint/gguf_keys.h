// The members of a GGUF file's metadata that describe its model: "<architecture>.<key>".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/checkpoint/gguf.h"

namespace fovea {

class GgufKeys {
 public:
  GgufKeys(const GgufFile& file, std::string_view architecture)
      : file_(file), architecture_(architecture) {}

  std::optional<int64_t> find_int(std::string_view key) const {
    return file_.metadata().get_int(whole(key));
  }
  std::optional<double> find_double(std::string_view key) const {
    return file_.metadata().get_double(whole(key));
  }
  std::optional<std::string_view> find_string(std::string_view key) const {
    return file_.metadata().get_string(whole(key));
  }
  // Each throws Error{kBadFile} if there is no such member.
  int64_t get_int(std::string_view key) const { return require(find_int(key), key); }
  double get_double(std::string_view key) const { return require(find_double(key), key); }

  const GgufFile& file() const { return file_; }
  bool has_tensor(std::string_view name) const { return file_.find(name) != nullptr; }

 private:
  std::string whole(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }
  template <typename T>
  T require(const std::optional<T>& value, std::string_view key) const {
    if (value) return *value;
    fail(ErrorKind::kBadFile, "{}: its metadata lacks '{}'; convert the model again",
         file_.source(), whole(key));
  }

  const GgufFile& file_;
  std::string_view architecture_;
};

}  // namespace fovea
