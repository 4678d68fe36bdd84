#include "fovea/checkpoint/pickle.h"

#include <algorithm>
#include <array>
#include <bit>

#include "fovea/checkpoint/pickle_machine.h"
#include "fovea/io/little_endian.h"

namespace fovea {
namespace {

constexpr int kNewestProtocol = 5;

struct RefusedOpcode {
  unsigned char code;
  std::string_view name;
};
constexpr std::array<RefusedOpcode, 20> kRefused{{{'F', "FLOAT"},
                                                  {'I', "INT"},
                                                  {'L', "LONG"},
                                                  {'P', "PERSID"},
                                                  {'S', "STRING"},
                                                  {'V', "UNICODE"},
                                                  {'d', "DICT"},
                                                  {'g', "GET"},
                                                  {'i', "INST"},
                                                  {'l', "LIST"},
                                                  {'o', "OBJ"},
                                                  {'p', "PUT"},
                                                  {0x82, "EXT1"},
                                                  {0x83, "EXT2"},
                                                  {0x84, "EXT4"},
                                                  {0x91, "FROZENSET"},
                                                  {0x92, "NEWOBJ_EX"},
                                                  {0x97, "NEXT_BUFFER"},
                                                  {0x98, "READONLY_BUFFER"},
                                                  {0x96, "BYTEARRAY8"}}};

// Reads opcodes and what belongs to them, and has the machine run them.
class PickleReader {
 public:
  PickleReader(Bytes bytes, std::string_view source, std::span<const std::string_view> globals)
      : bytes_(bytes), machine_(source, globals) {}

  Pickle run() {
    for (;;) {
      machine_.begin_opcode(at_);
      const auto opcode = take<uint8_t>();
      if (opcode == '.') break;
      if (!run_scalar(opcode) && !run_container(opcode) && !run_object(opcode)) refuse(opcode);
    }
    return machine_.finish(at_);
  }

 private:
  [[noreturn]] void refuse(uint8_t opcode) const {
    const auto it = std::find_if(kRefused.begin(), kRefused.end(),
                                 [&](const RefusedOpcode& r) { return r.code == opcode; });
    if (it == kRefused.end()) machine_.damaged("{:#04x} is not a pickle opcode", opcode);
    fail(ErrorKind::kUnsupported,
         "{}: uses the pickle opcode {} at byte {}, which torch does not write and fovea does not "
         "read; save the weights as safetensors",
         machine_.source(), it->name, machine_.opcode_at());
  }

