#include "fovea/cli/steps/text.h"

#include <fmt/ranges.h>

#include "fovea/cli/steps/writer.h"

namespace fovea {
namespace {

std::string count_of(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::vector<std::string> memory_facts(const StepsProblem& problem) {
  std::vector<std::string> facts{
      problem.file,
      fmt::format("{} against a memory of {}",
                  problem.queries.rows() == 1 ? "1 query"
                                              : fmt::format("{} queries", problem.queries.rows()),
                  count_of(problem.memory->keys.rows(), "slot")),
      similarity_fact(problem)};
  facts.push_back(fmt::format("temperature {}", short_number(problem.attention.temperature)));
  return facts;
}

std::vector<std::string> attention_facts(const StepsProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  std::vector<std::string> facts{problem.file};
  if (attention.source) {
    facts.push_back(fmt::format("cross-attention of {} over {}",
                                count_of(attention.inputs.rows(), "vector"),
                                attention.source->rows()));
  } else if (problem.grid) {
    facts.push_back(fmt::format("self-attention of {}", count_of(problem.grid->size(), "pixel")));
  } else {
    facts.push_back(
        fmt::format("self-attention of {}", count_of(attention.inputs.rows(), "vector")));
  }
  facts.push_back(
      fmt::format("{} of width {}", count_of(attention.heads, "head"), attention.head_width()));
  facts.push_back(similarity_fact(problem));
  if (attention.temperature != 1) {
    facts.push_back(fmt::format("temperature {}", short_number(attention.temperature)));
  }
  if (!problem.left_to_identity.empty()) {
    facts.push_back(
        fmt::format("{} left out: identity", fmt::join(problem.left_to_identity, ", ")));
  }
  return facts;
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

std::string steps_text(const StepsProblem& problem, const StepsResult& result,
                       const StepsView& view, const Terminal& terminal) {
  StepsWriter writer(terminal);
  writer.title(steps_title(problem));
  std::vector<std::string> facts =
      problem.memory ? memory_facts(problem) : attention_facts(problem);
  facts.front() = printable(facts.front());
  writer.facts(facts);
  if (problem.memory) {
    write_memory(problem, result, view, writer);
    return writer.take();
  }
  if (problem.grid) {
    write_picture(problem, result.attention, view, writer);
  } else {
    write_attention(problem, result.attention, view, writer);
  }
  // At temperature 0 rounding may decide between equal scores, so there the forms may differ.
  if (problem.attention.temperature > 0) {
    const std::string how_close =
        result.forms_differ_by <= 1e-12
            ? "to 1e-12"
            : fmt::format("but for rounding, at most {:.1g}", result.forms_differ_by);
    writer.line("");
    writer.note(fmt::format("Checked: whole matrices give the same numbers, {}.", how_close));
  }
  return writer.take();
}

}  // namespace fovea
