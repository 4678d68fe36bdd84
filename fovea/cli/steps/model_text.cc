// The steps of a model as text for a terminal.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/steps/cells.h"
#include "fovea/cli/steps/model.h"
#include "fovea/cli/steps/writer.h"
#include "fovea/render/caption.h"
#include "fovea/render/words.h"

namespace fovea {
namespace {

constexpr int64_t kMostTokens = 12;  // of the keys, scores and weights
constexpr int64_t kMostTerms = 6;    // of a sum that is told term by term
constexpr int kLabelColumns = 14;
constexpr int kMostCells = 64;  // of a strip
constexpr int kWidestBar = 28;

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

std::string label_of(const ModelStepsView& view, int64_t token) {
  return shorten(printable(plain_label(view.cols, token)), kLabelColumns);
}

std::string others(int64_t count) {
  return fmt::format("{} other{}", count, count == 1 ? "" : "s");
}

// "3e-8": a bound, so it is rounded up.
std::string bound_text(double value) {
  if (value <= 0) return "0";
  const double exponent = std::floor(std::log10(value));
  double digit = std::ceil(value / std::pow(10, exponent));
  if (digit > 9) return fmt::format("1e{:.0f}", exponent + 1);
  return fmt::format("{:.0f}e{:.0f}", digit, exponent);
}

class ModelStepsWriter {
 public:
  ModelStepsWriter(const ModelStepsView& view, const Terminal& terminal)
      : view_(view),
        steps_(view.steps),
        terminal_(terminal),
        writer_(terminal),
        tokens_(shown_tokens(view.steps, kMostTokens)) {}

  std::string text() {
    header();
    vectors();
    products();
    score_stages();
    scores();
    weighted_sum();
    if (!steps_.output.empty()) output();
    checks();
    return writer_.take();
  }

 private:
  size_t at(int64_t index) const { return static_cast<size_t>(index); }
  std::string label(int64_t token) const { return label_of(view_, token); }
  int64_t seen_among(const std::vector<int64_t>& tokens) const {
    return std::ranges::count_if(tokens, [&](int64_t j) { return steps_.allowed(j); });
  }
  int64_t seen_tokens() const {
    return std::ranges::count_if(steps_.masked, [](double score) { return std::isfinite(score); });
  }
  int64_t left_out_of(size_t shown, int64_t all) const { return all - static_cast<int64_t>(shown); }

  void header() {
    writer_.title(title_of(view_.run, steps_.site.kind,
                           fmt::format("layer {}, head {}", steps_.site.layer, steps_.head)));
    std::vector<std::string> facts{
        fmt::format("token {} of 0 to {}, {}", steps_.row, steps_.shape.rows - 1,
                    view_.token_name()),
        fmt::format("{} head{} of {} numbers", steps_.shape.heads,
                    steps_.shape.heads == 1 ? "" : "s", steps_.shape.head_dim)};
    if (steps_.similarity) {
      facts.push_back(fmt::format("{} similarity: {}", view_.similarity_name(), kNotTheModel));
    }
    writer_.facts(facts);
    if (!view_.token_note.empty()) writer_.facts({printable(view_.token_note)});
    if (!view_.choices.empty()) {
      writer_.facts({fmt::format("By default {}", fmt::join(view_.choices, ", ")),
                     view_.picture ? "--layer, --head, --at and --token choose others"
                                   : "--layer, --head and --token choose others"});
    }
    const std::string line = marked_text(view_.rows, steps_.row, terminal_);
    if (!line.empty()) writer_.line(line);
  }

  // A vector of the chosen token: name, strip, how many numbers and how long.
  TextBlock vector_line(const std::string& name, std::span<const double> values) const {
    const double largest = largest_of(values);
    const std::string facts = fmt::format("{} numbers, ±{:.3g}, length {:.3g}", values.size(),
                                          largest, length_of(values));
    const int name_width = display_width(name) + 2;
    const int room =
        std::min(writer_.columns() - name_width - 2 - display_width(facts), kMostCells);
    const TextLine cells = strip(values, largest, numbers_per_cell(values.size(), room), terminal_);
    return {{terminal_.bold(name) + "  " + cells.text + "  " + terminal_.dim(facts),
             name_width + cells.width + 2 + display_width(facts)}};
  }

