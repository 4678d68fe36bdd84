// The steps of a model as text for a terminal, told stage by stage: up to the products in
// model_text.cc, from the scores on in model_sums_text.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/cli/steps/cells.h"
#include "fovea/cli/steps/model.h"
#include "fovea/cli/steps/writer.h"

namespace fovea {

inline constexpr int64_t kMostTerms = 6;  // of a sum that is told term by term
inline constexpr int kWidestBar = 28;

class ModelStepsWriter {
 public:
  ModelStepsWriter(const ModelStepsView& view, const Terminal& terminal);
  std::string text();

 private:
  void header();
  void vectors();
  void products();
  void score_stages();
  // Score to weight, token by token; stages that change nothing are left out.
  void scores();
  void weighted_sum();
  void output();
  void checks();

  static std::string others(int64_t count);  // "3 others"
  static size_t at(int64_t index) { return static_cast<size_t>(index); }
  std::string label(int64_t token) const;
  std::string named(int64_t token, const std::string& name) const;
  TextLine heading(const std::string& text) const;
  // A vector of the chosen token: name, strip, how many numbers and how long.
  TextBlock vector_line(const std::string& name, std::span<const double> values) const;
  std::string vectors_sentence() const;
  // How many columns of numbers a grid has room for, beside a name and one number.
  int64_t number_columns() const;
  int64_t seen_among(const std::vector<int64_t>& tokens) const;
  int64_t seen_tokens() const;
  bool is_cosine() const;

  const ModelStepsView& view_;
  const ModelSteps& steps_;
  Terminal terminal_;
  StepsWriter writer_;
  std::vector<int64_t> tokens_;  // of the keys, scores and weights
};

}  // namespace fovea
