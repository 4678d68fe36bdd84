#include "fovea/cli/steps/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

constexpr int kStageIndent = 4;
constexpr int kStageColumns = 22;

std::string repeat(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string pad(std::string_view text, int width) {
  return std::string(text) + repeat(" ", width - display_width(text));
}

// Broken between words.
std::vector<std::string> lines_of(std::string_view text, int width) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) {
      lines.emplace_back();
    } else if (!lines.back().empty()) {
      lines.back() += ' ';
    }
    lines.back() += word;
  }
  return lines;
}

}  // namespace

void StepsWriter::title(std::string_view text) {
  text_ += terminal_.bold(text) + "\n";
}

void StepsWriter::facts(const std::vector<std::string>& parts) {
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty() && display_width(line) + 3 + display_width(part) > terminal_.width) {
      text_ += terminal_.dim(line) + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " · ") + part;
  }
  if (!line.empty()) text_ += terminal_.dim(line) + "\n";
}

void StepsWriter::banner(std::string_view text) {
  const int rest = terminal_.width - display_width(text) - 4;
  text_ += "\n" + terminal_.dim("──") + " " + terminal_.bold(text) + " " +
           terminal_.dim(repeat("─", std::max(rest, 3))) + "\n";
}

void StepsWriter::stage(int number, std::string_view name, std::string_view formula,
                        std::string_view explanation) {
  const bool fits = kStageIndent + kStageColumns + display_width(formula) <= terminal_.width;
  text_ += "\n" + terminal_.bold(fmt::format("{:>2}  {}", number,
                                             fits ? pad(name, kStageColumns) : std::string(name)));
  if (fits) {
    text_ += terminal_.accent(formula) + "\n";
  } else {
    text_ += "\n";
    for (const std::string& line : lines_of(formula, columns())) {
      text_ += repeat(" ", kStageIndent) + terminal_.accent(line) + "\n";
    }
  }
  if (!explanation.empty()) note(explanation);
}

void StepsWriter::tables(const std::vector<Table>& tables) {
  std::vector<TextBlock> drawn;
  drawn.reserve(tables.size());
  for (const Table& table : tables) drawn.push_back(draw_table(table, terminal_, columns()));
  blocks(drawn);
}

void StepsWriter::blocks(const std::vector<TextBlock>& blocks) {
  text_ += "\n" + side_by_side(blocks, kStageIndent, terminal_.width);
}

void StepsWriter::note(std::string_view text) {
  for (const std::string& line : lines_of(text, columns())) {
    text_ += repeat(" ", kStageIndent) + terminal_.dim(line) + "\n";
  }
}

int StepsWriter::columns() const {
  return terminal_.width - kStageIndent;
}

void StepsWriter::caption(std::string_view text) {
  line("");
  const std::string broken = wrapped(text, columns());
  for (size_t begin = 0; begin <= broken.size();) {
    const size_t end = std::min(broken.find('\n', begin), broken.size());
    line(repeat(" ", kStageIndent) + broken.substr(begin, end - begin));
    begin = end + 1;
  }
}

void StepsWriter::line(std::string_view text) {
  text_ += std::string(text) + "\n";
}

std::vector<std::string> printable_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> result;
  result.reserve(labels.size());
  for (const std::string& label : labels) result.push_back(printable(label));
  return result;
}

Table vector_table(std::string corner, const Matrix& values,
                   const std::vector<std::string>& labels) {
  return {.corner = std::move(corner),
          .values = values,
          .row_labels = printable_labels(labels),
          .col_labels = numbered(values.cols()),
          .formats = {NumberFormat::for_values(values.values())}};
}

Table only_row(const Table& table, int64_t row) {
  Table one = table;
  const auto values = table.values.row(row);
  one.values = Matrix::from_rows({{values.begin(), values.end()}});
  one.row_labels = {table.row_labels[static_cast<size_t>(row)]};
  return one;
}

