#include "fovea/io/npy_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/little_endian.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMagicBytes = 8;  // with two bytes of version
constexpr size_t kLongestNpyHeader =
    1'000'000;  // numpy itself stops at 10,000 unless told otherwise
constexpr size_t kNpyAlignment = 64;
constexpr size_t kGrowthDigits = 21;  // numpy leaves room for the first axis to grow in place

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array<TypeCode, 12> kTypeCodes{{{"b1", DType::kBool},
                                               {"u1", DType::kU8},
                                               {"i1", DType::kI8},
                                               {"u2", DType::kU16},
                                               {"i2", DType::kI16},
                                               {"f2", DType::kF16},
                                               {"u4", DType::kU32},
                                               {"i4", DType::kI32},
                                               {"f4", DType::kF32},
                                               {"u8", DType::kU64},
                                               {"i8", DType::kI64},
                                               {"f8", DType::kF64}}};

std::string_view kind_name(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects";
    case 'U':
    case 'S':
    case 'a':
      return "strings";
    case 'V':
      return "raw records";
    case 'c':
      return "complex numbers";
    case 'M':
    case 'm':
      return "dates or times";
    default:
      return "elements of a type unknown here";
  }
}

DType dtype_from_descr(std::string_view descr, std::string_view source) {
  const std::string_view code = descr.empty() ? descr : descr.substr(1);
  const char order = descr.empty() ? '\0' : descr[0];
  if (std::string_view("<>|=").find(order) == std::string_view::npos || code.empty()) {
    fail(ErrorKind::kBadFile, "{}: the npy type {} should be a byte order and a type, like '<f4'",
         source, quote_name(descr));
  }
  const auto it = std::find_if(kTypeCodes.begin(), kTypeCodes.end(),
                               [&](const TypeCode& entry) { return entry.code == code; });
  if (it == kTypeCodes.end()) {
    fail(ErrorKind::kUnsupported,
         "{}: holds {} ({}); fovea reads bool, integers and floats of 16 to 64 bits", source,
         kind_name(code[0]), quote_name(descr));
  }
  if (order == '>' && dtype_bytes(it->dtype) > 1) {
    fail(ErrorKind::kUnsupported,
         "{}: holds big-endian numbers ({}); save it again as little-endian, astype('<{}')", source,
         quote_name(descr), code);
  }
  return it->dtype;
}

