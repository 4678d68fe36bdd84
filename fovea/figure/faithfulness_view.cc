#include "fovea/figure/faithfulness_view.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace fovea {
namespace {

// "probability of class cat".
std::string watched_name(const CardView& view) {
  return view.similarity ? view.answer + ", cosine" : fmt::format("probability of {}", view.answer);
}

std::string_view positions_name(const Axis& axis) {
  if (axis.grid_rows == 0) return "tokens";
  return axis.name == "patches" ? "patches" : "positions";
}

CurvePanel curve_panel(const RemovalCurve& curve, const CurveBand& band, const CardLine& line) {
  CurvePanel panel{.shares = curve.shares, .values = curve.values};
  for (const Interval& each : band.values) {
    panel.mean.push_back(each.mean);
    panel.low.push_back(each.low);
    panel.high.push_back(each.high);
  }
  panel.detail =
      fmt::format("area {:.3f}, random {:.3f} ({:.3f} to {:.3f}): {}", line.value, line.random.mean,
                  line.random.low, line.random.high, to_string(line.verdict));
  return panel;
}

TableRow card_row(const GradeInfo& info, const CardLine& line) {
  TableRow row{.label = std::string(info.name)};
  if (!line.missing.empty()) {
    row.cells = {{.text = "\u2013", .tone = TableTone::kMuted}};
    return row;
  }
  const bool good = line.verdict == Verdict::kBetter || line.verdict == Verdict::kCollapses;
  row.cells = {{.text = fmt::format("{:.3f}", line.value)},
               {.text = fmt::format("{:.3f}", line.random.mean)},
               {.text = fmt::format("{:.3f} to {:.3f}", line.random.low, line.random.high)},
               {.text = std::string(to_string(line.verdict)),
                .tone = good ? TableTone::kStrong : TableTone::kMuted},
               {.text = std::string(good_text(info.wish)), .tone = TableTone::kMuted}};
  return row;
}

// A value that rounds to 0 has no sign.
std::string rounded(double value) {
  const std::string text = fmt::format("{:.2f}", value);
  return text == "-0.00" ? "0.00" : text;
}

// Without the zero before the point: ".45", "-.03", "1.00".
std::string without_zero(double value) {
  std::string text = rounded(value);
  if (text.starts_with("0.")) return text.substr(1);
  if (text.starts_with("-0.")) return "-" + text.substr(2);
  return text;
}

std::string verdict_mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "+";
    case Verdict::kWorse:
      return "-";
    case Verdict::kStays:
      return "!";
    default:
      return "";
  }
}

TableCell compared_cell(const Interval& value, Verdict verdict, bool has_range) {
  if (!std::isfinite(value.mean)) return {.text = "\u2013", .tone = TableTone::kMuted};
  TableCell cell{.text = rounded(value.mean),
                 .mark = verdict_mark(verdict),
                 .tone = verdict == Verdict::kBetter ? TableTone::kStrong : TableTone::kPlain};
  if (has_range && std::isfinite(value.low)) {
    cell.range = without_zero(value.low) + "\u2013" + without_zero(value.high);
  }
  return cell;
}

std::string comparison_legend(const MethodComparison& comparison) {
  return fmt::format(
      "+ better than random numbers, - worse, none: no better; ! |rho| says that the map hardly "
      "notices random weights \u00b7 {} \u00b7 {} \u00b7 docs/faithfulness.md explains the columns",
      comparison.removal,
      comparison.inputs > 1
          ? fmt::format("{} inputs, {} random orders each; below each mean its 95 % interval over "
                        "inputs",
                        comparison.inputs, comparison.options.orders)
          : fmt::format("{} random orders, below their mean 95 % of them",
                        comparison.options.orders));
}

// Why a method was not graded on all inputs; empty: it was.
std::string left_out_text(const ComparedMethod& method, int64_t inputs) {
  const auto graded = static_cast<int64_t>(method.cards.size());
  if (method.reason.empty() || graded == inputs) return "";
  const std::string where =
      graded > 0 ? fmt::format(" on {} of {} inputs", inputs - graded, inputs) : "";
  return where.empty() && method.reason.starts_with(method.name + " ")
             ? method.reason  // which says it all
             : fmt::format("not {}{}: {}", method.name, where, method.reason);
}

}  // namespace

