#include "fovea/checkpoint/gguf_metadata.h"

#include <charconv>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"

namespace fovea {
namespace {

constexpr uint64_t kLongestKey = 65535;
constexpr uint64_t kLongestText = uint64_t{64} << 20;
constexpr int kDeepestArray = 4;

size_t type_bytes(GgufType type) {  // 0: no fixed size
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return 0;
}

GgufType take_type(GgufCursor& cursor, std::string_view key) {
  const auto type = cursor.take<uint32_t>();
  if (type > static_cast<uint32_t>(GgufType::kF64)) {
    fail(ErrorKind::kBadFile, "{}: the value of {} has the unknown type {}; is the file damaged?",
         cursor.source(), quote_name(key), type);
  }
  return static_cast<GgufType>(type);
}

// The double that reads as the float does: 1e-05, not 9.999999747378752e-06.
double widen(float value) {
  const std::string text = fmt::format("{}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

template <typename Visitor>
void visit_number(GgufType type, Visitor&& visitor) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kBool:
      return visitor(uint8_t{});
    case GgufType::kI8:
      return visitor(int8_t{});
    case GgufType::kU16:
      return visitor(uint16_t{});
    case GgufType::kI16:
      return visitor(int16_t{});
    case GgufType::kU32:
      return visitor(uint32_t{});
    case GgufType::kI32:
      return visitor(int32_t{});
    case GgufType::kF32:
      return visitor(float{});
    case GgufType::kU64:
      return visitor(uint64_t{});
    case GgufType::kI64:
      return visitor(int64_t{});
    case GgufType::kF64:
      return visitor(double{});
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
}

GgufArray take_array(GgufCursor& cursor, std::string_view key, int depth) {
  if (depth > kDeepestArray) {
    fail(ErrorKind::kBadFile, "{}: the value of {} nests arrays deeper than {}", cursor.source(),
         quote_name(key), kDeepestArray);
  }
  GgufArray array{.type = take_type(cursor, key), .count = cursor.take<uint64_t>()};
  const size_t unit = type_bytes(array.type);
  const uint64_t least = unit != 0 ? unit : array.type == GgufType::kString ? 8 : 12;
  cursor.check_count(array.count, least, key);
  if (unit != 0) {
    array.numbers = cursor.take_bytes(array.count * unit, key);
  } else if (array.type == GgufType::kString) {
    array.strings.reserve(array.count);
    for (uint64_t i = 0; i < array.count; ++i) {
      array.strings.push_back(cursor.take_text(key, kLongestText));
    }
  } else {
    for (uint64_t i = 0; i < array.count; ++i) {
      array.arrays.push_back({GgufType::kArray, take_array(cursor, key, depth + 1)});
    }
  }
  return array;
}

GgufValue take_value(GgufCursor& cursor, std::string_view key) {
  GgufValue result{.type = take_type(cursor, key), .value = uint64_t{0}};
  if (result.type == GgufType::kString) {
    result.value = cursor.take_text(key, kLongestText);
  } else if (result.type == GgufType::kArray) {
    result.value = take_array(cursor, key, 1);
  } else if (result.type == GgufType::kBool) {
    result.value = cursor.take<uint8_t>() != 0;
  } else {
    visit_number(result.type, [&](auto zero) {
      using T = decltype(zero);
      const T number = cursor.take<T>();
      if constexpr (std::is_same_v<T, float>) {
        result.value = widen(number);
      } else if constexpr (std::is_same_v<T, double>) {
        result.value = number;
      } else if constexpr (std::is_signed_v<T>) {
        result.value = int64_t{number};
      } else {
        result.value = uint64_t{number};
      }
    });
  }
  return result;
}

}  // namespace

template <typename T>
T GgufCursor::take() {
  return load_little_endian<T>(take_bytes(sizeof(T), "a number"), 0);
}
template uint8_t GgufCursor::take();
template int8_t GgufCursor::take();
template uint16_t GgufCursor::take();
template int16_t GgufCursor::take();
template uint32_t GgufCursor::take();
template int32_t GgufCursor::take();
template float GgufCursor::take();
template uint64_t GgufCursor::take();
template int64_t GgufCursor::take();
template double GgufCursor::take();

Bytes GgufCursor::take_bytes(uint64_t size, std::string_view what) {
  if (size > left()) {
    fail(ErrorKind::kBadFile,
         "{}: ends at byte {} in the middle of {}, which needs {} bytes from {}; perhaps an "
         "incomplete download",
         source_, bytes_.size(), quote_name(what), size, at_);
  }
  const Bytes bytes = bytes_.subspan(at_, size);
  at_ += size;
  return bytes;
}

std::string_view GgufCursor::take_text(std::string_view what, uint64_t limit) {
  const auto length = take<uint64_t>();
  if (length > limit) {
    fail(ErrorKind::kBadFile,
         "{}: a text of {} says that it has {} bytes, more than the {} allowed", source_,
         quote_name(what), length, limit);
  }
  return as_text(take_bytes(length, what));
}

void GgufCursor::check_count(uint64_t count, uint64_t least_bytes, std::string_view what) const {
  if (count > left() / least_bytes) {
    fail(ErrorKind::kBadFile,
         "{}: announces {} items of {} but only {} bytes follow; the file is damaged or cut short",
         source_, count, quote_name(what), left());
  }
}

void GgufMetadata::read(GgufCursor& cursor, uint64_t count) {
  source_ = cursor.source();
  cursor.check_count(count, 8 + 4 + 1, "metadata");
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view key = cursor.take_text("a metadata key", kLongestKey);
    if (!values_.emplace(key, take_value(cursor, key)).second) {
      fail(ErrorKind::kBadFile, "{}: has the metadata key {} twice", source_, quote_name(key));
    }
    keys_.emplace_back(key);
  }
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

void GgufMetadata::fail_type(std::string_view key, std::string_view wanted) const {
  fail(ErrorKind::kBadFile, "{}: the metadata {} should be {} but is not; convert the model again",
       source_, quote_name(key), wanted);
}

std::optional<int64_t> GgufMetadata::get_int(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&found->value)) return *number;
  const auto* number = std::get_if<uint64_t>(&found->value);
  if (number == nullptr || *number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    fail_type(key, "a whole number of 63 bits");
  }
  return static_cast<int64_t>(*number);
}