  std::string vectors_sentence() const {
    std::string sentence =
        "What the token asks for, what each can be found by, what each passes on.";
    if (view_.is_cross()) {
      sentence += " x is the decoder's state, s the encoder's states of the source.";
    }
    if (view_.is_pool()) {
      sentence += " p is a learned query, the same for every picture, s the states of the patches.";
    }
    if (view_.facts.rotary) {
      sentence += " q and k are shown after rotation by their positions (rotary embedding).";
    }
    if (steps_.shape.kv_heads < steps_.shape.heads) {
      const int64_t share = steps_.shape.heads / steps_.shape.kv_heads;
      sentence +=
          fmt::format(" Key head {} serves heads {} to {} (grouped queries).", steps_.kv_head,
                      steps_.kv_head * share, (steps_.kv_head + 1) * share - 1);
    }
    return sentence;
  }

  void vectors() {
    writer_.stage(1, "Query, key, value",
                  fmt::format("{}   {}   {}", projection_formula(view_, 'q'),
                              projection_formula(view_, 'k'), projection_formula(view_, 'v')),
                  vectors_sentence());
    TextBlock own;
    if (!steps_.x.empty()) own = vector_line("x", steps_.x);
    for (TextLine& line : vector_line("q", steps_.q)) own.push_back(std::move(line));
    std::string largest = "   largest:";
    for (const int64_t d : largest_entries(steps_.q, number_columns() - 1)) {
      largest += fmt::format("  q({}) {:.2f}", d, steps_.q[at(d)]);
    }
    own.push_back(heading(largest));
    writer_.blocks({own});

    int name_width = 1;
    for (const int64_t j : tokens_) name_width = std::max(name_width, display_width(label(j)));
    const int room = std::min((writer_.columns() - name_width - 4) / 2, kMostCells);
    const int64_t key_share = numbers_per_cell(at(steps_.shape.head_dim), room);
    const int64_t value_share = numbers_per_cell(at(steps_.shape.value_dim), room);
    double key_largest = 0, value_largest = 0;
    for (const int64_t j : tokens_) {
      key_largest = std::max(key_largest, largest_of(steps_.k.row(j)));
      value_largest = std::max(value_largest, largest_of(steps_.v.row(j)));
    }
    TextBlock keys, values;
    keys.push_back(heading(fmt::format("{}  k  ±{:.3g}", repeated(" ", name_width), key_largest)));
    values.push_back(heading(fmt::format("v  ±{:.3g}", value_largest)));
    for (const int64_t j : tokens_) {
      const std::string name = label(j);
      const TextLine key = strip(steps_.k.row(j), key_largest, key_share, terminal_);
      keys.push_back(
          {named(j, name) + repeated(" ", name_width - display_width(name) + 2) + key.text,
           name_width + 2 + key.width});
      values.push_back(strip(steps_.v.row(j), value_largest, value_share, terminal_));
    }
    join_columns(keys, values);
    writer_.blocks({keys});
    std::string legend = strip_legend(terminal_);
    legend += " Of numbers that share a cell the one farthest from 0 counts.";
    if (const int64_t rest = left_out_of(tokens_.size(), steps_.shape.cols); rest > 0) {
      legend += fmt::format(" Not shown: {} tokens that get less.", rest);
    }
    writer_.note(legend);
  }

  // The strips of `right` beside those of `left`, two columns apart.
  static void join_columns(TextBlock& left, const TextBlock& right) {
    int width = 0;
    for (const TextLine& line : left) width = std::max(width, line.width);
    for (size_t i = 0; i < left.size(); ++i) {
      left[i].text += repeated(" ", width - left[i].width + 2) + right[i].text;
      left[i].width = width + 2 + right[i].width;
    }
  }