std::string removal_text(Removal removal, const Axis& axis) {
  if (removal == Removal::kHide) return "hidden from attention";
  return axis.grid_rows > 0 ? "mean colour in their place" : "mask token in their place";
}

std::string_view good_text(Wish wish) {
  return wish == Wish::kLow ? "low" : wish == Wish::kHigh ? "high" : "near 0";
}

std::string card_facts(const CardView& view) {
  const FaithfulnessCard& card = view.card;
  return fmt::format(
      "{}: {:.3f}, without any of the {} {} {:.3f} \u00b7 {}, special tokens kept \u00b7 random: "
      "mean and "
      "95 % of {} random orders \u00b7 {} runs of the model",
      watched_name(view), card.clean, card.positions, positions_name(view.axis), card.empty,
      removal_text(card.options.removal, view.axis), card.options.orders, card.runs);
}

CurvesFigure card_figure(const CardView& view) {
  const FaithfulnessCard& card = view.card;
  const std::string_view positions = positions_name(view.axis);
  CurvesFigure figure;
  figure.text.title = fmt::format("{} \u00b7 faithfulness of {}", view.model, view.method);
  figure.text.caption = card_facts(view);
  CurvePanel deletion = curve_panel(card.deletion, card.random_deletion, card.lines[0]);
  deletion.title = "deletion: low is good";
  deletion.way_name = fmt::format("{} taken away, the most important first", positions);
  CurvePanel insertion = curve_panel(card.insertion, card.random_insertion, card.lines[1]);
  insertion.title = "insertion: high is good";
  insertion.way_name = fmt::format("{} shown, the most important first", positions);
  figure.panels = {std::move(deletion), std::move(insertion)};
  figure.value_name = watched_name(view);
  figure.curve_name = view.method;
  figure.mean_name = fmt::format("mean of {} random orders", card.options.orders);
  figure.band_name = "95 % of them";
  return figure;
}

TableFigure card_table(const CardView& view) {
  TableFigure table{.label_name = "faithfulness",
                    .columns = {{.name = "value"},
                                {.name = "random"},
                                {.name = "95 % of random", .words = true},
                                {.name = "verdict", .words = true},
                                {.name = "good", .words = true}}};
  table.text.caption = card_facts(view);
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const GradeInfo& info = grade_infos()[k];
    const CardLine& line = view.card.lines[k];
    table.rows.push_back(card_row(info, line));
    if (!line.missing.empty()) {
      table.notes.push_back(fmt::format("no {}: {}", info.name, line.missing));
    }
  }
  if (view.card.cascade.size() > 1) {
    for (const CascadeStep& step : view.card.cascade) {
      table.rows.push_back(
          {.label = "random " + step.weights,
           .cells = {{.text = fmt::format("{:.3f}", step.rho), .tone = TableTone::kMuted}}});
    }
  }
  return table;
}

TableFigure comparison_table(const MethodComparison& comparison) {
  const bool many = comparison.inputs > 1;
  TableFigure table{.label_name = "method"};
  table.text.title =
      fmt::format("{} \u00b7 methods compared \u00b7 {}",
                  std::filesystem::path(comparison.model).filename().string(),
                  many ? fmt::format("{} inputs", comparison.inputs) : comparison.answer);
  table.text.caption = comparison_legend(comparison);
  for (const GradeInfo& info : grade_infos()) {
    table.columns.push_back(
        {.name = std::string(info.column), .detail = std::string(good_text(info.wish))});
  }
  for (const ComparedMethod& method : comparison.methods) {
    const std::string reason = left_out_text(method, comparison.inputs);
    if (!reason.empty()) table.notes.push_back(reason);
    if (method.cards.empty()) continue;
    TableRow row{.label = method.name};
    for (const MeanGrade& grade : method.mean) {
      row.cells.push_back(compared_cell(grade.value, grade.verdict, many));
    }
    table.rows.push_back(std::move(row));
  }
  TableRow random{.label = "random", .total = true};
  for (const Interval& each : comparison.random) {
    random.cells.push_back(compared_cell(each, Verdict::kNone, /*has_range=*/true));
  }
  table.rows.push_back(std::move(random));
  return table;
}

}  // namespace fovea