// Reads exactly the dict that numpy writes. Nothing is evaluated: no escapes, no nesting beyond the
// shape's tuple, no other literal.
class DictParser {
 public:
  DictParser(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  NpyHeader parse() {
    std::optional<DType> dtype;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !dtype) {
        dtype = descr();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = shape_from_file(tuple(), source_);
      } else {
        fail(ErrorKind::kBadFile, "{}: the npy header has {} twice or does not know it", source_,
             quote_name(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail_here("nothing more");
    if (!dtype || !fortran_order || !shape) {
      fail(ErrorKind::kBadFile, "{}: the npy header has no {}", source_,
           !dtype ? "'descr'" : (!shape ? "'shape'" : "'fortran_order'"));
    }
    return {.dtype = *dtype, .fortran_order = *fortran_order, .shape = std::move(*shape)};
  }

 private:
  [[noreturn]] void fail_here(std::string_view wanted) const {
    fail(ErrorKind::kBadFile, "{}: the npy header should have {} at byte {} but has {}", source_,
         wanted, at_, at_ < text_.size() ? quote_name(text_.substr(at_, 20)) : "its end");
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool digit_next() const { return peek() >= '0' && peek() <= '9'; }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool accept(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail_here(std::string{'\'', wanted, '\''});
  }

  std::string_view string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_here("a string");
    const size_t begin = at_ + 1;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail_here("a string that ends");
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.find_first_of("\\\n") != std::string_view::npos) fail_here("a plain string");
    at_ = end + 1;
    return value;
  }

  DType descr() {
    skip_space();
    if (peek() == '[' || peek() == '(') {
      fail(ErrorKind::kUnsupported,
           "{}: holds records with fields ({}); save one field as an array of its own", source_,
           quote_name(text_.substr(at_, 40)));
    }
    return dtype_from_descr(string(), source_);
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail_here("True or False");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> sizes;
    expect('(');
    bool comma = true;  // (3) is a number, (3,) a tuple
    while (!accept(')')) {
      if (!comma) fail_here("','");
      sizes.push_back(size());
      comma = accept(',');
    }
    if (sizes.size() == 1 && !comma) fail_here("a tuple like (3,) before this");
    return sizes;
  }

  int64_t size() {
    skip_space();
    if (peek() == '-') fail_here("a size that is not negative");
    if (!digit_next()) fail_here("a size");
    const size_t begin = at_;
    int64_t value = 0;
    for (; digit_next(); ++at_) {
      const int64_t digit = peek() - '0';
      if (value > (INT64_MAX - digit) / 10) fail_here("a size below 2^63");
      value = value * 10 + digit;
    }
    if (text_[begin] == '0' && at_ - begin > 1) fail_here("a size without leading zeros");
    if (peek() == 'L') ++at_;  // Python 2 wrote its longs so
    return value;
  }

  std::string_view text_;
  std::string_view source_;
  size_t at_ = 0;
};

std::string shape_literal(const Shape& shape) {
  std::string text = "(";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

}  // namespace

NpyHeader parse_npy_header(Bytes file, std::string_view source) {
  if (file.size() < kMagicBytes || !as_text(file).starts_with(kMagic)) {
    fail(ErrorKind::kBadFile, "{}: does not begin as a npy file does; is it another format?",
         source);
  }
  const int major = std::to_integer<int>(file[6]);
  const int minor = std::to_integer<int>(file[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(ErrorKind::kUnsupported, "{}: has npy version {}.{}; fovea reads 1.0, 2.0 and 3.0", source,
         major, minor);
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < kMagicBytes + length_bytes) {
    fail(ErrorKind::kBadFile, "{}: ends after {} bytes, inside the npy header", source,
         file.size());
  }
  const uint32_t length = major == 1 ? load_little_endian<uint16_t>(file, kMagicBytes)
                                     : load_little_endian<uint32_t>(file, kMagicBytes);
  const size_t begin = kMagicBytes + length_bytes;
  if (length > file.size() - begin || length > kLongestNpyHeader) {
    fail(ErrorKind::kBadFile, "{}: says that its header has {} bytes but {} follow (at most {})",
         source, length, file.size() - begin, kLongestNpyHeader);
  }
  NpyHeader header = DictParser(as_text(file.subspan(begin, length)), source).parse();
  header.data_offset = begin + length;
  return header;
}

namespace {

std::string npy_header_of(std::string_view descr, const Shape& shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr,
                                 shape_literal(shape));
  if (shape.rank() > 0) {
    const size_t digits = std::to_string(shape[0]).size();
    dict.append(kGrowthDigits - std::min(digits, kGrowthDigits), ' ');
  }
  // Version 2 differs only in a longer length field. The padding is 1 to 64 spaces, as numpy's is.
  const auto padding = [&](size_t length_bytes) {
    return kNpyAlignment - (kMagicBytes + length_bytes + dict.size() + 1) % kNpyAlignment;
  };
  const bool version_1 = dict.size() + 1 + padding(2) <= UINT16_MAX;
  dict.append(padding(version_1 ? 2 : 4), ' ');
  dict += '\n';
  std::string header(kMagic);
  header += version_1 ? '\x01' : '\x02';
  header += '\0';
  if (version_1) {
    append_little_endian(header, static_cast<uint16_t>(dict.size()));
  } else {
    append_little_endian(header, static_cast<uint32_t>(dict.size()));
  }
  return header + dict;
}

}  // namespace

std::string make_npy_header(const Shape& shape, DType dtype, std::string_view source) {
  const auto type = std::find_if(kTypeCodes.begin(), kTypeCodes.end(),
                                 [&](const TypeCode& entry) { return entry.dtype == dtype; });
  if (type == kTypeCodes.end()) {
    fail(ErrorKind::kUnsupported,
         "{}: npy cannot hold {}; convert it to F32 first, or write safetensors", source,
         dtype_name(dtype));
  }
  return npy_header_of(fmt::format("{}{}", dtype_bytes(dtype) == 1 ? '|' : '<', type->code), shape);
}

std::string make_npy_header_of_texts(const Shape& shape, size_t letters) {
  return npy_header_of(fmt::format("<U{}", letters), shape);
}

bool begins_npy_of_texts(Bytes file) {
  constexpr size_t kLongest = 128;  // numpy writes the type first
  const std::string_view text = as_text(file.first(std::min(file.size(), kLongest)));
  constexpr std::string_view kType = "'descr': '";
  const size_t found = text.find(kType);
  if (!text.starts_with(kMagic) || found == text.npos) return false;
  const std::string_view descr = text.substr(found + kType.size());
  return descr.size() > 1 && (descr[1] == 'U' || descr[1] == 'S');
}

}  // namespace fovea
