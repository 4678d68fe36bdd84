#include "fovea/ops/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

constexpr int64_t kRowsOfRows = 5, kWidthOfRows = 3;

TEST(Rows, AreTakenAsOftenAsTheyAreNamed) {
  const std::vector<int64_t> numbers{4, 0, 0, 2};
  check_gradients({.op = [&](const auto& x) { return ops::take_rows(x[0], numbers); },
                   .reference =
                       [&](const auto& x) {
                         Doubles result;
                         for (const int64_t row : numbers) {
                           for (int64_t c = 0; c < kWidthOfRows; ++c) {
                             result.push_back(x[0][static_cast<size_t>(row * kWidthOfRows + c)]);
                           }
                         }
                         return result;
                       },
                   .inputs = {random_tensor({kRowsOfRows, kWidthOfRows}, 1)}},
                  2);
}

TEST(Rows, EachHasItsFactor) {
  check_gradients({.op = [](const auto& x) { return ops::scale_rows(x[0], x[1]); },
                   .reference =
                       [](const auto& x) {
                         Doubles result = x[0];
                         for (size_t i = 0; i < result.size(); ++i) {
                           result[i] *= x[1][i / kWidthOfRows];
                         }
                         return result;
                       },
                   .inputs = {random_tensor({kRowsOfRows, kWidthOfRows}, 3),
                              random_tensor({kRowsOfRows, 1}, 4)}},
                  5);
}

TEST(Rows, AreAddedWhereTheyBelong) {
  const std::vector<int64_t> first{1, 3}, second{3};
  check_gradients(
      {.op =
           [&](const auto& x) {
             const std::vector<ops::PlacedRows> parts{{x[0], first}, {x[1], second}};
             return ops::sum_rows(parts, kRowsOfRows, kWidthOfRows);
           },
       .reference =
           [&](const auto& x) {
             Doubles result(kRowsOfRows * kWidthOfRows, 0.0);
             const auto add = [&](const Doubles& rows, const auto& numbers) {
               for (size_t i = 0; i < rows.size(); ++i) {
                 const auto row = static_cast<size_t>(numbers[i / kWidthOfRows]);
                 result[row * kWidthOfRows + i % kWidthOfRows] += rows[i];
               }
             };
             add(x[0], first);
             add(x[1], second);
             return result;
           },
       .inputs = {random_tensor({2, kWidthOfRows}, 6), random_tensor({1, kWidthOfRows}, 7)}},
      8);
}

TEST(ChosenSoftmax, SharesOneAmongAllOrAmongTheChosen) {
  const std::vector<int64_t> columns{2, 0, 1, 2, 0, 1};  // two of each of three rows
  for (const ops::SoftmaxOver over : {ops::SoftmaxOver::kAll, ops::SoftmaxOver::kChosen}) {
    const auto reference = [&](const auto& x) {
      Doubles result;
      for (size_t row = 0; row < 3; ++row) {
        double sum = 0;
        for (size_t c = 0; c < 4; ++c) {
          const auto column = static_cast<int64_t>(c);
          const bool chosen = columns[2 * row] == column || columns[2 * row + 1] == column;
          if (chosen || over == ops::SoftmaxOver::kAll) sum += std::exp(x[0][4 * row + c]);
        }
        for (size_t i = 0; i < 2; ++i) {
          result.push_back(std::exp(x[0][4 * row + static_cast<size_t>(columns[2 * row + i])]) /
                           sum);
        }
      }
      return result;
    };
    check_gradients({.op = [&](const auto& x) { return ops::chosen_softmax(x[0], columns, over); },
                     .reference = reference,
                     .inputs = {random_tensor({3, 4}, 9)}},
                    10);
  }
}

}  // namespace
}  // namespace fovea
