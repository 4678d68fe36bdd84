#include "fovea/text/jinja/template.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/overloaded.h"
#include "fovea/text/jinja/builtins.h"
#include "fovea/text/jinja/syntax.h"

namespace fovea::jinja {
namespace {

constexpr int kDeepestCalls = 40;  // of macros within macros

// Names of a loop or a macro; others are looked up around it.
struct Scope {
  std::map<std::string, Value, std::less<>> values = {};
  Scope* around = nullptr;

  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->around) {
      const auto found = scope->values.find(name);
      if (found != scope->values.end()) return &found->second;
    }
    return nullptr;
  }
};

enum class Flow { kOn, kBreak, kContinue };

[[noreturn]] void refuse_pair(std::string_view sign, const Value& left, const Value& right) {
  fail(ErrorKind::kUnsupported, "{} {} {} is not known to fovea", left.type_name(), sign,
       right.type_name());
}
[[noreturn]] void refuse_size() {
  fail(ErrorKind::kUnsupported, "a number is too large");
}

int64_t whole_result(std::string_view sign, int64_t a, int64_t b) {
  int64_t result = 0;
  if (sign == "+"   ? __builtin_add_overflow(a, b, &result)
      : sign == "-" ? __builtin_sub_overflow(a, b, &result)
                    : __builtin_mul_overflow(a, b, &result)) {
    refuse_size();
  }
  return result;
}

// As Python: towards minus infinity.
Value divided(std::string_view sign, const Value& left, const Value& right) {
  if (right.real() == 0) fail(ErrorKind::kUnsupported, "a number is divided by 0");
  if (sign == "/") return left.real() / right.real();
  if (left.is_real() || right.is_real()) {
    const double floor = std::floor(left.real() / right.real());
    return sign == "//" ? floor : left.real() - floor * right.real();
  }
  const int64_t a = left.integer(), b = right.integer();
  if (a == INT64_MIN && b == -1) refuse_size();
  const bool below = a % b != 0 && (a < 0) != (b < 0);
  return sign == "//" ? a / b - (below ? 1 : 0) : a % b + (below ? b : 0);
}

Value power(const Value& left, const Value& right) {
  const double result = std::pow(left.real(), right.real());
  if (left.is_real() || right.is_real() || right.integer() < 0) return result;
  if (!(std::abs(result) < 9e15)) refuse_size();
  return static_cast<int64_t>(result);
}

Value repeated(const Value& value, int64_t times, Work& work) {
  const std::vector<Value> items = items_of(value);
  const auto count = static_cast<size_t>(std::max<int64_t>(times, 0));
  if (count > size_t{1} << 26) refuse_size();
  if (value.text() != nullptr) {
    work.spend(value.text()->size() * count);
    std::string text;
    for (size_t i = 0; i < count && !value.text()->empty(); ++i) text += *value.text();
    return text;
  }
  work.spend(items.size() * count * 8);
  List list{.items = {}, .tuple = value.list()->tuple};
  for (size_t i = 0; i < count && !items.empty(); ++i) {
    list.items.insert(list.items.end(), items.begin(), items.end());
  }
  return list;
}

Value computed(std::string_view sign, const Value& left, const Value& right, Work& work) {
  const auto is_sequence = [](const Value& value) {
    return value.text() != nullptr || value.list() != nullptr;
  };
  if (left.is_number() && right.is_number()) {
    if (sign == "/" || sign == "//" || sign == "%") return divided(sign, left, right);
    if (sign == "**") return power(left, right);
    if (!left.is_real() && !right.is_real()) {
      return whole_result(sign, left.integer(), right.integer());
    }
    return sign == "+"   ? left.real() + right.real()
           : sign == "-" ? left.real() - right.real()
                         : left.real() * right.real();
  }
  if (sign == "+" && left.text() != nullptr && right.text() != nullptr) {
    work.spend(left.text()->size() + right.text()->size());
    return *left.text() + *right.text();
  }
  if (sign == "+" && left.list() != nullptr && right.list() != nullptr &&
      left.list()->tuple == right.list()->tuple) {
    List list = *left.list();
    work.spend((list.items.size() + right.list()->items.size()) * 8);
    list.items.insert(list.items.end(), right.list()->items.begin(), right.list()->items.end());
    return list;
  }
  if (sign == "*" && is_sequence(left) && right.is_int()) {
    return repeated(left, right.integer(), work);
  }
  if (sign == "*" && left.is_int() && is_sequence(right)) {
    return repeated(right, left.integer(), work);
  }
  refuse_pair(sign, left, right);
}

