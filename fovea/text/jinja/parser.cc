#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "fovea/base/error.h"
#include "fovea/text/jinja/syntax.h"
#include "fovea/text/jinja/tokens.h"

namespace fovea::jinja {
namespace {

constexpr int kDeepestNesting = 200;

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view where)
      : tokens_(std::move(tokens)), where_(where) {}

  Block whole() {
    Block block = block_until({});
    return block;
  }

 private:
  // Counts how deep parts lie within parts, so that no file exhausts the stack.
  struct Deeper {
    explicit Deeper(Parser& whose) : parser(whose), before(whose.depth_) { more(); }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { parser.depth_ = before; }
    // For each part that is laid around the last one: a + b + c lies as deep as ((a + b) + c).
    void more() const {
      if (++parser.depth_ > kDeepestNesting) {
        fail(ErrorKind::kUnsupported, "{}: line {}: more than {} parts lie within each other",
             parser.where_, parser.now().line, kDeepestNesting);
      }
    }
    Parser& parser;
    int before;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() {
    Token token = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool take_sign(std::string_view sign) { return now().sign(sign) && (take(), true); }
  bool take_name(std::string_view name) { return now().name(name) && (take(), true); }

  [[noreturn]] void unexpected(std::string_view wanted) const {
    static constexpr std::string_view kEnds[] = {"text",     "{{",     "}}",     "{%",
                                                 "%}",       "a name", "a text", "a number",
                                                 "a number", "a sign", "the end"};
    const Token& token = now();
    const bool own = token.kind == TokenKind::kName || token.kind == TokenKind::kSign;
    fail(ErrorKind::kBadFile, "{}: line {}: {} is expected but {} follows", where_, token.line,
         wanted, own ? "'" + token.text + "'" : kEnds[static_cast<size_t>(token.kind)]);
  }
  [[noreturn]] void unknown(std::string_view what, std::string_view name, int line) const {
    fail(ErrorKind::kUnsupported, "{}: line {}: the {} '{}' is not known to fovea", where_, line,
         what, name);
  }
  void need_sign(std::string_view sign) {
    if (!take_sign(sign)) unexpected("'" + std::string(sign) + "'");
  }
  std::string need_name() {
    if (now().kind != TokenKind::kName) unexpected("a name");
    return take().text;
  }
  void need_block_end() {
    if (now().kind != TokenKind::kBlockEnd) unexpected("%}");
    take();
  }

  template <typename Node>
  ExpressionPtr make(Node node, int line) {
    return std::make_unique<const Expression>(Expression{std::move(node), line});
  }

  // --- statements ---

  // Up to a tag of one of these names, which is left as what comes next (after its "{%").
  Block block_until(std::initializer_list<std::string_view> ends) {
    const Deeper deeper(*this);
    Block block;
    for (;;) {
      const int line = now().line;
      switch (now().kind) {
        case TokenKind::kText:
          block.push_back({Written{take().text}, line});
          break;
        case TokenKind::kPrintBegin: {
          take();
          block.push_back({Print{tuple(true)}, line});
          if (now().kind != TokenKind::kPrintEnd) unexpected("}}");
          take();
          break;
        }
        case TokenKind::kBlockBegin: {
          if (std::ranges::count(ends, next().text) > 0 && next().kind == TokenKind::kName) {
            take();
            return block;
          }
          take();
          block.push_back(statement(line));
          break;
        }
        default:
          if (ends.size() > 0) unexpected("{% " + std::string(*ends.begin()) + " %}");
          return block;
      }
    }
  }

  Statement statement(int line) {
    const std::string tag = need_name();
    if (tag == "if") return {if_blocks(), line};
    if (tag == "for") return {for_loop(), line};
    if (tag == "set") return {set(), line};
    if (tag == "macro") return {macro(), line};
    if (tag == "break" || tag == "continue") {
      if (loops_ == 0) {
        fail(ErrorKind::kBadFile, "{}: line {}: {} stands in no loop", where_, line, tag);
      }
      need_block_end();
      if (tag == "break") return {Break{}, line};
      return {Continue{}, line};
    }
    if (tag == "generation") {  // transformers' mark of what the model writes
      need_block_end();
      Group group{block_until({"endgeneration"})};
      take();
      need_block_end();
      return {std::move(group), line};
    }
    unknown("tag", tag, line);
  }

  If if_blocks() {
    If result;
    for (;;) {
      ExpressionPtr test = tuple(true);
      need_block_end();
      Block body = block_until({"elif", "else", "endif"});
      result.branches.emplace_back(std::move(test), std::move(body));
      const std::string tag = take().text;
      if (tag == "elif") continue;
      need_block_end();
      if (tag == "else") {
        result.otherwise = block_until({"endif"});
        take();
        need_block_end();
      }
      return result;
    }
  }

  For for_loop() {
    For loop;
    const bool brackets = take_sign("(");
    do loop.targets.push_back(need_name());
    while (take_sign(","));
    if (brackets) need_sign(")");
    if (!take_name("in")) unexpected("'in'");
    loop.over = tuple(false);
    if (now().name("recursive")) unknown("tag", "for ... recursive", now().line);
    if (take_name("if")) loop.only_if = expression();
    if (now().name("recursive")) unknown("tag", "for ... recursive", now().line);
    need_block_end();
    ++loops_;
    loop.body = block_until({"else", "endfor"});
    --loops_;
    const std::string tag = take().text;
    need_block_end();
    if (tag == "else") {
      loop.otherwise = block_until({"endfor"});
      take();
      need_block_end();
    }
    return loop;
  }

  Set set() {
    Set result;
    do {
      Set::Target target{.name = need_name(), .attribute = {}};
      if (take_sign(".")) target.attribute = need_name();
      result.targets.push_back(std::move(target));
    } while (take_sign(","));
    if (take_sign("=")) {
      result.value = tuple(true);
      need_block_end();
      return result;
    }
    if (now().sign("|")) unknown("tag", "set ... |", now().line);
    need_block_end();
    result.body = block_until({"endset"});
    take();
    need_block_end();
    return result;
  }

  Macro macro() {
    if (loops_ > 0 || in_macro_) unknown("tag", "macro within another block", now().line);
    Macro result{.name = need_name(), .parameters = {}, .body = {}};
    need_sign("(");
    while (!take_sign(")")) {
      Macro::Parameter parameter{.name = need_name(), .otherwise = nullptr};
      if (take_sign("=")) parameter.otherwise = expression();
      result.parameters.push_back(std::move(parameter));
      if (!now().sign(")")) need_sign(",");
    }
    need_block_end();
    in_macro_ = true;
    result.body = block_until({"endmacro"});
    in_macro_ = false;
    take();
    if (now().kind == TokenKind::kName) take();  // the macro's name again
    need_block_end();
    return result;
  }

  // --- expressions, in the order in which they bind ---

  // Several with commas between are a tuple.
  ExpressionPtr tuple(bool may_be_conditional) {
    const int line = now().line;
    const auto part = [&] { return may_be_conditional ? expression() : any_of(); };
    ExpressionPtr first = part();
    if (!now().sign(",")) return first;
    ListOf list{.items = {}, .tuple = true};
    list.items.push_back(std::move(first));
    while (take_sign(",")) {
      const TokenKind kind = now().kind;
      if (kind == TokenKind::kBlockEnd || kind == TokenKind::kPrintEnd) break;
      list.items.push_back(part());
    }
    return make(std::move(list), line);
  }

  ExpressionPtr expression() {
    const Deeper deeper(*this);
    ExpressionPtr value = any_of();
    while (now().name("if")) {
      deeper.more();
      const int line = take().line;
      Conditional choice{.then = std::move(value), .test = any_of(), .otherwise = nullptr};
      if (take_name("else")) choice.otherwise = expression();
      value = make(std::move(choice), line);
    }
    return value;
  }

  ExpressionPtr any_of() {
    return joined_by([this] { return now().name("or"); }, &Parser::all_of);
  }
  ExpressionPtr all_of() {
    return joined_by([this] { return now().name("and"); }, &Parser::negation);
  }
  ExpressionPtr negation() {
    const Deeper deeper(*this);
    if (!now().name("not")) return comparison();
    const int line = take().line;
    return make(Unary{"not", negation()}, line);
  }

  ExpressionPtr comparison() {
    const int line = now().line;
    ExpressionPtr first = sum();
    Compared compared;
    for (;;) {
      std::string sign;
      if (now().kind == TokenKind::kSign) {
        for (const char* each : {"==", "!=", "<", "<=", ">", ">="}) {
          if (now().sign(each)) sign = each;
        }
        if (!sign.empty()) take();
      } else if (take_name("in")) {
        sign = "in";
      } else if (now().name("not") && next().name("in")) {
        take();
        take();
        sign = "not in";
      }
      if (sign.empty()) break;
      compared.rest.emplace_back(std::move(sign), sum());
    }
    if (compared.rest.empty()) return first;
    compared.first = std::move(first);
    return make(std::move(compared), line);
  }

  using Part = ExpressionPtr (Parser::*)();
  template <typename Follows>
  ExpressionPtr joined_by(const Follows& follows, Part part) {
    const Deeper deeper(*this);
    ExpressionPtr left = (this->*part)();
    while (follows()) {
      deeper.more();
      Token sign = take();
      const int line = sign.line;
      ExpressionPtr right = (this->*part)();
      left = make(Binary{std::move(sign.text), std::move(left), std::move(right)}, line);
    }
    return left;
  }
  ExpressionPtr joined_by(std::initializer_list<std::string_view> signs, Part part) {
    return joined_by(
        [this, signs] {
          return now().kind == TokenKind::kSign && std::ranges::count(signs, now().text) > 0;
        },
        part);
  }
  ExpressionPtr sum() { return joined_by({"+", "-"}, &Parser::concatenation); }
  ExpressionPtr concatenation() { return joined_by({"~"}, &Parser::product); }
  ExpressionPtr product() { return joined_by({"*", "/", "//", "%"}, &Parser::power); }
  ExpressionPtr power() { return joined_by({"**"}, &Parser::signed_value); }

  ExpressionPtr signed_value() { return with_sign(true); }
  ExpressionPtr with_sign(bool filters) {
    const Deeper deeper(*this);
    const int line = now().line;
    ExpressionPtr value;
    if (now().sign("-") || now().sign("+")) {
      std::string sign = take().text;
      value = make(Unary{std::move(sign), with_sign(false)}, line);
    } else {
      value = followed(primary());
    }
    return filters ? filtered(std::move(value)) : std::move(value);
  }

  ExpressionPtr primary() {
    const Token token = take();
    switch (token.kind) {
      case TokenKind::kName:
        return named_value(token);
      case TokenKind::kString: {
        std::string text = token.text;
        while (now().kind == TokenKind::kString) text += take().text;
        return make(Literal{std::move(text)}, token.line);
      }
      case TokenKind::kInteger:
        return make(Literal{number<int64_t>(token)}, token.line);
      case TokenKind::kReal:
        return make(Literal{number<double>(token)}, token.line);
      default:
        break;
    }
    if (token.sign("(")) return brackets(token.line);
    if (token.sign("[")) return make(ListOf{items_until("]"), false}, token.line);
    if (token.sign("{")) return dictionary(token.line);
    --at_;
    unexpected("a value");
  }

  ExpressionPtr named_value(const Token& token) {
    if (token.text == "true" || token.text == "True") return make(Literal{true}, token.line);
    if (token.text == "false" || token.text == "False") return make(Literal{false}, token.line);
    if (token.text == "none" || token.text == "None") return make(Literal{Value()}, token.line);
    return make(Name{token.text}, token.line);
  }

  template <typename Number>
  Number number(const Token& token) const {
    Number value = 0;
    const char* const end = token.text.data() + token.text.size();
    if (std::from_chars(token.text.data(), end, value).ptr != end) {
      fail(ErrorKind::kUnsupported, "{}: line {}: {} is too large", where_, token.line, token.text);
    }
    return value;
  }

  std::vector<ExpressionPtr> items_until(std::string_view end) {
    std::vector<ExpressionPtr> items;
    while (!take_sign(end)) {
      items.push_back(expression());
      if (!now().sign(end)) need_sign(",");
    }
    return items;
  }

  ExpressionPtr brackets(int line) {
    if (take_sign(")")) return make(ListOf{{}, true}, line);
    ExpressionPtr first = expression();
    if (take_sign(")")) return first;
    need_sign(",");
    ListOf list{.items = {}, .tuple = true};
    list.items.push_back(std::move(first));
    for (ExpressionPtr& item : items_until(")")) list.items.push_back(std::move(item));
    return make(std::move(list), line);
  }

  ExpressionPtr dictionary(int line) {
    DictOf dict;
    while (!take_sign("}")) {
      ExpressionPtr key = expression();
      need_sign(":");
      dict.items.emplace_back(std::move(key), expression());
      if (!now().sign("}")) need_sign(",");
    }
    return make(std::move(dict), line);
  }

  // value.name, value[...], value(...)
  ExpressionPtr followed(ExpressionPtr value) {
    const Deeper deeper(*this);
    for (;; deeper.more()) {
      const int line = now().line;
      if (take_sign(".")) {
        if (now().kind == TokenKind::kInteger) {
          ExpressionPtr index = make(Literal{number<int64_t>(take())}, line);
          value = make(Subscript{std::move(value), std::move(index)}, line);
        } else {
          value = make(Attribute{std::move(value), need_name()}, line);
        }
      } else if (take_sign("[")) {
        value = subscript(std::move(value), line);
      } else if (take_sign("(")) {
        value = make(Call{std::move(value), arguments()}, line);
      } else {
        return value;
      }
    }
  }

  ExpressionPtr subscript(ExpressionPtr of, int line) {
    ExpressionPtr parts[3];
    int colons = 0;
    while (!now().sign("]")) {
      if (take_sign(":")) {
        if (++colons > 2) unexpected("']'");
      } else {
        if (parts[colons]) unexpected("']'");
        parts[colons] = expression();
      }
    }
    take();
    if (colons > 0) {
      return make(
          Slice{std::move(of), std::move(parts[0]), std::move(parts[1]), std::move(parts[2])},
          line);
    }
    if (!parts[0]) unexpected("a value");
    return make(Subscript{std::move(of), std::move(parts[0])}, line);
  }

  Arguments arguments() {
    Arguments result;
    while (!take_sign(")")) {
      if (now().sign("*") || now().sign("**")) unknown("sign", now().text, now().line);
      if (now().kind == TokenKind::kName && next().sign("=")) {
        std::string name = need_name();
        take();
        result.named.emplace_back(std::move(name), expression());
      } else {
        if (!result.named.empty()) unexpected("a name and '='");
        result.plain.push_back(expression());
      }
      if (!now().sign(")")) need_sign(",");
    }
    return result;
  }

  // value | filter, value is test
  ExpressionPtr filtered(ExpressionPtr value) {
    const Deeper deeper(*this);
    for (;; deeper.more()) {
      const int line = now().line;
      if (take_sign("|")) {
        Filtered filter{.of = std::move(value), .name = need_name(), .arguments = {}};
        if (take_sign("(")) filter.arguments = arguments();
        value = make(std::move(filter), line);
      } else if (take_name("is")) {
        value = test(std::move(value), line);
      } else if (take_sign("(")) {
        value = make(Call{std::move(value), arguments()}, line);
      } else {
        return value;
      }
    }
  }

  ExpressionPtr test(ExpressionPtr of, int line) {
    Tested result{.of = std::move(of), .name = {}, .arguments = {}};
    result.negated = take_name("not");
    result.name = need_name();
    const Token& token = now();
    const bool word = token.kind == TokenKind::kName && !token.name("else") && !token.name("or") &&
                      !token.name("and") && !token.name("if") && !token.name("in") &&
                      !token.name("not");
    const bool value = token.kind == TokenKind::kString || token.kind == TokenKind::kInteger ||
                       token.kind == TokenKind::kReal || token.sign("[") || token.sign("{");
    if (take_sign("(")) {
      result.arguments = arguments();
    } else if (word && token.text == "is") {
      unexpected("one test after another with 'and' between");
    } else if (word || value) {
      result.arguments.plain.push_back(followed(primary()));
    }
    return make(std::move(result), line);
  }

  std::vector<Token> tokens_;
  std::string_view where_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
  bool in_macro_ = false;
};

}  // namespace

Block parse(std::string_view source, std::string_view where) {
  return Parser(tokens_of(source, where), where).whole();
}

}  // namespace fovea::jinja