std::optional<double> GgufMetadata::get_double(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(&found->value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&found->value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<uint64_t>(&found->value)) {
    return static_cast<double>(*number);
  }
  fail_type(key, "a number");
}

std::optional<bool> GgufMetadata::get_bool(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto* value = std::get_if<bool>(&found->value);
  if (value == nullptr) fail_type(key, "true or false");
  return *value;
}

std::optional<std::string_view> GgufMetadata::get_string(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string_view>(&found->value);
  if (text == nullptr) fail_type(key, "a string");
  return *text;
}

const GgufArray* GgufMetadata::find_array(std::string_view key, std::string_view wanted) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return nullptr;
  const auto* array = std::get_if<GgufArray>(&found->value);
  if (array == nullptr) fail_type(key, wanted);
  return array;
}

std::vector<std::string_view> GgufMetadata::get_strings(std::string_view key) const {
  constexpr std::string_view kWanted = "an array of strings";
  const GgufArray* array = find_array(key, kWanted);
  if (array == nullptr) return {};
  if (array->type != GgufType::kString) fail_type(key, kWanted);
  return array->strings;
}

std::vector<int64_t> GgufMetadata::get_ints(std::string_view key) const {
  constexpr std::string_view kWanted = "an array of whole numbers";
  const GgufArray* array = find_array(key, kWanted);
  if (array == nullptr) return {};
  if (type_bytes(array->type) == 0) fail_type(key, kWanted);
  std::vector<int64_t> values(array->count);
  visit_number(array->type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, uint64_t>) {
      fail_type(key, kWanted);
    } else {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = load_little_endian<T>(array->numbers, i * sizeof(T));
      }
    }
  });
  return values;
}

std::vector<float> GgufMetadata::get_floats(std::string_view key) const {
  constexpr std::string_view kWanted = "an array of 32-bit floats";
  const GgufArray* array = find_array(key, kWanted);
  if (array == nullptr) return {};
  if (array->type != GgufType::kF32) fail_type(key, kWanted);
  std::vector<float> values(array->count);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = load_little_endian<float>(array->numbers, i * sizeof(float));
  }
  return values;
}

}  // namespace fovea
