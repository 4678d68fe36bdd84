// A reader of Python pickles that never runs anything. It builds plain data and remembers calls as
// data; a function that is not on the list of harmless ones is refused by its name, and so is an
// opcode that torch does not write (ADR 0008).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"

namespace fovea {

enum class PickleKind {
  kNone,
  kBool,        // number
  kInt,         // number
  kBigInt,      // a whole number beyond 64 bits; its value is not kept
  kFloat,       // real
  kString,      // text
  kBytes,       // text
  kTuple,       // items
  kList,        // items; sets too
  kDict,        // items: key, value, key, value ...
  kGlobal,      // text: "torch.FloatStorage"
  kCall,        // items: a kGlobal and a kTuple of arguments
  kPersistent,  // items: the id, which torch uses to name a storage
};

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<const PickleNode*> items;
};

std::string_view kind_name(PickleKind kind);  // "a list"

// One pickle out of bytes. Nodes may contain each other and even themselves: whoever walks them
// must bound the walk. Text borrows from the bytes.
class Pickle {
 public:
  // Reads up to and with the opcode STOP. `globals` are the functions and classes whose mention is
  // harmless, beside Python's own containers. Throws Error{kUnsupported} naming any other, and any
  // opcode that is not read; Error{kBadFile} if the bytes are damaged or ask for too much.
  static Pickle parse(Bytes bytes, std::string_view source,
                      std::span<const std::string_view> globals);

  const PickleNode& root() const { return *root_; }
  // Every node that was made, whether or not the root holds it.
  const std::deque<PickleNode>& nodes() const { return nodes_; }
  // How many of the bytes the pickle took.
  size_t size() const { return size_; }

 private:
  friend class PickleMachine;
  std::deque<PickleNode> nodes_;
  const PickleNode* root_ = nullptr;
  size_t size_ = 0;
};

}  // namespace fovea