  TextLine heading(const std::string& text) const {
    return {terminal_.dim(text), display_width(text)};
  }
  std::string named(int64_t token, const std::string& name) const {
    return token == steps_.row ? terminal_.marked(name) : isolated(name);
  }

  void products() {
    const int64_t best = strongest_token(steps_);
    const auto all = steps_.products.row(best);
    const bool cosine = is_cosine();
    writer_.stage(2, "Products", cosine ? "q(d) · k(d) / |q| |k|" : "q(d) · k(d)",
                  fmt::format("With the key {}, \"{}\": number by number.",
                              steps_.sum > 0 ? "that gets most" : "of the first token",
                              isolated(label(best))));
    std::vector<int64_t> shown = largest_entries(all, kMostTerms);
    std::ranges::stable_sort(
        shown, [&](int64_t a, int64_t b) { return std::abs(all[at(a)]) > std::abs(all[at(b)]); });
    double rest = steps_.scores[at(best)];
    for (const int64_t d : shown) rest -= all[at(d)];
    double largest = std::abs(rest);
    for (const int64_t d : shown) largest = std::max(largest, std::abs(all[at(d)]));
    const auto number = [&](double value) { return fmt::format("{:.3f}", value); };
    Grid grid{.heading = {"d", "q(d)", "k(d)", "product"}, .total = true};
    for (const int64_t d : shown) {
      grid.rows.push_back(
          {.label = std::to_string(d),
           .cells = {number(steps_.q[at(d)]), number(steps_.k(best, d)), number(all[at(d)])}});
    }
    const int64_t left_out = left_out_of(shown.size(), steps_.shape.head_dim);
    if (left_out > 0) {
      grid.rows.push_back({.label = others(left_out), .cells = {"", "", number(rest)}});
    }
    grid.rows.push_back({.label = "score", .cells = {"", "", number(steps_.scores[at(best)])}});
    const int room = std::clamp(writer_.columns() - grid_width(grid) - 3, 8, kWidestBar);
    const bool below =
        rest < 0 || std::ranges::any_of(shown, [&](int64_t d) { return all[at(d)] < 0; });
    for (size_t r = 0; r + 1 < grid.rows.size(); ++r) {
      const double share =
          largest > 0 ? (r < shown.size() ? all[at(shown[r])] : rest) / largest : 0;
      grid.rows[r].note =
          signed_bar(share, below ? room / 2 : 0, below ? room / 2 : room, terminal_);
    }
    writer_.blocks({draw_grid(grid, terminal_)});
  }

  void score_stages() {
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

  // Score to weight, token by token; stages that change nothing are left out.
  void scores() {
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
    const int64_t hidden = left_out_of(tokens_.size(), steps_.shape.cols) - seen;
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

  // How many columns of numbers a grid has room for, beside a name and one number.
  int64_t number_columns() const {
    return std::clamp<int64_t>((writer_.columns() - kLabelColumns - 9) / 10, 3, 8);
  }

  void weighted_sum() {
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

  void output() {
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
      add(fmt::format("{} other head{}", steps_.shape.heads - 1,
                      steps_.shape.heads == 2 ? "" : "s"),
          rest);
    }
    if (!steps_.output_bias.empty()) add("bias bo", steps_.output_bias);
    add("y", steps_.output);
    writer_.blocks({draw_grid(grid, terminal_)});
    writer_.note(fmt::format("Shown: the {} of {} numbers where this head adds most.", parts.size(),
                             steps_.width()));
  }

  void checks() {
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

  bool is_cosine() const {
    return steps_.similarity && std::holds_alternative<Cosine>(*steps_.similarity);
  }

  const ModelStepsView& view_;
  const ModelSteps& steps_;
  Terminal terminal_;
  StepsWriter writer_;
  std::vector<int64_t> tokens_;
};

}  // namespace

std::string model_steps_text(const ModelStepsView& view, const Terminal& terminal) {
  return ModelStepsWriter(view, terminal).text();
}

}  // namespace fovea
