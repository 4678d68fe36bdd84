// The steps of a model as text, up to the products of one query with one key.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/steps/model_writer.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

constexpr int64_t kMostTextTokens = 12;
constexpr int kLabelColumns = 14;
constexpr int kMostStrip = 64;  // of a strip

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The strips of `right` beside those of `left`, two columns apart.
void append_block(TextBlock& left, const TextBlock& right) {
  int width = 0;
  for (const TextLine& line : left) width = std::max(width, line.width);
  for (size_t i = 0; i < left.size(); ++i) {
    left[i].text += repeated(" ", width - left[i].width + 2) + right[i].text;
    left[i].width = width + 2 + right[i].width;
  }
}

}  // namespace

std::string ModelStepsWriter::others(int64_t count) {
  return fmt::format("{} other{}", count, count == 1 ? "" : "s");
}

ModelStepsWriter::ModelStepsWriter(const ModelStepsView& view, const Terminal& terminal)
    : view_(view),
      steps_(view.steps),
      terminal_(terminal),
      writer_(terminal),
      tokens_(shown_tokens(view.steps, kMostTextTokens)) {}

std::string ModelStepsWriter::text() {
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

std::string ModelStepsWriter::label(int64_t token) const {
  return shorten(printable(plain_label(view_.cols, token)), kLabelColumns);
}

std::string ModelStepsWriter::named(int64_t token, const std::string& name) const {
  return token == steps_.row ? terminal_.marked(name) : isolated(name);
}

TextLine ModelStepsWriter::heading(const std::string& text) const {
  return {terminal_.dim(text), display_width(text)};
}

int64_t ModelStepsWriter::number_columns() const {
  return std::clamp<int64_t>((writer_.columns() - kLabelColumns - 9) / 10, 3, 8);
}

bool ModelStepsWriter::is_cosine() const {
  return steps_.similarity && std::holds_alternative<Cosine>(*steps_.similarity);
}

void ModelStepsWriter::header() {
  writer_.title(title_of(view_.run, steps_.site.kind,
                         fmt::format("layer {}, head {}", steps_.site.layer, steps_.head)));
  std::vector<std::string> facts{
      fmt::format("token {} of 0 to {}, {}", steps_.row, steps_.shape.rows - 1, view_.token_name()),
      fmt::format("{} head{} of {} numbers", steps_.shape.heads, steps_.shape.heads == 1 ? "" : "s",
                  steps_.shape.head_dim)};
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

TextBlock ModelStepsWriter::vector_line(const std::string& name,
                                        std::span<const double> values) const {
  const double largest = largest_size(values);
  const std::string facts =
      fmt::format("{} numbers, ±{:.3g}, length {:.3g}", values.size(), largest, length_of(values));
  const int name_width = display_width(name) + 2;
  const int room = std::min(writer_.columns() - name_width - 2 - display_width(facts), kMostStrip);
  const TextLine cells = strip(values, largest, numbers_per_cell(values.size(), room), terminal_);
  return {{terminal_.bold(name) + "  " + cells.text + "  " + terminal_.dim(facts),
           name_width + cells.width + 2 + display_width(facts)}};
}

std::string ModelStepsWriter::vectors_sentence() const {
  std::string sentence = "What the token asks for, what each can be found by, what each passes on.";
  if (view_.is_cross()) {
    sentence += " x is the decoder's state, s the encoder's states of the source.";
  }
  if (view_.is_pool()) {
    sentence += " p is a learned query, the same for every picture, s the states of the patches.";
  }
  if (view_.facts.main.rotary) {
    sentence += " q and k are shown after rotation by their positions (rotary embedding).";
  }
  if (steps_.shape.kv_heads < steps_.shape.heads) {
    const int64_t share = steps_.shape.heads / steps_.shape.kv_heads;
    sentence += fmt::format(" Key head {} serves heads {} to {} (grouped queries).", steps_.kv_head,
                            steps_.kv_head * share, (steps_.kv_head + 1) * share - 1);
  }
  return sentence;
}

void ModelStepsWriter::vectors() {
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
  const int room = std::min((writer_.columns() - name_width - 4) / 2, kMostStrip);
  const int64_t key_share = numbers_per_cell(at(steps_.shape.head_dim), room);
  const int64_t value_share = numbers_per_cell(at(steps_.shape.value_dim), room);
  double key_largest = 0, value_largest = 0;
  for (const int64_t j : tokens_) {
    key_largest = std::max(key_largest, largest_size(steps_.k.row(j)));
    value_largest = std::max(value_largest, largest_size(steps_.v.row(j)));
  }
  TextBlock keys, values;
  keys.push_back(heading(fmt::format("{}  k  ±{:.3g}", repeated(" ", name_width), key_largest)));
  values.push_back(heading(fmt::format("v  ±{:.3g}", value_largest)));
  for (const int64_t j : tokens_) {
    const std::string name = label(j);
    const TextLine key = strip(steps_.k.row(j), key_largest, key_share, terminal_);
    keys.push_back({named(j, name) + repeated(" ", name_width - display_width(name) + 2) + key.text,
                    name_width + 2 + key.width});
    values.push_back(strip(steps_.v.row(j), value_largest, value_share, terminal_));
  }
  append_block(keys, values);
  writer_.blocks({keys});
  std::string legend = strip_legend(terminal_);
  legend += " Of numbers that share a cell the one farthest from 0 counts.";
  if (const int64_t rest = steps_.shape.cols - static_cast<int64_t>(tokens_.size()); rest > 0) {
    legend += fmt::format(" Not shown: {} tokens that get less.", rest);
  }
  writer_.note(legend);
}

void ModelStepsWriter::products() {
  const int64_t best = strongest_token(steps_);
  const auto all = steps_.products.row(best);
  const bool cosine = is_cosine();
  writer_.stage(
      2, "Products", cosine ? "q(d) · k(d) / |q| |k|" : "q(d) · k(d)",
      fmt::format("With the key {}, \"{}\": number by number.",
                  steps_.sum > 0 ? "that gets most" : "of the first token", isolated(label(best))));
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
  const int64_t left_out = steps_.shape.head_dim - static_cast<int64_t>(shown.size());
  if (left_out > 0) {
    grid.rows.push_back({.label = others(left_out), .cells = {"", "", number(rest)}});
  }
  grid.rows.push_back({.label = "score", .cells = {"", "", number(steps_.scores[at(best)])}});
  const int room = std::clamp(writer_.columns() - grid_width(grid) - 3, 8, kWidestBar);
  const bool below =
      rest < 0 || std::ranges::any_of(shown, [&](int64_t d) { return all[at(d)] < 0; });
  for (size_t r = 0; r + 1 < grid.rows.size(); ++r) {
    const double share = largest > 0 ? (r < shown.size() ? all[at(shown[r])] : rest) / largest : 0;
    grid.rows[r].note = signed_bar(share, below ? room / 2 : 0, below ? room / 2 : room, terminal_);
  }
  writer_.blocks({draw_grid(grid, terminal_)});
}

std::string model_steps_text(const ModelStepsView& view, const Terminal& terminal) {
  return ModelStepsWriter(view, terminal).text();
}

}  // namespace fovea
