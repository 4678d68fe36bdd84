// The comparison of methods as a table, as JSON and as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/base/version.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/explain/compare.h"
#include "fovea/cli/map_out.h"

namespace fovea {
namespace {

constexpr int kCell = 9;

// As long as the longest name needs, where the columns leave so much.
int name_width(const Terminal& terminal) {
  return std::clamp(terminal.width - kCell * static_cast<int>(kGradeKinds), 12, 21);
}

// What rounds to 0 has no sign.
std::string rounded(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == text.npos ? fmt::format("{:.{}f}", 0.0, decimals) : text;
}

// Without the zero before the point: ".45", "-.03", "1.00".
std::string without_zero(double value, int decimals) {
  std::string text = rounded(value, decimals);
  if (text.starts_with("0.")) return text.substr(1);
  if (text.starts_with("-0.")) return "-" + text.substr(2);
  return text;
}

char verdict_mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return '+';
    case Verdict::kWorse:
      return '-';
    case Verdict::kStays:
      return '!';
    default:
      return ' ';
  }
}

// The number ends in its mark, so that numbers stand below each other.
std::string value_cell(double value, Verdict verdict, const Terminal& terminal) {
  if (!std::isfinite(value)) return padded_left("\u2013 ", kCell);
  const std::string text = padded_left(rounded(value, 2), kCell - 1) + verdict_mark(verdict);
  return verdict == Verdict::kBetter ? terminal.bold(text) : text;
}

// One decimal where two would run into the next column.
std::string range_cell(const Interval& interval) {
  if (!std::isfinite(interval.low)) return padded_left("", kCell);
  const auto text = [&](int decimals) {
    return without_zero(interval.low, decimals) + "\u2013" + without_zero(interval.high, decimals) +
           " ";
  };
  return padded_left(display_width(text(2)) <= kCell ? text(2) : text(1), kCell);
}

// Columns of the table that are side by side.
struct ColumnRange {
  size_t begin = 0, end = kGradeKinds;
};

std::string method_rows(const ComparedMethod& method, bool many, ColumnRange columns,
                        const Terminal& terminal) {
  std::string values = padded_right(shorten(method.name, name_width(terminal) - 1),
                                    name_width(terminal)),
              ranges = padded_right("", name_width(terminal));
  for (size_t k = columns.begin; k < columns.end; ++k) {
    values += value_cell(method.mean[k].value.mean, method.mean[k].verdict, terminal);
    ranges += range_cell(method.mean[k].value);
  }
  return values + "\n" + (many ? terminal.dim(ranges) + "\n" : "");
}

std::string random_rows(const MethodComparison& comparison, ColumnRange columns,
                        const Terminal& terminal) {
  std::string values = padded_right("random", name_width(terminal)),
              ranges = padded_right("", name_width(terminal));
  for (size_t k = columns.begin; k < columns.end; ++k) {
    values += value_cell(comparison.random[k].mean, Verdict::kNone, terminal);
    ranges += range_cell(comparison.random[k]);
  }
  return values + "\n" + terminal.dim(ranges) + "\n";
}

std::string heading(ColumnRange columns, const Terminal& terminal) {
  std::string names = padded_right("", name_width(terminal)),
              wishes = padded_right("", name_width(terminal));
  for (size_t k = columns.begin; k < columns.end; ++k) {
    const GradeInfo& info = grade_infos()[k];
    names += padded_left(std::string(info.column) + " ", kCell);
    wishes += padded_left(info.wish == Wish::kLow    ? "low "
                          : info.wish == Wish::kHigh ? "high "
                                                     : "near 0 ",
                          kCell);
  }
  return terminal.bold(names) + "\n" + terminal.dim(wishes) + "\n";
}

// As many columns as fit beside the names, the others below.
std::string table_text(const MethodComparison& comparison, const Terminal& terminal) {
  const auto across =
      static_cast<size_t>(std::max(1, (terminal.width - name_width(terminal)) / kCell));
  std::string text;
  for (size_t begin = 0; begin < kGradeKinds; begin += across) {
    const ColumnRange columns{begin, std::min(begin + across, kGradeKinds)};
    text += heading(columns, terminal);
    for (const ComparedMethod& method : comparison.methods) {
      if (method.cards.empty()) continue;
      text += method_rows(method, comparison.inputs > 1, columns, terminal);
    }
    text += random_rows(comparison, columns, terminal) + "\n";
  }
  return text;
}

std::string comparison_legend(const MethodComparison& comparison) {
  const bool many = comparison.inputs > 1;
  std::string text =
      "+ better than random numbers, - worse, none: no better; ! |rho| says that the map hardly "
      "notices random weights";
  text += fmt::format(
      " \u00b7 {} \u00b7 {}", comparison.removal,
      many ? fmt::format("{} inputs, {} random orders each; below each mean its 95 % interval over "
                         "inputs",
                         comparison.inputs, comparison.options.orders)
           : fmt::format("{} random orders, below their mean 95 % of them",
                         comparison.options.orders));
  return text + " \u00b7 docs/faithfulness.md explains the columns";
}

