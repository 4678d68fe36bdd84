// The key-value part of a GGUF file: what the model is, and its tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fovea/base/file.h"

namespace fovea {

enum class GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

struct GgufValue;

// Items of one type; only the member that fits the type is filled.
struct GgufArray {
  GgufType type = GgufType::kU8;
  uint64_t count = 0;
  Bytes numbers;  // little-endian, bools too
  std::vector<std::string_view> strings;
  std::vector<GgufValue> arrays;
};

struct GgufValue {
  GgufType type = GgufType::kU8;
  // Unsigned, signed, real, bool, text, array.
  std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray> value;
};

// A place in a GGUF file, moved forward by reading. Every read is checked.
class GgufCursor {
 public:
  GgufCursor(Bytes bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  // Each throws Error{kBadFile} if the file ends before it.
  template <typename T>
  T take();
  std::string_view take_text(std::string_view what, uint64_t limit);
  Bytes take_bytes(uint64_t size, std::string_view what);
  // Throws Error{kBadFile} if `count` things of at least `least_bytes` cannot follow; so nothing is
  // allocated for a count that the file cannot have.
  void check_count(uint64_t count, uint64_t least_bytes, std::string_view what) const;

  size_t position() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  std::string_view source() const { return source_; }

 private:
  Bytes bytes_;
  std::string_view source_;
  size_t at_ = 0;
};

// Text borrows from the file. Getters give nothing if the key is missing and throw Error{kBadFile}
// if its value is of another type.
class GgufMetadata {
 public:
  // `source` begins the messages. Throws Error{kBadFile}.
  void read(GgufCursor& cursor, uint64_t count);

  const std::vector<std::string>& keys() const { return keys_; }  // in the file's order
  const GgufValue* find(std::string_view key) const;

  std::optional<int64_t> get_int(std::string_view key) const;
  std::optional<double> get_double(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string_view> get_string(std::string_view key) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;
  std::vector<int64_t> get_ints(std::string_view key) const;
  std::vector<float> get_floats(std::string_view key) const;

 private:
  [[noreturn]] void fail_type(std::string_view key, std::string_view wanted) const;
  const GgufArray* find_array(std::string_view key, std::string_view wanted) const;

  std::string source_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string_view, GgufValue> values_;  // keys borrow from the file
};

}  // namespace fovea
