#include "fovea/kernels/dot16.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "fovea/tensor/tensor.h"

namespace fovea {
namespace {

TEST(I16Dot, OfRowsAndAPanelIsExact) {
  if (!has_i16_dot()) GTEST_SKIP() << "this processor has no instruction for it";
  std::mt19937 random(1);
  std::uniform_int_distribution<int> number(-32767, 32767);
  for (const int64_t pairs : {1, 2, 16, 33}) {
    for (const int64_t rows : {1, 2, 5, 11, 12, 13, 25}) {
      SCOPED_TRACE(fmt::format("{} rows of {} pairs", rows, pairs));
      const int64_t stride = 2 * pairs + 6, unit_step = 3;
      // Sums of so few terms fit 32 bits if one of two factors is small.
      Tensor left(Shape{rows * stride}, DType::kI16), panel(Shape{pairs * 32 * 2}, DType::kI16);
      for (int16_t& x : left.mutable_values<int16_t>()) x = static_cast<int16_t>(number(random));
      for (int16_t& x : panel.mutable_values<int16_t>()) {
        x = static_cast<int16_t>(number(random) / 64);
      }
      Tensor units(Shape{rows * unit_step}), column_units(Shape{32}), start(Shape{rows * 64});
      for (float& unit : units.mutable_values<float>()) unit = 0.5F;
      for (size_t c = 0; c < 32; ++c) column_units.mutable_values<float>()[c] = c % 2 ? 2 : 4;
      for (float& x : start.mutable_values<float>()) x = static_cast<float>(number(random));
      for (const int64_t start_step : {0, 64}) {
        Tensor out(Shape{rows, 64});
        i16_dots(
            {left.values<int16_t>().data(), stride, rows, units.values<float>().data(), unit_step},
            {reinterpret_cast<const uint32_t*>(panel.raw()), pairs,
             column_units.values<float>().data()},
            {start.values<float>().data(), start_step}, out.mutable_values<float>().data(), 64);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < 32; ++c) {
            int64_t dot = 0;
            for (int64_t t = 0; t < 2 * pairs; ++t) {
              dot +=
                  int64_t{left.values<int16_t>()[static_cast<size_t>(r * stride + t)]} *
                  int64_t{
                      panel.values<int16_t>()[static_cast<size_t>((t / 2 * 32 + c) * 2 + t % 2)]};
            }
            ASSERT_LE(std::abs(dot), std::numeric_limits<int32_t>::max());
            const double unit = 0.5 * (c % 2 ? 2 : 4);
            const double expected = start.values<float>()[static_cast<size_t>(r * start_step + c)] +
                                    unit * static_cast<double>(dot);
            // Only the result is rounded: the integer to a float, and the sum.
            ASSERT_NEAR(out.matrix<float>()(r, c), expected, 1.3e-7 * std::abs(expected) + 8e-3);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea
