#include "fovea/checkpoint/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/io/little_endian.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

constexpr size_t kMostNodes = size_t{1} << 22;
constexpr size_t kMostLinks = size_t{1} << 24;  // items of all containers together
constexpr size_t kDeepestMark = 1000;
constexpr int kNewestProtocol = 5;

// Containers of Python itself, made here. The two spellings are those of Python 2 and 3.
constexpr std::array<std::string_view, 5> kDicts{"collections.OrderedDict",
                                                 "collections.defaultdict", "collections.Counter",
                                                 "builtins.dict", "__builtin__.dict"};
constexpr std::array<std::string_view, 8> kLists{
    "builtins.set",  "__builtin__.set",  "builtins.frozenset", "__builtin__.frozenset",
    "builtins.list", "__builtin__.list", "builtins.tuple",     "__builtin__.tuple"};
constexpr std::array<std::string_view, 1> kEncode{"_codecs.encode"};  // bytes in protocol 2
constexpr std::array<std::string_view, 1> kNamespace{"argparse.Namespace"};

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

template <typename List>
const std::string_view* find_in(const List& list, std::string_view name) {
  const auto it = std::find(std::begin(list), std::end(list), name);
  return it == std::end(list) ? nullptr : &*it;
}

}  // namespace

std::string_view kind_name(PickleKind kind) {
  constexpr std::array<std::string_view, 13> kNames{
      "None",    "a bool", "an int", "a huge int", "a float",         "a string", "a bytes object",
      "a tuple", "a list", "a dict", "a function", "a function call", "a storage"};
  return kNames[static_cast<size_t>(kind)];
}

class PickleReader {
 public:
  PickleReader(Bytes bytes, std::string_view source, std::span<const std::string_view> globals)
      : bytes_(bytes), source_(source), globals_(globals) {}

  Pickle run() {
    for (;;) {
      opcode_at_ = at_;
      const auto opcode = take<uint8_t>();
      if (opcode == '.') break;
      if (!run_scalar(opcode) && !run_container(opcode) && !run_object(opcode)) refuse(opcode);
    }
    pickle_.root_ = pop();
    pickle_.size_ = at_;
    return std::move(pickle_);
  }

 private:
  using Node = PickleNode;

