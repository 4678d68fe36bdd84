#include "fovea/cli/method_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/views.h"

namespace fovea {
namespace {

bool has_parameter(const Method& method, std::string_view name) {
  return std::ranges::count(method.parameters, name, &MethodParameter::name) > 0;
}

}  // namespace

std::vector<Option> method_parameter_options() {
  struct Merged {
    const MethodParameter* parameter;
    std::vector<std::string> methods;
    std::vector<std::string> choices;  // of any of them
  };
  const std::vector<Method> methods = all_methods();
  std::vector<Merged> merged;
  for (const Method& method : methods) {
    for (const MethodParameter& parameter : method.parameters) {
      const auto found = std::ranges::find_if(
          merged, [&](const Merged& one) { return one.parameter->name == parameter.name; });
      if (found == merged.end()) {
        merged.push_back({&parameter, {method.name}, parameter.choices});
        continue;
      }
      found->methods.push_back(method.name);
      for (const std::string& choice : parameter.choices) {
        if (std::ranges::count(found->choices, choice) == 0) found->choices.push_back(choice);
      }
    }
  }
  std::vector<Option> options;
  for (const Merged& one : merged) {
    const bool number = one.parameter->choices.empty();
    options.push_back(Option::text(
        one.parameter->name, number ? "N" : fmt::format("{}", fmt::join(one.choices, "|")),
        fmt::format("of {}: {} (default: {})", fmt::join(one.methods, " and "), one.parameter->help,
                    one.parameter->otherwise)));
  }
  return options;
}

std::vector<std::string> method_names() {
  return names_of(all_methods());
}

Method method_named(std::string_view option, std::string_view name) {
  const std::vector<Method> all = all_methods();
  const auto found = std::ranges::find(all, name, &Method::name);
  if (found != all.end()) return *found;
  const std::vector<std::string> names = names_of(all);
  fail(ErrorKind::kInvalidArgument, "{} is '{}' but must be one of {}{}", option, name,
       fmt::join(names, ", "), did_you_mean(name, names));
}

std::vector<Method> chosen_methods(const Args& args) {
  if (!args.has("method")) return all_methods();
  std::vector<Method> chosen;
  std::string_view rest = args["method"];
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    Method method = method_named("--method", trimmed(rest.substr(0, comma)));
    if (std::ranges::count(chosen, method.name, &Method::name) == 0) {
      chosen.push_back(std::move(method));
    }
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return chosen;
}

// An embedding is nearest to itself whatever the input, so that its similarity has no gradient.
Method chosen_method(const Args& args, const ModelFacts& facts) {
  if (args.has("method")) return chosen_methods(args).front();
  const bool embeds = facts.head == HeadKind::kNone || facts.head == HeadKind::kSimilarity;
  return method_named(embeds && !args.has("against") && !args.has("class") ? "rollout"
                                                                           : "relevancy");
}

GivenParameters parameters_for(const Args& args, const Method& method) {
  GivenParameters given;
  for (const Option& option : method_parameter_options()) {
    if (!args.has(option.name)) continue;
    if (args.flag("compare") && !has_parameter(method, option.name)) continue;
    given[option.name] = args[option.name];
  }
  check_parameters(method, given);
  return given;
}

void check_known_parameters(const Args& args, const std::vector<Method>& methods) {
  for (const Option& option : method_parameter_options()) {
    const auto has = [&](const Method& method) { return has_parameter(method, option.name); };
    if (!args.has(option.name) || std::ranges::any_of(methods, has)) continue;
    std::vector<Method> able = all_methods();
    std::erase_if(able, [&](const Method& method) { return !has(method); });
    fail(ErrorKind::kInvalidArgument, "--{} is of {} but {} compared; leave it out, or add {}",
         option.name, fmt::join(names_of(able), " and "),
         fmt::format("{} {}", fmt::join(names_of(methods), ", "),
                     methods.size() == 1 ? "is" : "are"),
         able.front().name);
  }
}

}  // namespace fovea
