// The steps of attention over named vectors or the pixels of a picture: all of it, one query's row,
// or one key's column.
#include "fovea/figure/vector_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int64_t kMostVectors = 16;
constexpr int64_t kMostPixelVectors = 6;  // the numbers repeat; the picture says more

std::string count_of(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::vector<double> row_of(const Matrix& matrix, int64_t row) {
  return {matrix.row(row).begin(), matrix.row(row).end()};
}

double largest_value(std::span<const double> values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

// The pixels' own colours, if they can be read as such: 1 or 3 channels from 0 to 1 or to 255.
std::vector<Rgb> pixel_colors(const Matrix& pixels) {
  const auto [low, high] = std::ranges::minmax(pixels.values());
  if ((pixels.cols() != 1 && pixels.cols() != 3) || low < 0 || high > 255) return {};
  const double factor = high <= 1 ? 255 : 1;
  std::vector<Rgb> colors;
  for (int64_t i = 0; i < pixels.rows(); ++i) {
    const auto channel = [&](int64_t c) {
      return static_cast<uint8_t>(std::lround(pixels(i, std::min(c, pixels.cols() - 1)) * factor));
    };
    colors.push_back({channel(0), channel(1), channel(2)});
  }
  return colors;
}

// A row's weights and the like as the picture's lines and columns, with the chosen pixel marked.
NumberTable picture_table(const PixelGrid& grid, std::span<const double> values, int64_t chosen) {
  const PixelPlace place = grid.place_of(chosen);
  return {.corner = "y\\x",
          .values = picture_of_values(grid, values),
          .row_labels = numbered(grid.height),
          .col_labels = numbered(grid.width),
          .formats = {NumberFormat::for_values(values, 2)},
          .kept_row = place.row,
          .marked_row = place.row,
          .marked_col = place.column,
          .most_rows = 32};
}

std::string projection_text(const Projection& projection, char name, char vector) {
  return fmt::format("{0} = {1}{2}{3}", name, vector,
                     projection.weight ? fmt::format(" W{}", name) : "",
                     projection.bias.empty() ? "" : fmt::format(" + b{}", name));
}

class VectorStages {
 public:
  VectorStages(const StepsProblem& problem, const AttentionSteps& steps, const StepsView& view)
      : problem_(problem), attention_(problem.attention), steps_(steps), view_(view) {}

  std::vector<StepsStage> make() {
    inputs();
    for (int64_t h = 0; h < attention_.heads; ++h) {
      if (view_.head && *view_.head != h) continue;
      const HeadSteps& head = steps_.heads[static_cast<size_t>(h)];
      projections(head);
      if (attention_.heads > 1) stages_.back().part = fmt::format("Head {}", h);
      if (problem_.grid && view_.column) {
        softmax();
        picture_weights(head, h);
      } else {
        score_stages(head);
        problem_.grid ? picture_weights(head, h) : weights(head, h);
        if (!view_.column) weighted_sum(head);
      }
    }
    if (!view_.column) outputs();
    return std::move(stages_);
  }

 private:
  bool one_row() const { return view_.place && !view_.column; }
  bool is_scaled() const { return attention_.effective_scale() != 1; }

  StepsStage& add(int number, std::string name, std::string formula, std::string explanation) {
    stages_.push_back({.number = number,
                       .name = std::move(name),
                       .formula = std::move(formula),
                       .explanation = std::move(explanation),
                       .tables = {}});
    return stages_.back();
  }

  void inputs() {
    if (problem_.grid) return pixels();
    StepsStage& stage =
        add(1, "Inputs", attention_.source ? "x asks, u answers" : "x asks and answers",
            "One vector per row.");
    stage.tables = {vector_table("X", attention_.inputs, problem_.labels)};
    if (attention_.source) {
      stage.tables.push_back(vector_table("U", *attention_.source, problem_.source_labels));
    }
  }

  void pixels() {
    const PixelGrid& grid = *problem_.grid;
    const Matrix& pixels = attention_.inputs;
    StepsStage& stage =
        add(1, "Picture as vectors", "x(i), i = width · y + x",
            fmt::format("{} x {} pixels are {} vectors of {} numbers; this is each one's number.",
                        grid.height, grid.width, grid.size(), pixels.cols()));
    std::vector<double> indices(static_cast<size_t>(grid.size()));
    std::iota(indices.begin(), indices.end(), 0.0);
    NumberTable picture = picture_table(grid, indices, *view_.place);
    picture.backgrounds = pixel_colors(pixels);
    NumberTable vectors = vector_table("X", pixels, problem_.labels);
    vectors.most_rows = kMostPixelVectors;
    vectors.kept_row = view_.place;
    stage.tables = {std::move(picture), std::move(vectors)};
  }

  void projections(const HeadSteps& head) {
    const char source = attention_.source ? 'u' : 'x';
    StepsStage& stage =
        add(2, "Query, key, value",
            fmt::format("{}   {}   {}", projection_text(attention_.query, 'q', 'x'),
                        projection_text(attention_.key, 'k', source),
                        projection_text(attention_.value, 'v', source)),
            "What each vector asks for, what it can be found by, and what it passes on.");
    stage.tables = {vector_table("Q", head.q, problem_.labels),
                    vector_table("K", head.k, problem_.source_labels),
                    vector_table("V", head.v, problem_.source_labels)};
    for (NumberTable& table : stage.tables) {
      table.most_rows = problem_.grid ? kMostPixelVectors : kMostVectors;
      table.kept_row = view_.place;
    }
    if (one_row()) stage.tables[0] = only_row(stage.tables[0], *view_.place);
  }

  // Every cell, or the chosen row as a picture; of a row or column of vectors nothing, for all its
  // numbers stand beside the weights.
  std::vector<NumberTable> cells(const Matrix& all) const {
    if (problem_.grid) return {picture_table(*problem_.grid, all.row(*view_.place), *view_.place)};
    if (view_.place) return {};
    return {cell_table("s", all)};
  }

  NumberTable cell_table(std::string corner, const Matrix& all) const {
    NumberTable table = vector_table(std::move(corner), all, problem_.labels);
    table.col_labels = problem_.source_labels;
    return table;
  }

  void score_stages(const HeadSteps& head) {
    add(3, "Scores", fmt::format("s(i,j) = {}", formula_of(attention_.similarity)),
        !view_.place   ? "How well each query (row) fits each key (column)."
        : view_.column ? "How well each query fits this key."
                       : "How well this query fits each key.")
        .tables = cells(head.scores);
    const std::string value = short_number(attention_.effective_scale());
    if (!is_scaled()) {
      add(4, "Scaled", "scale 1: as above", "");
    } else if (attention_.scale) {
      add(4, "Scaled", fmt::format("{} · s", value), "Times the scale that the file gives.");
    } else {
      add(4, "Scaled", fmt::format("s / √{} = {} · s", attention_.head_width(), value),
          "Wider vectors give larger scores; this keeps their size the same.");
    }
    if (is_scaled()) stages_.back().tables = cells(head.scaled);
    if (!attention_.mask) {
      add(5, "Masked", "no mask: every query sees every key", "");
    } else {
      add(5, "Masked", problem_.causal ? "-∞ where j > i" : "-∞ where the mask is 0",
          problem_.causal ? "No query sees what comes after it; · is not allowed."
                          : "· is not allowed.")
          .tables = cells(head.masked);
    }
    softmax();
  }

  void softmax() {
    const double temperature = attention_.temperature;
    if (temperature == 0) {
      add(6, "Softmax", "temperature 0: all weight on the largest score",
          "Each row becomes a choice of one key.");
      return;
    }
    const std::string over = temperature == 1 ? "" : fmt::format("/{}", short_number(temperature));
    add(6, "Softmax", fmt::format("a(i,j) = exp(s(i,j){0}) / Σ exp(s(i,·){0})", over),
        "Each row becomes shares of one whole: none negative, together 1.");
  }

  std::string place_caption(int64_t head, double sum) const {
    const auto place = static_cast<size_t>(*view_.place);
    const std::string& label =
        view_.column ? problem_.source_labels[place] : problem_.labels[place];
    std::string name = fmt::format("\"{}\"", printable(label));
    if (problem_.grid) {
      const PixelPlace pixel = problem_.grid->place_of(*view_.place);
      name = fmt::format("(pixel x {}, y {})", pixel.column, pixel.row);
    }
    const std::string where = attention_.heads > 1 ? fmt::format("head {} · ", head) : "";
    if (!view_.column) {
      return fmt::format("Row {} {} → what it attends to · {}softmax weight · sum {:.3f}", place,
                         name, where, sum);
    }
    const double even = static_cast<double>(attention_.inputs.rows()) /
                        static_cast<double>(attention_.sources().rows());
    return fmt::format("Column {} {} ← who attends to it · {}sum {:.3f} (even: {:.3f})", place,
                       name, where, sum, even);
  }

  std::vector<double> line_of_place(const Matrix& all) const {
    return view_.column ? all.column(*view_.place) : row_of(all, *view_.place);
  }

  // Into the stage of the softmax: all weights, or how those of a row or column came about.
  void weights(const HeadSteps& head, int64_t index) {
    StepsStage& stage = stages_.back();
    if (!view_.place) {
      stage.tables = {all_weights(head)};
      stage.caption = "Read a row: what that query attends to.";
      return;
    }
    const std::vector<double> line = line_of_place(head.weights);
    stage.tables = {line_table(head, line)};
    stage.caption = place_caption(index, std::accumulate(line.begin(), line.end(), 0.0));
  }

  NumberTable all_weights(const HeadSteps& head) const {
    NumberTable table = cell_table("a", head.weights);
    table.formats = {NumberFormat::for_weights()};
    table.shade_to = largest_value(head.weights.values());
    table.sums = head.row_sums;
    for (int64_t r = 0; attention_.mask && r < table.values.rows(); ++r) {
      for (int64_t c = 0; c < table.values.cols(); ++c) {
        if ((*attention_.mask)(r, c) == 0) table.values(r, c) = head.masked(r, c);
      }
    }
    return table;
  }

  // A table from score to weight, downwards, with a bar for each weight. Steps that change nothing
  // are left out.
  NumberTable line_table(const HeadSteps& head, const std::vector<double>& line) const {
    std::vector<std::pair<std::string, std::vector<double>>> columns{
        {"score", line_of_place(head.scores)}};
    if (is_scaled()) columns.emplace_back("scaled", line_of_place(head.scaled));
    if (attention_.mask) columns.emplace_back("masked", line_of_place(head.masked));
    columns.emplace_back("weight", line);
    NumberTable table{
        .corner = "",
        .values = Matrix(static_cast<int64_t>(line.size()), static_cast<int64_t>(columns.size())),
        .row_labels = view_.column ? problem_.labels : problem_.source_labels,
        .bars = line};
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto& [name, values] = columns[c];
      table.col_labels.push_back(name);
      table.formats.push_back(c + 1 == columns.size() ? NumberFormat::for_weights()
                                                      : NumberFormat::for_values(values));
      for (size_t r = 0; r < values.size(); ++r) {
        table.values(static_cast<int64_t>(r), static_cast<int64_t>(c)) = values[r];
      }
    }
    return table;
  }

  void picture_weights(const HeadSteps& head, int64_t index) {
    const std::vector<double> line = line_of_place(head.weights);
    const std::vector<double> masked = line_of_place(head.masked);
    std::vector<double> shown = line;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (!std::isfinite(masked[i])) shown[i] = masked[i];
    }
    NumberTable table = picture_table(*problem_.grid, shown, *view_.place);
    table.formats = {NumberFormat::for_weights()};
    table.shade_to = largest_value(line);
    stages_.back().tables = {std::move(table)};
    stages_.back().caption = place_caption(index, std::accumulate(line.begin(), line.end(), 0.0));
  }

  void weighted_sum(const HeadSteps& head) {
    if (problem_.grid) {
      add(7, "Weighted sum", "z = Σ a(j) v(j)",
          "The pixel receives the values of all pixels, mixed by its weights.")
          .tables = {vector_table(
          "", Matrix::from_rows({row_of(head.v, *view_.place), row_of(head.mixed, *view_.place)}),
          {"its own v", "z"})};
    } else if (view_.place) {
      add(7, "Weighted sum", "z = Σ a(j) v(j)",
          "Every key gives its value times its weight; the last line is their sum.")
          .tables = {terms(head, *view_.place)};
    } else {
      add(7, "Weighted sum", "z(i) = Σ a(i,j) v(j)",
          "Each query receives the values, mixed by its weights.")
          .tables = {vector_table("Z", head.mixed, problem_.labels)};
    }
  }

  // How a weighted sum comes about.
  NumberTable terms(const HeadSteps& head, int64_t i) const {
    const int64_t keys = head.weights.cols();
    NumberTable table{.corner = "",
                      .values = Matrix(keys + 1, head.v.cols() + 1),
                      .row_labels = problem_.source_labels,
                      .col_labels = {"a"},
                      .rule_above_last = true};
    table.row_labels.emplace_back("z");
    for (int64_t j = 0; j <= keys; ++j) {
      const bool sum = j == keys;
      table.values(j, 0) = sum ? head.row_sums[static_cast<size_t>(i)] : head.weights(i, j);
      for (int64_t c = 0; c < head.v.cols(); ++c) {
        table.values(j, c + 1) = sum ? head.mixed(i, c) : head.weights(i, j) * head.v(j, c);
      }
    }
    for (int64_t c = 0; c < head.v.cols(); ++c) {
      table.col_labels.push_back(fmt::format("a·v {}", c));
    }
    table.formats.assign(table.col_labels.size(), NumberFormat::for_values(table.values.values()));
    table.formats.front() = NumberFormat::for_weights();
    return table;
  }

  std::string joined_formula() const {
    std::string formula = "[";
    for (int64_t h = 0; h < attention_.heads; ++h) {
      if (h == 2 && attention_.heads > 4) {
        formula += "… | ";
        h = attention_.heads - 1;
      }
      formula += fmt::format("z of head {}{}", h, h + 1 < attention_.heads ? " | " : "]");
    }
    return formula;
  }

  void outputs() {
    const auto shown = [&](const char* name, const Matrix& values) {
      const NumberTable table = vector_table(name, values, problem_.labels);
      return one_row() ? only_row(table, *view_.place) : table;
    };
    if (attention_.heads > 1) {
      StepsStage& joined =
          add(8, "Heads joined", joined_formula(), "What the heads give, side by side.");
      joined.tables = {shown("Z", steps_.joined)};
      joined.part = "All heads";
    } else {
      add(8, "Heads joined", "one head: as above", "");
    }
    const Projection& output = attention_.output;
    if (!output.weight && output.bias.empty()) {
      add(9, "Output", "Wo is left out: as joined", "");
      return;
    }
    add(9, "Output",
        fmt::format("y = z{}{}", output.weight ? " Wo" : "", output.bias.empty() ? "" : " + bo"),
        "One last projection mixes what the heads gave.")
        .tables = {shown("Y", steps_.output)};
  }

  const StepsProblem& problem_;
  const AttentionProblem& attention_;
  const AttentionSteps& steps_;
  const StepsView& view_;
  std::vector<StepsStage> stages_;
};