  template <typename T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T)) machine_.damaged("it ends in the middle");
    const T value = load_little_endian<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }

  std::string_view take_text(uint64_t length) {
    if (length > bytes_.size() - at_) {
      machine_.damaged("a text of {} bytes is announced but {} are left", length,
                       bytes_.size() - at_);
    }
    const std::string_view text = as_text(bytes_.subspan(at_, length));
    at_ += length;
    return text;
  }

  std::string_view take_line() {
    const std::string_view rest = as_text(bytes_.subspan(at_));
    const size_t length = rest.find('\n');
    if (length == rest.npos) machine_.damaged("it ends in the middle of a line");
    at_ += length + 1;
    return rest.substr(0, length);
  }

  // Two's complement, little-endian, as few bytes as needed.
  void push_long(uint64_t length) {
    const std::string_view digits = take_text(length);
    if (digits.size() > sizeof(int64_t)) {
      machine_.push_new(PickleKind::kBigInt);
      return;
    }
    uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(digits[i]);
    }
    machine_.push_int(static_cast<int64_t>(value));
  }
  void push_float() {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | take<uint8_t>();
    machine_.push_real(std::bit_cast<double>(bits));
  }

  bool run_scalar(uint8_t opcode) {
    switch (opcode) {
      case 'N':
        machine_.push_new(PickleKind::kNone);
        return true;
      case 0x88:
      case 0x89:
        machine_.push_bool(opcode == 0x88);
        return true;
      case 'J':
        machine_.push_int(take<int32_t>());
        return true;
      case 'K':
        machine_.push_int(take<uint8_t>());
        return true;
      case 'M':
        machine_.push_int(take<uint16_t>());
        return true;
      case 0x8a:
        push_long(take<uint8_t>());
        return true;
      case 0x8b:
        push_long(take<uint32_t>());
        return true;
      case 'G':
        push_float();
        return true;
      default:
        return run_text(opcode);
    }
  }

  bool run_text(uint8_t opcode) {
    switch (opcode) {
      case 'X':  // BINUNICODE
      case 'T':  // BINSTRING
        machine_.push_text(PickleKind::kString, take_text(take<uint32_t>()));
        return true;
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':   // SHORT_BINSTRING
        machine_.push_text(PickleKind::kString, take_text(take<uint8_t>()));
        return true;
      case 0x8d:
        machine_.push_text(PickleKind::kString, take_text(take<uint64_t>()));
        return true;
      case 'C':
        machine_.push_text(PickleKind::kBytes, take_text(take<uint8_t>()));
        return true;
      case 'B':
        machine_.push_text(PickleKind::kBytes, take_text(take<uint32_t>()));
        return true;
      case 0x8e:
        machine_.push_text(PickleKind::kBytes, take_text(take<uint64_t>()));
        return true;
      default:
        return false;
    }
  }

  bool run_container(uint8_t opcode) {
    switch (opcode) {
      case '(':
        machine_.mark();
        return true;
      case ')':
        machine_.push_new(PickleKind::kTuple);
        return true;
      case ']':
      case 0x8f:  // EMPTY_SET
        machine_.push_new(PickleKind::kList);
        return true;
      case '}':
        machine_.push_new(PickleKind::kDict);
        return true;
      case 't':
        machine_.push_tuple_to_mark();
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        machine_.push_tuple_of(opcode - size_t{0x84});
        return true;
      case 'a':
        machine_.append_one();
        return true;
      case 'e':
      case 0x90:  // ADDITEMS
        machine_.append_to_mark();
        return true;
      case 's':
        machine_.set_one();
        return true;
      case 'u':
        machine_.set_to_mark();
        return true;
      default:
        return false;
    }
  }

  bool run_object(uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        if (const int version = take<uint8_t>(); version > kNewestProtocol) {
          fail(ErrorKind::kUnsupported,
               "{}: is a pickle of protocol {} but fovea reads up to {}; save it as safetensors",
               machine_.source(), version, kNewestProtocol);
        }
        return true;
      case 0x95:  // FRAME: a hint about length
        static_cast<void>(take<uint64_t>());
        return true;
      case 'c': {
        const std::string_view module = take_line();
        machine_.push_global(module, take_line());
        return true;
      }
      case 0x93:  // STACK_GLOBAL
        machine_.push_named_global();
        return true;
      case 'R':
      case 0x81:  // NEWOBJ
        machine_.call(opcode == 0x81);
        return true;
      case 'b':
        machine_.build();
        return true;
      case 'Q':
        machine_.push_persistent();
        return true;
      default:
        return run_memo(opcode);
    }
  }

  bool run_memo(uint8_t opcode) {
    switch (opcode) {
      case 'q':
        machine_.remember(take<uint8_t>());
        return true;
      case 'r':
        machine_.remember(take<uint32_t>());
        return true;
      case 0x94:
        machine_.remember_next();
        return true;
      case 'h':
        machine_.recall(take<uint8_t>());
        return true;
      case 'j':
        machine_.recall(take<uint32_t>());
        return true;
      case '0':
        machine_.drop();
        return true;
      case '1':
        machine_.drop_to_mark();
        return true;
      case '2':
        machine_.duplicate();
        return true;
      default:
        return false;
    }
  }

  Bytes bytes_;
  size_t at_ = 0;
  PickleMachine machine_;
};

}  // namespace

std::string_view kind_name(PickleKind kind) {
  constexpr std::array<std::string_view, 13> kNames{
      "None",    "a bool", "an int", "a huge int", "a float",         "a string", "a bytes object",
      "a tuple", "a list", "a dict", "a function", "a function call", "a storage"};
  return kNames[static_cast<size_t>(kind)];
}

Pickle Pickle::parse(Bytes bytes, std::string_view source,
                     std::span<const std::string_view> globals) {
  return PickleReader(bytes, source, globals).run();
}

}  // namespace fovea
