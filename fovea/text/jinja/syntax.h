// The parts of a chat template. https://jinja.palletsprojects.com/en/stable/templates/
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fovea/text/jinja/value.h"

namespace fovea::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Arguments {
  std::vector<ExpressionPtr> plain;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct ListOf {
  std::vector<ExpressionPtr> items;
  bool tuple = false;
};
struct DictOf {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
};
struct Attribute {  // of.name
  ExpressionPtr of;
  std::string name;
};
struct Subscript {  // of[index]
  ExpressionPtr of, index;
};
struct Slice {  // of[begin:end:step], each may be null
  ExpressionPtr of, begin, end, step;
};
struct Call {
  ExpressionPtr callee;
  Arguments arguments;
};
struct Filtered {  // of | name(arguments)
  ExpressionPtr of;
  std::string name;
  Arguments arguments;
};
struct Tested {  // of is name(arguments)
  ExpressionPtr of;
  std::string name;
  Arguments arguments;
  bool negated = false;
};
struct Unary {
  std::string sign;  // "not", "-", "+"
  ExpressionPtr of;
};
struct Binary {
  std::string sign;  // "and", "or", "+", "~", "//", ...
  ExpressionPtr left, right;
};
struct Compared {  // first < a <= b ...
  ExpressionPtr first;
  std::vector<std::pair<std::string, ExpressionPtr>> rest;
};
struct Conditional {  // then if test else otherwise, which may be null
  ExpressionPtr then, test, otherwise;
};

struct Expression {
  std::variant<Literal, Name, ListOf, DictOf, Attribute, Subscript, Slice, Call, Filtered, Tested,
               Unary, Binary, Compared, Conditional>
      is;
  int line = 0;
};

struct Statement;
using Block = std::vector<Statement>;

struct Written {  // text outside of all tags
  std::string text;
};
struct Print {
  ExpressionPtr value;
};
struct If {
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
};
struct For {
  std::vector<std::string> targets;  // several take an item apart
  ExpressionPtr over, only_if;       // only_if may be null
  Block body, otherwise;
};
struct Set {
  struct Target {
    std::string name, attribute;  // name.attribute of a namespace; empty: a plain name
  };
  std::vector<Target> targets;
  ExpressionPtr value;  // null: what `body` prints
  Block body;
};
struct Macro {
  struct Parameter {
    std::string name;
    ExpressionPtr otherwise;  // null: must not be left out
  };
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
};
struct Group {  // a block that only marks what it holds
  Block body;
};
struct Break {};
struct Continue {};

struct Statement {
  std::variant<Written, Print, If, For, Set, Macro, Group, Break, Continue> is;
  int line = 0;
};

// Reads a template as transformers does: a line end after a block and spaces before one on its line
// are left out. Throws Error{kUnsupported} for tags, and signs that fovea does not know, by their
// name, and Error{kBadFile} for what is no template. `where` begins the messages.
Block parse(std::string_view source, std::string_view where);

}  // namespace fovea::jinja