std::string problem_facts(const StepsProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  std::vector<std::string> facts{printable(problem.file)};
  if (problem.memory) {
    const int64_t queries = problem.queries.rows();
    facts.push_back(fmt::format("{} against a memory of {}",
                                queries == 1 ? "1 query" : fmt::format("{} queries", queries),
                                count_of(problem.memory->keys.rows(), "slot")));
  } else {
    facts.push_back(
        attention.source
            ? fmt::format("cross-attention of {} over {}",
                          count_of(attention.inputs.rows(), "vector"), attention.source->rows())
            : fmt::format("self-attention of {}",
                          count_of(attention.inputs.rows(), problem.grid ? "pixel" : "vector")));
    facts.push_back(
        fmt::format("{} of width {}", count_of(attention.heads, "head"), attention.head_width()));
  }
  facts.push_back(similarity_fact(problem));
  if (problem.memory || attention.temperature != 1) {
    facts.push_back(fmt::format("temperature {}", short_number(attention.temperature)));
  }
  if (!problem.left_to_identity.empty()) {
    facts.push_back(
        fmt::format("{} left out: identity", fmt::join(problem.left_to_identity, ", ")));
  }
  return fmt::format("{}", fmt::join(facts, " · "));
}

}  // namespace

std::string similarity_fact(const StepsProblem& problem) {
  const Similarity& similarity = problem.attention.similarity;
  if (std::holds_alternative<ScaledDotProduct>(similarity)) return "scaled dot product";
  if (std::holds_alternative<DotProduct>(similarity)) return "dot product";
  if (std::holds_alternative<Cosine>(similarity)) return "cosine similarity";
  return "additive similarity";
}

std::string steps_title(const StepsProblem& problem) {
  if (!problem.title.empty()) return printable(problem.title);
  if (problem.memory) return "Reading a memory, step by step";
  return problem.grid ? "Attention over a picture, step by step" : "Attention, step by step";
}

StepsFigure vector_steps_figure(const StepsProblem& problem, const StepsResult& result,
                                const StepsView& view) {
  StepsFigure figure;
  figure.text.title = steps_title(problem);
  figure.facts = {problem_facts(problem)};
  figure.stages = problem.memory ? memory_stages(problem, result, view)
                                 : VectorStages(problem, result.attention, view).make();
  // At temperature 0 rounding may decide between equal scores, so there the forms may differ.
  if (!problem.memory && problem.attention.temperature > 0) {
    figure.checks = {
        fmt::format("Checked: whole matrices give the same numbers, {}.",
                    result.forms_differ_by <= 1e-12
                        ? "to 1e-12"
                        : fmt::format("but for rounding, at most {:.1g}", result.forms_differ_by))};
  }
  return figure;
}

}  // namespace fovea