  template <typename... Args>
  [[noreturn]] void damaged(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kBadFile, "{}: damaged pickle at byte {}: {}; perhaps an incomplete download",
         source_, opcode_at_, fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void refuse(uint8_t opcode) const {
    const auto it = std::find_if(kRefused.begin(), kRefused.end(),
                                 [&](const RefusedOpcode& r) { return r.code == opcode; });
    if (it == kRefused.end()) damaged("{:#04x} is not a pickle opcode", opcode);
    fail(ErrorKind::kUnsupported,
         "{}: uses the pickle opcode {} at byte {}, which torch does not write and fovea does not "
         "read; save the weights as safetensors",
         source_, it->name, opcode_at_);
  }

  template <typename T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T)) damaged("it ends in the middle");
    const T value = load_little_endian<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }

  std::string_view take_text(uint64_t length) {
    if (length > bytes_.size() - at_) {
      damaged("a text of {} bytes is announced but {} are left", length, bytes_.size() - at_);
    }
    const std::string_view text = as_text(bytes_.subspan(at_, length));
    at_ += length;
    return text;
  }

  std::string_view take_line() {
    const std::string_view rest = as_text(bytes_.subspan(at_));
    const size_t length = rest.find('\n');
    if (length == rest.npos) damaged("it ends in the middle of a line");
    at_ += length + 1;
    return rest.substr(0, length);
  }

  Node* make(PickleKind kind) {
    if (pickle_.nodes_.size() >= kMostNodes) damaged("it makes more than {} objects", kMostNodes);
    pickle_.nodes_.push_back({.kind = kind});
    return &pickle_.nodes_.back();
  }

  void push(Node* node) {
    count_link();
    stack_.push_back(node);
  }
  void count_link() {
    if (++links_ > kMostLinks) damaged("its objects hold more than {} items", kMostLinks);
  }
  void add(Node* container, const Node* item) {
    count_link();
    container->items.push_back(item);
  }

  Node* top() {
    if (stack_.size() <= floor()) damaged("an operation needs an object that is not there");
    return stack_.back();
  }
  Node* pop() {
    Node* node = top();
    stack_.pop_back();
    return node;
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  // Objects above the last mark, which goes too.
  std::vector<Node*> pop_to_mark() {
    if (marks_.empty()) damaged("a mark is missing");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Node*> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_int(int64_t value) {
    Node* node = make(PickleKind::kInt);
    node->number = value;
    push(node);
  }
  void push_bool(bool value) {
    Node* node = make(PickleKind::kBool);
    node->number = value ? 1 : 0;
    push(node);
  }
  void push_text(PickleKind kind, uint64_t length) {
    Node* node = make(kind);
    node->text = take_text(length);
    push(node);
  }
  // Two's complement, little-endian, as few bytes as needed.
  void push_long(uint64_t length) {
    const std::string_view digits = take_text(length);
    if (digits.size() > sizeof(int64_t)) {
      push(make(PickleKind::kBigInt));
      return;
    }
    uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(digits[i]);
    }
    push_int(static_cast<int64_t>(value));
  }
  void push_float() {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | take<uint8_t>();
    Node* node = make(PickleKind::kFloat);
    node->real = std::bit_cast<double>(bits);
    push(node);
  }

  bool run_scalar(uint8_t opcode) {
    switch (opcode) {
      case 'N':
        push(make(PickleKind::kNone));
        return true;
      case 0x88:
      case 0x89:
        push_bool(opcode == 0x88);
        return true;
      case 'J':
        push_int(take<int32_t>());
        return true;
      case 'K':
        push_int(take<uint8_t>());
        return true;
      case 'M':
        push_int(take<uint16_t>());
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
        push_text(PickleKind::kString, take<uint32_t>());
        return true;
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':   // SHORT_BINSTRING
        push_text(PickleKind::kString, take<uint8_t>());
        return true;
      case 0x8d:
        push_text(PickleKind::kString, take<uint64_t>());
        return true;
      case 'C':
        push_text(PickleKind::kBytes, take<uint8_t>());
        return true;
      case 'B':
        push_text(PickleKind::kBytes, take<uint32_t>());
        return true;
      case 0x8e:
        push_text(PickleKind::kBytes, take<uint64_t>());
        return true;
      default:
        return false;
    }
  }

  void push_tuple(const std::vector<Node*>& items) {
    Node* node = make(PickleKind::kTuple);
    for (const Node* item : items) add(node, item);
    push(node);
  }
  void push_tuple_of(size_t count) {
    std::vector<Node*> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(items);
  }
  void append(const std::vector<Node*>& items) {
    Node* list = top();
    if (list->kind != PickleKind::kList) damaged("it adds items to {}", kind_name(list->kind));
    for (const Node* item : items) add(list, item);
  }
  void set_items(const std::vector<Node*>& items) {
    Node* dict = top();
    if (dict->kind != PickleKind::kDict) damaged("it sets members of {}", kind_name(dict->kind));
    if (items.size() % 2 != 0) damaged("a key comes without a value");
    for (const Node* item : items) add(dict, item);
  }

  bool run_container(uint8_t opcode) {
    switch (opcode) {
      case '(':
        if (marks_.size() >= kDeepestMark) damaged("it nests deeper than {}", kDeepestMark);
        marks_.push_back(stack_.size());
        return true;
      case ')':
        push(make(PickleKind::kTuple));
        return true;
      case ']':
      case 0x8f:  // EMPTY_SET
        push(make(PickleKind::kList));
        return true;
      case '}':
        push(make(PickleKind::kDict));
        return true;
      case 't':
        push_tuple(pop_to_mark());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple_of(opcode - size_t{0x84});
        return true;
      case 'a': {
        Node* item = pop();
        append({item});
        return true;
      }
      case 'e':
      case 0x90:  // ADDITEMS
        append(pop_to_mark());
        return true;
      case 's': {
        Node* value = pop();
        Node* key = pop();
        set_items({key, value});
        return true;
      }
      case 'u':
        set_items(pop_to_mark());
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
               source_, version, kNewestProtocol);
        }
        return true;
      case 0x95:  // FRAME: a hint about length
        static_cast<void>(take<uint64_t>());
        return true;
      case 'c': {
        const std::string_view module = take_line();
        push_global(module, take_line());
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const Node* name = pop();
        const Node* module = pop();
        if (name->kind != PickleKind::kString || module->kind != PickleKind::kString) {
          damaged("a function is named by {}", kind_name(name->kind));
        }
        push_global(module->text, name->text);
        return true;
      }
      case 'R':
      case 0x81: {  // NEWOBJ
        const Node* arguments = pop();
        const Node* function = pop();
        push(call(function, arguments, opcode == 0x81));
        return true;
      }
      case 'b': {
        const Node* state = pop();
        build(top(), state);
        return true;
      }
      case 'Q': {
        const Node* id = pop();
        Node* node = make(PickleKind::kPersistent);
        add(node, id);
        push(node);
        return true;
      }
      default:
        return run_memo(opcode);
    }
  }

  bool run_memo(uint8_t opcode) {
    switch (opcode) {
      case 'q':
        remember(take<uint8_t>());
        return true;
      case 'r':
        remember(take<uint32_t>());
        return true;
      case 0x94:
        remember(static_cast<uint32_t>(memo_.size()));
        return true;
      case 'h':
        recall(take<uint8_t>());
        return true;
      case 'j':
        recall(take<uint32_t>());
        return true;
      case '0':
        // A mark right below is what POP removes then.
        if (!marks_.empty() && marks_.back() == stack_.size()) {
          marks_.pop_back();
        } else {
          pop();
        }
        return true;
      case '1':
        pop_to_mark();
        return true;
      case '2':
        push(top());
        return true;
      default:
        return false;
    }
  }

  void remember(uint32_t key) {
    memo_[key] = top();
    if (memo_.size() > kMostNodes) damaged("it remembers more than {} objects", kMostNodes);
  }
  void recall(uint32_t key) {
    const auto it = memo_.find(key);
    if (it == memo_.end()) damaged("it recalls object {}, which was never remembered", key);
    push(it->second);
  }

  void push_global(std::string_view module, std::string_view name) {
    const std::string whole = fmt::format("{}.{}", module, name);
    const std::string_view* known = find_in(globals_, whole);
    if (known == nullptr) known = find_in(kDicts, whole);
    if (known == nullptr) known = find_in(kLists, whole);
    if (known == nullptr) known = find_in(kEncode, whole);
    if (known == nullptr) known = find_in(kNamespace, whole);
    if (known == nullptr) {
      fail(ErrorKind::kUnsupported,
           "{}: asks for {} of Python, which fovea does not run: it reads tensors only; save the "
           "model's state_dict alone, best as safetensors",
           source_, quote_name(whole));
    }
    Node* node = make(PickleKind::kGlobal);
    node->text = *known;
    push(node);
  }

  Node* call(const Node* function, const Node* arguments, bool makes_object) {
    if (function->kind != PickleKind::kGlobal) {
      damaged("it calls {}, which is not a function", kind_name(function->kind));
    }
    if (arguments->kind != PickleKind::kTuple) {
      damaged("the arguments of {} are {}", function->text, kind_name(arguments->kind));
    }
    if (find_in(kNamespace, function->text) != nullptr) {
      Node* node = make(PickleKind::kDict);
      node->text = function->text;
      return node;
    }
    if (find_in(kDicts, function->text) != nullptr) return make_dict(arguments);
    if (find_in(kLists, function->text) != nullptr) return make_list(arguments);
    if (find_in(kEncode, function->text) != nullptr) return make_bytes(arguments);
    if (makes_object && function->text != "torch.Size") {
      fail(ErrorKind::kUnsupported, "{}: makes an object of {}, which fovea does not read; {}",
           source_, quote_name(function->text), "save the model's state_dict alone");
    }
    Node* node = make(PickleKind::kCall);
    add(node, function);
    add(node, arguments);
    return node;
  }

  // OrderedDict() or, from old Pythons, OrderedDict([[key, value], ...]).
  Node* make_dict(const Node* arguments) {
    Node* dict = make(PickleKind::kDict);
    if (arguments->items.size() != 1 || arguments->items[0]->kind != PickleKind::kList) return dict;
    for (const Node* pair : arguments->items[0]->items) {
      if (pair->items.size() != 2) damaged("a dict is made of something else than pairs");
      add(dict, pair->items[0]);
      add(dict, pair->items[1]);
    }
    return dict;
  }
  Node* make_list(const Node* arguments) {
    Node* list = make(PickleKind::kList);
    if (arguments->items.empty()) return list;
    for (const Node* item : arguments->items[0]->items) add(list, item);
    return list;
  }
  Node* make_bytes(const Node* arguments) {
    if (arguments->items.empty() || arguments->items[0]->kind != PickleKind::kString) {
      damaged("_codecs.encode is called without a string");
    }
    Node* bytes = make(PickleKind::kBytes);
    bytes->text = arguments->items[0]->text;
    return bytes;
  }

  // Attributes: of a Namespace they are its members; those of a dict (torch's _metadata) and of a
  // tensor say nothing about its elements.
  void build(Node* object, const Node* state) {
    const bool has_attributes =
        object->kind == PickleKind::kDict || object->kind == PickleKind::kCall;
    if (!has_attributes) damaged("it sets attributes of {}", kind_name(object->kind));
    if (object->text.empty()) return;
    if (state->kind != PickleKind::kDict) damaged("the members of a Namespace are not a dict");
    const auto members = state->items;  // a copy: `state` may be `object`
    for (const Node* item : members) add(object, item);
  }

  Bytes bytes_;
  std::string_view source_;
  std::span<const std::string_view> globals_;
  size_t at_ = 0;
  size_t opcode_at_ = 0;
  size_t links_ = 0;
  Pickle pickle_;
  std::vector<Node*> stack_;
  std::vector<size_t> marks_;  // stack sizes
  std::unordered_map<uint32_t, Node*> memo_;
};

Pickle Pickle::parse(Bytes bytes, std::string_view source,
                     std::span<const std::string_view> globals) {
  return PickleReader(bytes, source, globals).run();
}

}  // namespace fovea