bool compared(std::string_view sign, const Value& left, const Value& right) {
  if (sign == "==") return equal(left, right);
  if (sign == "!=") return !equal(left, right);
  if (sign == "in") return contains(right, left);
  if (sign == "not in") return !contains(right, left);
  if (sign == "<") return less(left, right);
  if (sign == ">") return less(right, left);
  return sign == "<=" ? less(left, right) || equal(left, right)
                      : less(right, left) || equal(left, right);
}

// What `loop` tells within a loop.
Value loop_facts(const std::vector<Value>& items, size_t i) {
  const auto number = [](size_t n) { return Value(static_cast<int64_t>(n)); };
  const size_t count = items.size();
  return Dict{
      .items = {{"index", number(i + 1)},
                {"index0", number(i)},
                {"revindex", number(count - i)},
                {"revindex0", number(count - i - 1)},
                {"first", i == 0},
                {"last", i + 1 == count},
                {"length", number(count)},
                {"previtem", i > 0 ? items[i - 1] : Value::undefined("loop.previtem")},
                {"nextitem", i + 1 < count ? items[i + 1] : Value::undefined("loop.nextitem")}},
      .loop = true};
}

class Renderer {
 public:
  Renderer(const Dict& variables, std::time_t now) : now_(now) {
    for (const auto& [name, value] : variables.items) top_.values[name] = value;
  }

  std::string whole(const Block& block) {
    std::string out;
    run(block, top_, out);
    return out;
  }
  int line() const { return line_; }

 private:
  // --- statements ---