void set_interval(Json& json, const std::string& prefix, const Interval& interval) {
  json.set(prefix + "low", interval.low);
  json.set(prefix + "high", interval.high);
}

Json grades_json(const ComparedMethod& method) {
  Json grades = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const MeanGrade& grade = method.mean[k];
    Json one = Json::object();
    one.set("value", grade.value.mean);
    set_interval(one, "", grade.value);
    one.set("random", grade.random.mean);
    set_interval(one, "random_", grade.random);
    one.set("inputs", grade.inputs);
    one.set("verdict", to_string(grade.verdict));
    if (!grade.missing.empty()) one.set("missing", grade.missing);
    grades.set(std::string(grade_infos()[k].name), std::move(one));
  }
  return grades;
}

std::string csv_line(const std::string& method, size_t kind, const Interval& value,
                     std::string_view verdict, int64_t inputs) {
  const auto number = [](double each) {
    return std::isfinite(each) ? fmt::format("{:.9g}", each) : "";
  };
  return fmt::format("{},{},{},{},{},{},{}\n", method, grade_infos()[kind].name, number(value.mean),
                     number(value.low), number(value.high), verdict, inputs);
}

}  // namespace

std::string comparison_text(const MethodComparison& comparison, const Terminal& terminal) {
  const std::string model = std::filesystem::path(comparison.model).filename().string();
  const bool many = comparison.inputs > 1;
  const std::string title =
      fmt::format("{} \u00b7 methods compared \u00b7 {}", model,
                  many ? fmt::format("{} inputs", comparison.inputs) : comparison.answer);
  std::string text = terminal.bold(wrapped(printable(title), terminal.width)) + "\n\n";
  text += table_text(comparison, terminal);
  text += terminal.dim(wrapped(comparison_legend(comparison), terminal.width)) + "\n";
  for (const ComparedMethod& method : comparison.methods) {
    if (method.reason.empty()) continue;
    const auto graded = static_cast<int64_t>(method.cards.size());
    const std::string where =
        graded > 0
            ? fmt::format(" on {} of {} inputs", comparison.inputs - graded, comparison.inputs)
            : "";
    if (graded == comparison.inputs) continue;
    const std::string reason = where.empty() && method.reason.starts_with(method.name + " ")
                                   ? method.reason  // which says it all
                                   : fmt::format("not {}{}: {}", method.name, where, method.reason);
    text += "\n" + wrapped(printable(reason), terminal.width);
  }
  return without_trailing_spaces(text) + (text.ends_with('\n') ? "" : "\n");
}

Json comparison_json(const MethodComparison& comparison) {
  Json json = Json::object();
  json.set("version", version());
  json.set("model", comparison.model);
  json.set("model_hash", comparison.model_hash);
  json.set("input", comparison.input);
  if (!comparison.answer.empty()) json.set("answer", comparison.answer);
  json.set("inputs", comparison.inputs);
  json.set("left_out", comparison.left_out);
  if (comparison.left_out > 0) json.set("first_reason", comparison.first_reason);
  json.set("removal", to_string(comparison.options.removal));
  json.set("steps", comparison.options.steps);
  json.set("orders", comparison.options.orders);
  json.set("seed", static_cast<int64_t>(comparison.options.seed));
  Json methods = Json::array();
  for (const ComparedMethod& method : comparison.methods) {
    Json one = Json::object();
    one.set("name", method.name);
    one.set("inputs", method.cards.size());
    if (!method.reason.empty()) one.set("reason", method.reason);
    if (!method.cards.empty()) one.set("grades", grades_json(method));
    methods.push_back(std::move(one));
  }
  json.set("methods", std::move(methods));
  Json random = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    Json one = Json::object();
    one.set("value", comparison.random[k].mean);
    set_interval(one, "", comparison.random[k]);
    random.set(std::string(grade_infos()[k].name), std::move(one));
  }
  json.set("random", std::move(random));
  return json;
}

std::string comparison_csv(const MethodComparison& comparison) {
  std::string text = "method,grade,value,low,high,verdict,inputs\n";
  for (const ComparedMethod& method : comparison.methods) {
    for (size_t k = 0; k < kGradeKinds && !method.cards.empty(); ++k) {
      const MeanGrade& grade = method.mean[k];
      text += csv_line(method.name, k, grade.value, to_string(grade.verdict), grade.inputs);
    }
  }
  for (size_t k = 0; k < kGradeKinds; ++k) {
    text += csv_line("random", k, comparison.random[k], "-", comparison.inputs);
  }
  return text;
}

}  // namespace fovea
