// The steps of a model as text, from the scores on: weights, their sum, what the head adds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/cli/steps/model_writer.h"

namespace fovea {
namespace {

// "3e-8": a bound, so it is rounded up.
std::string bound_text(double value) {
  if (value <= 0) return "0";
  const double exponent = std::floor(std::log10(value));
  double digit = std::ceil(value / std::pow(10, exponent));
  if (digit > 9) return fmt::format("1e{:.0f}", exponent + 1);
  return fmt::format("{:.0f}e{:.0f}", digit, exponent);
}

}  // namespace

int64_t ModelStepsWriter::seen_among(const std::vector<int64_t>& tokens) const {
  return std::ranges::count_if(tokens, [&](int64_t j) { return steps_.allowed(j); });
}

int64_t ModelStepsWriter::seen_tokens() const {
  return std::ranges::count_if(steps_.masked, [](double score) { return std::isfinite(score); });
}

void ModelStepsWriter::score_stages() {
  writer_.stage(3, "Scores", is_cosine() ? "s(j) = q · k(j) / |q| |k(j)|" : "s(j) = q · k(j)",
                "How well the query fits each key: the sum of the products.");
  writer_.stage(4, "Scaled", scaled_formula(view_), scaled_sentence(view_));
  writer_.stage(5, "Masked", mask_formula(view_), mask_sentence(view_));
  std::string sentence = "Shares of one whole: none negative, together 1.";
  if (!view_.rule.sink_logit.empty() && !steps_.similarity) {
    sentence = fmt::format("Shares of one whole; a sink of score {:.3f} takes the rest.",
                           view_.rule.sink_logit[at(steps_.head)]);
  }
  writer_.stage(6, "Softmax", "a(j) = exp(s(j)) / Σ exp(s)", sentence);
}

void ModelStepsWriter::scores() {
  struct Column {
    const char* name;
    const std::vector<double>* values;
  };
  std::vector<Column> columns{{"score", &steps_.scores}};
  if (steps_.scale != 1) columns.push_back({"scaled", &steps_.scaled});
  if (!steps_.bias.empty()) columns.push_back({"bias", &steps_.bias});
  if (!steps_.capped.empty()) columns.push_back({"capped", &steps_.capped});
  Grid grid{.heading = {""}, .total = true};
  std::vector<NumberFormat> formats;
  for (const Column& column : columns) {
    grid.heading.emplace_back(column.name);
    formats.push_back(NumberFormat::for_values(*column.values));
  }
  if (steps_.similarity) grid.heading.emplace_back("model's");
  grid.heading.emplace_back("weight");
  const NumberFormat weight = NumberFormat::for_weights();
  double rest = steps_.sum, model_rest = 0;
  for (const double value : steps_.captured) model_rest += value;
  const double model_sum = model_rest;
  for (const int64_t j : tokens_) {
    GridRow row{.label = label(j), .marked = j == steps_.row};
    for (size_t c = 0; c < columns.size(); ++c) {
      row.cells.push_back(formats[c]((*columns[c].values)[at(j)]));
    }
    if (steps_.similarity) row.cells.push_back(weight(steps_.captured[at(j)]));
    row.cells.push_back(steps_.allowed(j) ? weight(steps_.weights[at(j)]) : "·");
    if (!steps_.allowed(j)) row.note = heading("hidden");
    rest -= steps_.weights[at(j)];
    model_rest -= steps_.captured[at(j)];
    grid.rows.push_back(std::move(row));
  }
  const auto total_row = [&](std::string name, double model, double own) {
    GridRow row{.label = std::move(name), .cells = std::vector<std::string>(columns.size())};
    if (steps_.similarity) row.cells.push_back(weight(model));
    row.cells.push_back(weight(own));
    return row;
  };
  const int64_t seen = seen_tokens() - seen_among(tokens_);
  if (seen > 0) grid.rows.push_back(total_row(others(seen), model_rest, rest));
  const int64_t hidden = steps_.shape.cols - static_cast<int64_t>(tokens_.size()) - seen;
  if (hidden > 0) {
    grid.rows.push_back(total_row(fmt::format("{} hidden", hidden), 0, 0));
    grid.rows.back().cells.back() = "·";
  }
  grid.rows.push_back(total_row("sum", model_sum, steps_.sum));
  const int room = std::clamp(writer_.columns() - grid_width(grid) - 2, 6, kWidestBar);
  const double largest = steps_.weights[at(strongest_token(steps_))];
  for (size_t r = 0; r < tokens_.size(); ++r) {
    if (largest <= 0 || !steps_.allowed(tokens_[r])) continue;
    grid.rows[r].note = share_bar(steps_.weights[at(tokens_[r])] / largest, room, terminal_);
  }
  writer_.blocks({draw_grid(grid, terminal_)});
  writer_.caption(view_.caption());
  if (view_.over_picture()) {
    writer_.line("");
    writer_.line(model_steps_picture_text(view_, terminal_));
  }
}

void ModelStepsWriter::weighted_sum() {
  writer_.stage(7, "Weighted sum", "z = Σ a(j) v(j)",
                "Each token gives its value times its weight: what this head brings to " +
                    view_.token_name() + ".");
  writer_.blocks({vector_line("z", steps_.z)});
  const std::vector<int64_t> parts = largest_entries(steps_.z, number_columns());
  std::vector<int64_t> tokens = shown_tokens(steps_, kMostTerms);
  std::erase_if(tokens, [&](int64_t j) { return !steps_.allowed(j); });
  Grid grid{.heading = {"", "a"}, .total = true};
  for (const int64_t d : parts) grid.heading.push_back(fmt::format("a·v {}", d));
  const NumberFormat weight = NumberFormat::for_weights();
  std::vector<double> rest;
  for (const int64_t d : parts) rest.push_back(steps_.z[at(d)]);
  const NumberFormat format = NumberFormat::for_values(rest);
  double weight_rest = steps_.sum;
  for (const int64_t j : tokens) {
    GridRow row{.label = label(j), .marked = j == steps_.row};
    row.cells.push_back(weight(steps_.weights[at(j)]));
    for (size_t c = 0; c < parts.size(); ++c) {
      const double term = steps_.weights[at(j)] * steps_.v(j, parts[c]);
      rest[c] -= term;
      row.cells.push_back(format(term));
    }
    weight_rest -= steps_.weights[at(j)];
    grid.rows.push_back(std::move(row));
  }
  const int64_t left_out = seen_tokens() - seen_among(tokens);
  if (left_out > 0) {
    GridRow row{.label = others(left_out), .cells = {weight(weight_rest)}};
    for (const double value : rest) row.cells.push_back(format(value));
    grid.rows.push_back(std::move(row));
  }
  GridRow sum{.label = "z", .cells = {weight(steps_.sum)}};
  for (const int64_t d : parts) sum.cells.push_back(format(steps_.z[at(d)]));
  grid.rows.push_back(std::move(sum));
  writer_.blocks({draw_grid(grid, terminal_)});
  if (static_cast<int64_t>(parts.size()) < steps_.shape.value_dim) {
    writer_.note(fmt::format("Shown: the {} of {} numbers that are largest in z.", parts.size(),
                             steps_.shape.value_dim));
  }
}

void ModelStepsWriter::output() {
  writer_.stage(8, "Output", steps_.output_bias.empty() ? "y = z Wo" : "y = z Wo + bo",
                fmt::format("Wo turns z into what this head adds to the {} numbers of {}, "
                            "beside what the other heads add.",
                            steps_.width(), view_.token_name()));
  writer_.blocks({vector_line("z Wo", steps_.head_output)});
  const std::vector<int64_t> parts = largest_entries(steps_.head_output, number_columns());
  Grid grid{.heading = {"", "length"}, .total = true};
  std::vector<double> shown;
  for (const int64_t d : parts) {
    grid.heading.push_back(fmt::format("y {}", d));
    shown.push_back(steps_.output[at(d)]);
    shown.push_back(steps_.head_output[at(d)]);
  }
  const NumberFormat format = NumberFormat::for_values(shown);
  const auto add = [&](std::string name, std::span<const double> vector) {
    GridRow row{.label = std::move(name), .cells = {fmt::format("{:.3f}", length_of(vector))}};
    for (const int64_t d : parts) row.cells.push_back(format(vector[at(d)]));
    grid.rows.push_back(std::move(row));
  };
  add(fmt::format("head {}", steps_.head), steps_.head_output);
  if (steps_.shape.heads > 1) {
    std::vector<double> rest = steps_.output;
    for (size_t i = 0; i < rest.size(); ++i) {
      rest[i] -= steps_.head_output[i];
      if (!steps_.output_bias.empty()) rest[i] -= steps_.output_bias[i];
    }
    add(fmt::format("{} other head{}", steps_.shape.heads - 1, steps_.shape.heads == 2 ? "" : "s"),
        rest);
  }
  if (!steps_.output_bias.empty()) add("bias bo", steps_.output_bias);
  add("y", steps_.output);
  writer_.blocks({draw_grid(grid, terminal_)});
  writer_.note(fmt::format("Shown: the {} of {} numbers where this head adds most.", parts.size(),
                           steps_.width()));
}

void ModelStepsWriter::checks() {
  if (steps_.similarity) {
    writer_.line("");
    writer_.note(
        fmt::format("The model's own q and k, compared in another way: {}.", kNotTheModel));
    return;
  }
  std::string text = fmt::format("Checked: equal to the captured map within {}.",
                                 bound_text(steps_.map_difference));
  if (steps_.output_difference) {
    text += fmt::format(" y is what the layer's own heads give, within {}.",
                        bound_text(*steps_.output_difference));
  }
  writer_.line("");
  writer_.note(text);
}

}  // namespace fovea