  Flow run(const Block& block, Scope& scope, std::string& out) {
    for (const Statement& statement : block) {
      line_ = statement.line;
      work_.spend(0);
      const Flow flow =
          std::visit([&](const auto& each) { return step(each, scope, out); }, statement.is);
      if (flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }

  Flow step(const Written& written, Scope&, std::string& out) { return write(written.text, out); }
  Flow step(const Print& print, Scope& scope, std::string& out) {
    return write(printed(evaluate(*print.value, scope)), out);
  }
  Flow write(const std::string& text, std::string& out) {
    work_.spend(text.size());
    out += text;
    return Flow::kOn;
  }
  Flow step(const If& choice, Scope& scope, std::string& out) {
    for (const auto& [test, body] : choice.branches) {
      if (evaluate(*test, scope).truth()) return run(body, scope, out);
    }
    return run(choice.otherwise, scope, out);
  }
  Flow step(const Group& group, Scope& scope, std::string& out) {
    Scope inner{.around = &scope};
    return run(group.body, inner, out);
  }
  Flow step(const Break&, Scope&, std::string&) { return Flow::kBreak; }
  Flow step(const Continue&, Scope&, std::string&) { return Flow::kContinue; }
  Flow step(const Macro& macro, Scope& scope, std::string&) {
    scope.values[macro.name] = Value(&macro);
    return Flow::kOn;
  }

  Flow step(const For& loop, Scope& scope, std::string& out) {
    std::vector<Value> items = items_of(evaluate(*loop.over, scope));
    work_.spend(items.size() * 8);
    if (loop.only_if) {
      std::erase_if(items, [&](const Value& item) {
        Scope inner{.around = &scope};
        assign(loop.targets, item, inner);
        return !evaluate(*loop.only_if, inner).truth();
      });
    }
    for (size_t i = 0; i < items.size(); ++i) {
      Scope inner{.around = &scope};
      inner.values["loop"] = loop_facts(items, i);
      assign(loop.targets, items[i], inner);
      if (run(loop.body, inner, out) == Flow::kBreak) break;
    }
    if (items.empty()) {
      Scope inner{.around = &scope};
      return run(loop.otherwise, inner, out);
    }
    return Flow::kOn;
  }

  static std::vector<Value> taken_apart(const Value& value, size_t count) {
    std::vector<Value> parts = items_of(value);
    if (parts.size() != count) {
      fail(ErrorKind::kUnsupported, "{} names are given {} values", count, parts.size());
    }
    return parts;
  }
  static void assign(const std::vector<std::string>& targets, const Value& value, Scope& scope) {
    if (targets.size() == 1) {
      scope.values[targets[0]] = value;
      return;
    }
    const std::vector<Value> parts = taken_apart(value, targets.size());
    for (size_t i = 0; i < parts.size(); ++i) scope.values[targets[i]] = parts[i];
  }

  Flow step(const Set& set, Scope& scope, std::string&) {
    Value value;
    if (set.value) {
      value = evaluate(*set.value, scope);
    } else {
      std::string text;
      Scope inner{.around = &scope};
      run(set.body, inner, text);
      value = Value(std::move(text));
    }
    const std::vector<Value> parts =
        set.targets.size() == 1 ? std::vector{value} : taken_apart(value, set.targets.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto& [name, attribute] = set.targets[i];
      if (attribute.empty()) {
        scope.values[name] = parts[i];
        continue;
      }
      const Value* held = scope.find(name);
      Namespace* const names = held == nullptr ? nullptr : held->name_space();
      if (names == nullptr) {
        fail(ErrorKind::kUnsupported, "'{}.{}' is set but '{}' is no namespace", name, attribute,
             name);
      }
      names->set(attribute, parts[i]);
    }
    return Flow::kOn;
  }

  // --- expressions ---

  Value evaluate(const Expression& expression, Scope& scope) {
    line_ = expression.line;
    return std::visit([&](const auto& each) { return value_of(each, scope); }, expression.is);
  }
  Value evaluate_or_none(const ExpressionPtr& expression, Scope& scope) {
    return expression ? evaluate(*expression, scope) : Value();
  }
  Given evaluate(const Arguments& arguments, Scope& scope) {
    Given given;
    for (const ExpressionPtr& each : arguments.plain) given.plain.push_back(evaluate(*each, scope));
    for (const auto& [name, each] : arguments.named) {
      given.named.emplace_back(name, evaluate(*each, scope));
    }
    return given;
  }

  Value value_of(const Literal& literal, Scope&) { return literal.value; }
  Value value_of(const Name& name, Scope& scope) {
    if (const Value* found = scope.find(name.name)) return *found;
    return is_function(name.name) ? Value(Function{name.name}) : Value::undefined(name.name);
  }
  Value value_of(const ListOf& list, Scope& scope) {
    List result{.items = {}, .tuple = list.tuple};
    for (const ExpressionPtr& item : list.items) result.items.push_back(evaluate(*item, scope));
    work_.spend(result.items.size() * 8);
    return result;
  }
  Value value_of(const DictOf& dict, Scope& scope) {
    Namespace result;
    for (const auto& [key, value] : dict.items) {
      const Value name = evaluate(*key, scope);
      if (name.text() == nullptr) {
        fail(ErrorKind::kUnsupported, "a key is {} and no text", name.type_name());
      }
      result.set(*name.text(), evaluate(*value, scope));
    }
    return std::move(result.values);
  }
  Value value_of(const Attribute& attribute, Scope& scope) {
    return part_named(evaluate(*attribute.of, scope), attribute.name);
  }
  Value value_of(const Subscript& subscript, Scope& scope) {
    const Value of = evaluate(*subscript.of, scope);
    return item_of(of, evaluate(*subscript.index, scope));
  }
  Value value_of(const Slice& slice, Scope& scope) {
    const Value of = evaluate(*slice.of, scope);
    const Value begin = evaluate_or_none(slice.begin, scope);
    const Value end = evaluate_or_none(slice.end, scope);
    const Value step = evaluate_or_none(slice.step, scope);
    if (of.list() != nullptr || of.text() != nullptr) {
      work_.spend(static_cast<size_t>(length_of(of)) * 8);
    }
    return slice_of(of, begin, end, step);
  }
  Value value_of(const Filtered& filter, Scope& scope) {
    const Value of = evaluate(*filter.of, scope);
    return filtered(filter.name, of, evaluate(filter.arguments, scope), work_);
  }
  Value value_of(const Tested& test, Scope& scope) {
    const Value of = evaluate(*test.of, scope);
    return tested(test.name, of, evaluate(test.arguments, scope)) != test.negated;
  }
  Value value_of(const Unary& unary, Scope& scope) {
    const Value of = evaluate(*unary.of, scope);
    if (unary.sign == "not") return !of.truth();
    if (!of.is_number()) fail(ErrorKind::kUnsupported, "{} of {}", unary.sign, of.type_name());
    if (unary.sign == "+") return of.is_real() ? Value(of.real()) : Value(of.integer());
    return of.is_real() ? Value(-of.real()) : Value(whole_result("-", 0, of.integer()));
  }
  Value value_of(const Binary& binary, Scope& scope) {
    const Value left = evaluate(*binary.left, scope);
    if (binary.sign == "and") return left.truth() ? evaluate(*binary.right, scope) : left;
    if (binary.sign == "or") return left.truth() ? left : evaluate(*binary.right, scope);
    const Value right = evaluate(*binary.right, scope);
    if (binary.sign == "~") {
      std::string text = printed(left) + printed(right);
      work_.spend(text.size());
      return text;
    }
    return computed(binary.sign, left, right, work_);
  }
  Value value_of(const Compared& comparison, Scope& scope) {
    Value left = evaluate(*comparison.first, scope);
    for (const auto& [sign, other] : comparison.rest) {
      Value right = evaluate(*other, scope);
      if (!compared(sign, left, right)) return false;
      left = std::move(right);
    }
    return true;
  }
  Value value_of(const Conditional& choice, Scope& scope) {
    if (evaluate(*choice.test, scope).truth()) return evaluate(*choice.then, scope);
    return choice.otherwise ? evaluate(*choice.otherwise, scope)
                            : Value::undefined("the other case of 'if'");
  }

  Value value_of(const Call& call, Scope& scope) {
    if (const auto* attribute = std::get_if<Attribute>(&call.callee->is)) {
      const Value of = evaluate(*attribute->of, scope);
      if (has_method(of, attribute->name)) {
        return method_result(of, attribute->name, evaluate(call.arguments, scope), work_);
      }
      const Value member = part_named(of, attribute->name);
      if (member.is_callable()) return called(member, evaluate(call.arguments, scope));
      return method_result(of, attribute->name, {}, work_);  // says that there is none
    }
    const Value callee = evaluate(*call.callee, scope);
    if (callee.is_undefined()) {
      fail(ErrorKind::kUnsupported, "the function '{}' is not known to fovea",
           callee.undefined_name());
    }
    if (!callee.is_callable()) {
      fail(ErrorKind::kUnsupported, "{} is called like a function", callee.type_name());
    }
    return called(callee, evaluate(call.arguments, scope));
  }

  Value called(const Value& callee, const Given& given) {
    if (const Macro* macro = callee.macro()) return expanded(*macro, given);
    const std::string& name = callee.function()->name;
    if (name != "namespace") return function_result(name, given, now_, work_);
    Namespace& names = namespaces_.emplace_back();
    for (const Value& each : given.plain) {
      if (each.dict() == nullptr) refuse_pair("in", each, Value(&names));
      for (const auto& [key, value] : each.dict()->items) names.set(key, value);
    }
    for (const auto& [key, value] : given.named) names.set(key, value);
    work_.spend(64);
    return &names;
  }

  Value expanded(const Macro& macro, const Given& given) {
    if (++calls_ > kDeepestCalls) {
      fail(ErrorKind::kUnsupported, "macros call each other more than {} deep", kDeepestCalls);
    }
    if (given.plain.size() > macro.parameters.size()) {
      fail(ErrorKind::kUnsupported, "the macro '{}' takes {} values but is given {}", macro.name,
           macro.parameters.size(), given.plain.size());
    }
    for (const auto& [name, value] : given.named) {
      if (std::ranges::find(macro.parameters, name, &Macro::Parameter::name) ==
          macro.parameters.end()) {
        fail(ErrorKind::kUnsupported, "the macro '{}' takes no '{}'", macro.name, name);
      }
    }
    Scope scope{.around = &top_};
    for (size_t i = 0; i < macro.parameters.size(); ++i) {
      const auto& [name, otherwise] = macro.parameters[i];
      const Value* value = given.find(i, name);
      scope.values[name] = value != nullptr ? *value
                           : otherwise      ? evaluate(*otherwise, scope)
                                            : Value::undefined(name);
    }
    std::string text;
    run(macro.body, scope, text);
    --calls_;
    return text;
  }

  std::time_t now_;
  Scope top_;
  std::deque<Namespace> namespaces_;
  Work work_;
  int line_ = 0;
  int calls_ = 0;
};

}  // namespace

struct Template::Parsed {
  std::string where;
  Block block;
};

Template Template::parse(std::string_view source, std::string where) {
  constexpr size_t kLongest = size_t{1} << 20;
  if (source.size() > kLongest) {
    fail(ErrorKind::kUnsupported, "{}: the chat template has {} bytes; at most {} are read", where,
         source.size(), kLongest);
  }
  Block block = jinja::parse(source, where);
  return Template(std::make_shared<const Parsed>(Parsed{std::move(where), std::move(block)}));
}

std::string Template::render(const Dict& variables, std::time_t now) const {
  Renderer renderer(variables, now);
  try {
    return renderer.whole(parsed_->block);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    throw Error(error.kind(),
                fmt::format("{}: line {}: {}", parsed_->where, renderer.line(), error.what()));
  }
}

}  // namespace fovea::jinja
