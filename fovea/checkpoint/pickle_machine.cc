#include "fovea/checkpoint/pickle_machine.h"

#include <algorithm>
#include <array>
#include <string>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t kMostNodes = size_t{1} << 22;
constexpr size_t kMostLinks = size_t{1} << 24;  // items of all containers together
constexpr size_t kDeepestMark = 1000;

// Containers of Python itself, made here. The two spellings are those of Python 2 and 3.
constexpr std::array<std::string_view, 5> kDicts{"collections.OrderedDict",
                                                 "collections.defaultdict", "collections.Counter",
                                                 "builtins.dict", "__builtin__.dict"};
constexpr std::array<std::string_view, 8> kLists{
    "builtins.set",  "__builtin__.set",  "builtins.frozenset", "__builtin__.frozenset",
    "builtins.list", "__builtin__.list", "builtins.tuple",     "__builtin__.tuple"};
constexpr std::array<std::string_view, 1> kEncode{"_codecs.encode"};  // bytes in protocol 2
constexpr std::array<std::string_view, 1> kNamespace{"argparse.Namespace"};

template <typename List>
const std::string_view* find_in(const List& list, std::string_view name) {
  const auto it = std::find(std::begin(list), std::end(list), name);
  return it == std::end(list) ? nullptr : &*it;
}

}  // namespace

PickleNode* PickleMachine::make(PickleKind kind) {
  if (pickle_.nodes_.size() >= kMostNodes) damaged("it makes more than {} objects", kMostNodes);
  pickle_.nodes_.push_back({.kind = kind});
  return &pickle_.nodes_.back();
}

void PickleMachine::count_link() {
  if (++links_ > kMostLinks) damaged("its objects hold more than {} items", kMostLinks);
}

void PickleMachine::push(Node* node) {
  count_link();
  stack_.push_back(node);
}

void PickleMachine::add(Node* container, const Node* item) {
  count_link();
  container->items.push_back(item);
}

PickleNode* PickleMachine::top() {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) damaged("an operation needs an object that is not there");
  return stack_.back();
}

PickleNode* PickleMachine::pop() {
  Node* node = top();
  stack_.pop_back();
  return node;
}

std::vector<PickleNode*> PickleMachine::pop_to_mark() {
  if (marks_.empty()) damaged("a mark is missing");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<Node*> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleMachine::push_int(int64_t value) {
  Node* node = make(PickleKind::kInt);
  node->number = value;
  push(node);
}

void PickleMachine::push_bool(bool value) {
  Node* node = make(PickleKind::kBool);
  node->number = value ? 1 : 0;
  push(node);
}

void PickleMachine::push_real(double value) {
  Node* node = make(PickleKind::kFloat);
  node->real = value;
  push(node);
}

void PickleMachine::push_text(PickleKind kind, std::string_view text) {
  Node* node = make(kind);
  node->text = text;
  push(node);
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
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

void PickleMachine::push_named_global() {
  const Node* name = pop();
  const Node* module = pop();
  if (name->kind != PickleKind::kString || module->kind != PickleKind::kString) {
    damaged("a function is named by {}", kind_name(name->kind));
  }
  push_global(module->text, name->text);
}

void PickleMachine::mark() {
  if (marks_.size() >= kDeepestMark) damaged("it nests deeper than {}", kDeepestMark);
  marks_.push_back(stack_.size());
}

void PickleMachine::push_tuple(const std::vector<Node*>& items) {
  Node* node = make(PickleKind::kTuple);
  for (const Node* item : items) add(node, item);
  push(node);
}

void PickleMachine::push_tuple_of(size_t count) {
  std::vector<Node*> items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  push_tuple(items);
}

void PickleMachine::append(const std::vector<Node*>& items) {
  Node* list = top();
  if (list->kind != PickleKind::kList) damaged("it adds items to {}", kind_name(list->kind));
  for (const Node* item : items) add(list, item);
}

void PickleMachine::append_one() {
  Node* item = pop();
  append({item});
}

void PickleMachine::set_items(const std::vector<Node*>& items) {
  Node* dict = top();
  if (dict->kind != PickleKind::kDict) damaged("it sets members of {}", kind_name(dict->kind));
  if (items.size() % 2 != 0) damaged("a key comes without a value");
  for (const Node* item : items) add(dict, item);
}

void PickleMachine::set_one() {
  Node* value = pop();
  Node* key = pop();
  set_items({key, value});
}

void PickleMachine::call(bool makes_object) {
  const Node* arguments = pop();
  const Node* function = pop();
  push(result_of(function, arguments, makes_object));
}

PickleNode* PickleMachine::result_of(const Node* function, const Node* arguments,
                                     bool makes_object) {
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
PickleNode* PickleMachine::make_dict(const Node* arguments) {
  Node* dict = make(PickleKind::kDict);
  if (arguments->items.size() != 1 || arguments->items[0]->kind != PickleKind::kList) return dict;
  for (const Node* pair : arguments->items[0]->items) {
    if (pair->items.size() != 2) damaged("a dict is made of something else than pairs");
    add(dict, pair->items[0]);
    add(dict, pair->items[1]);
  }
  return dict;
}

PickleNode* PickleMachine::make_list(const Node* arguments) {
  Node* list = make(PickleKind::kList);
  if (arguments->items.empty()) return list;
  for (const Node* item : arguments->items[0]->items) add(list, item);
  return list;
}

PickleNode* PickleMachine::make_bytes(const Node* arguments) {
  if (arguments->items.empty() || arguments->items[0]->kind != PickleKind::kString) {
    damaged("_codecs.encode is called without a string");
  }
  Node* bytes = make(PickleKind::kBytes);
  bytes->text = arguments->items[0]->text;
  return bytes;
}

// Attributes: of a Namespace they are its members; those of a dict (torch's _metadata) and of a
// tensor say nothing about its elements.
void PickleMachine::build() {
  const Node* state = pop();
  Node* object = top();
  const bool has_attributes =
      object->kind == PickleKind::kDict || object->kind == PickleKind::kCall;
  if (!has_attributes) damaged("it sets attributes of {}", kind_name(object->kind));
  if (object->text.empty()) return;
  if (state->kind != PickleKind::kDict) damaged("the members of a Namespace are not a dict");
  const auto members = state->items;  // a copy: `state` may be `object`
  for (const Node* item : members) add(object, item);
}

void PickleMachine::push_persistent() {
  const Node* id = pop();
  Node* node = make(PickleKind::kPersistent);
  add(node, id);
  push(node);
}

void PickleMachine::remember(uint32_t key) {
  memo_[key] = top();
  if (memo_.size() > kMostNodes) damaged("it remembers more than {} objects", kMostNodes);
}

void PickleMachine::recall(uint32_t key) {
  const auto it = memo_.find(key);
  if (it == memo_.end()) damaged("it recalls object {}, which was never remembered", key);
  push(it->second);
}

void PickleMachine::drop() {
  // A mark right below is what POP removes then.
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    pop();
  }
}

Pickle PickleMachine::finish(size_t size) {
  pickle_.root_ = pop();
  pickle_.size_ = size;
  return std::move(pickle_);
}

}  // namespace fovea