Table picture_table(const PixelGrid& grid, std::span<const double> values, int64_t chosen) {
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

std::string weights_caption(const StepsProblem& problem, const StepsView& view, int64_t head,
                            double sum) {
  const auto place = static_cast<size_t>(*view.place);
  const std::string& label = view.column ? problem.source_labels[place] : problem.labels[place];
  std::string name = fmt::format("\"{}\"", printable(label));
  if (problem.grid) {
    const PixelPlace pixel = problem.grid->place_of(*view.place);
    name = fmt::format("(pixel x {}, y {})", pixel.column, pixel.row);
  }
  const std::string where =
      problem.attention.heads > 1 ? fmt::format("head {} · ", head) : std::string();
  if (!view.column) {
    return fmt::format("Row {} {} → what it attends to · {}softmax weight · sum {:.3f}", place,
                       name, where, sum);
  }
  const double even = static_cast<double>(problem.attention.inputs.rows()) /
                      static_cast<double>(problem.attention.sources().rows());
  return fmt::format("Column {} {} ← who attends to it · {}sum {:.3f} (even: {:.3f})", place, name,
                     where, sum, even);
}

void write_projections(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                       int64_t most_rows, StepsWriter& writer) {
  const AttentionProblem& attention = problem.attention;
  const char* source = attention.source ? "u" : "x";
  const auto formula = [](const Projection& projection, const char* name, const char* vector,
                          const char* letter) {
    const std::string weight = projection.weight ? fmt::format(" W{}", letter) : "";
    const std::string bias = projection.bias.empty() ? "" : fmt::format(" + b{}", letter);
    return fmt::format("{} = {}{}{}", name, vector, weight, bias);
  };
  writer.stage(2, "Query, key, value",
               formula(attention.query, "q", "x", "q") + "   " +
                   formula(attention.key, "k", source, "k") + "   " +
                   formula(attention.value, "v", source, "v"),
               "What each vector asks for, what it can be found by, and what it passes on.");
  Table queries = vector_table("Q", head.q, problem.labels);
  Table keys = vector_table("K", head.k, problem.source_labels);
  Table values = vector_table("V", head.v, problem.source_labels);
  queries.most_rows = keys.most_rows = values.most_rows = most_rows;
  queries.kept_row = keys.kept_row = values.kept_row = view.place;
  if (view.place && !view.column) queries = only_row(queries, *view.place);
  writer.tables({queries, keys, values});
}

void write_outputs(const StepsProblem& problem, const AttentionSteps& steps, const StepsView& view,
                   StepsWriter& writer) {
  const bool one_row = view.place && !view.column;
  const auto shown = [&](const char* name, const Matrix& values) {
    Table table = vector_table(name, values, problem.labels);
    return one_row ? only_row(table, *view.place) : table;
  };
  if (problem.attention.heads > 1) {
    writer.banner("All heads");
    std::string formula = "[";
    for (int64_t h = 0; h < problem.attention.heads; ++h) {
      if (h == 2 && problem.attention.heads > 4) {
        formula += "… | ";
        h = problem.attention.heads - 1;
      }
      formula += fmt::format("z of head {}{}", h, h + 1 < problem.attention.heads ? " | " : "]");
    }
    writer.stage(8, "Heads joined", formula, "What the heads give, side by side.");
    writer.tables({shown("Z", steps.joined)});
  } else {
    writer.stage(8, "Heads joined", "one head: as above", "");
  }
  const Projection& output = problem.attention.output;
  if (!output.weight && output.bias.empty()) {
    writer.stage(9, "Output", "Wo is left out: as joined", "");
    return;
  }
  writer.stage(
      9, "Output",
      fmt::format("y = z{}{}", output.weight ? " Wo" : "", output.bias.empty() ? "" : " + bo"),
      "One last projection mixes what the heads gave.");
  writer.tables({shown("Y", steps.output)});
}

bool is_scaled(const StepsProblem& problem) {
  return problem.attention.effective_scale() != 1;
}

void scores_stage(const StepsProblem& problem, const StepsView& view, StepsWriter& writer) {
  writer.stage(3, "Scores", fmt::format("s(i,j) = {}", formula_of(problem.attention.similarity)),
               !view.place   ? "How well each query (row) fits each key (column)."
               : view.column ? "How well each query fits this key."
                             : "How well this query fits each key.");
}

void scaled_stage(const StepsProblem& problem, StepsWriter& writer) {
  const AttentionProblem& attention = problem.attention;
  const std::string value = short_number(attention.effective_scale());
  if (!is_scaled(problem)) {
    writer.stage(4, "Scaled", "scale 1: as above", "");
  } else if (attention.scale) {
    writer.stage(4, "Scaled", fmt::format("{} · s", value), "Times the scale that the file gives.");
  } else {
    writer.stage(4, "Scaled", fmt::format("s / √{} = {} · s", attention.head_width(), value),
                 "Wider vectors give larger scores; this keeps their size the same.");
  }
}

void masked_stage(const StepsProblem& problem, StepsWriter& writer) {
  if (!problem.attention.mask) {
    writer.stage(5, "Masked", "no mask: every query sees every key", "");
    return;
  }
  writer.stage(5, "Masked", problem.causal ? "-∞ where j > i" : "-∞ where the mask is 0",
               problem.causal ? "No query sees what comes after it; · is not allowed."
                              : "· is not allowed.");
}

void softmax_stage(const StepsProblem& problem, StepsWriter& writer) {
  const double temperature = problem.attention.temperature;
  if (temperature == 0) {
    writer.stage(6, "Softmax", "temperature 0: all weight on the largest score",
                 "Each row becomes a choice of one key.");
    return;
  }
  const std::string over = temperature == 1 ? "" : fmt::format("/{}", short_number(temperature));
  writer.stage(6, "Softmax", fmt::format("a(i,j) = exp(s(i,j){}) / Σ exp(s(i,·){})", over, over),
               "Each row becomes shares of one whole: none negative, together 1.");
}

}  // namespace fovea
