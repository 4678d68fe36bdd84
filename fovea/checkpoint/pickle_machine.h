// The machine that a pickle is a program for: a stack, marks on it, and a memo. What opcodes do is
// here; reading them out of bytes is in pickle.cc. Private to this folder.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/checkpoint/pickle.h"

namespace fovea {

// Every step throws Error{kBadFile} if the stack does not hold what it needs, or if all that was
// made becomes too much.
class PickleMachine {
 public:
  using Node = PickleNode;

  // As Pickle::parse; messages name `source`.
  PickleMachine(std::string_view source, std::span<const std::string_view> globals)
      : source_(source), globals_(globals) {}

  // The next opcode stands at this byte, for messages.
  void begin_opcode(size_t at) { opcode_at_ = at; }
  size_t opcode_at() const { return opcode_at_; }
  std::string_view source() const { return source_; }

  template <typename... Args>
  [[noreturn]] void damaged(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kBadFile, "{}: damaged pickle at byte {}: {}; perhaps an incomplete download",
         source_, opcode_at_, fmt::format(format, std::forward<Args>(args)...));
  }

  void push_new(PickleKind kind) { push(make(kind)); }
  void push_int(int64_t value);
  void push_bool(bool value);
  void push_real(double value);
  void push_text(PickleKind kind, std::string_view text);
  // Refuses what is neither harmless nor one of Python's containers.
  void push_global(std::string_view module, std::string_view name);
  void push_named_global();  // module and name lie on the stack

  void mark();
  void push_tuple_to_mark() { push_tuple(pop_to_mark()); }
  void push_tuple_of(size_t count);
  void append_one();
  void append_to_mark() { append(pop_to_mark()); }
  void set_one();
  void set_to_mark() { set_items(pop_to_mark()); }

  void call(bool makes_object);
  void build();  // sets attributes
  void push_persistent();

  void remember(uint32_t key);
  void remember_next() { remember(static_cast<uint32_t>(memo_.size())); }
  void recall(uint32_t key);
  void drop();
  void drop_to_mark() { pop_to_mark(); }
  void duplicate() { push(top()); }

  // What lies on top is the whole.
  Pickle finish(size_t size);

 private:
  Node* make(PickleKind kind);
  void count_link();
  void push(Node* node);
  void add(Node* container, const Node* item);
  Node* top();
  Node* pop();
  // Objects above the last mark, which goes too.
  std::vector<Node*> pop_to_mark();

  void push_tuple(const std::vector<Node*>& items);
  void append(const std::vector<Node*>& items);
  void set_items(const std::vector<Node*>& items);
  Node* result_of(const Node* function, const Node* arguments, bool makes_object);
  Node* make_dict(const Node* arguments);
  Node* make_list(const Node* arguments);
  Node* make_bytes(const Node* arguments);

  std::string_view source_;
  std::span<const std::string_view> globals_;
  size_t opcode_at_ = 0;
  size_t links_ = 0;
  Pickle pickle_;
  std::vector<Node*> stack_;
  std::vector<size_t> marks_;  // stack sizes
  std::unordered_map<uint32_t, Node*> memo_;
};

}  // namespace fovea
