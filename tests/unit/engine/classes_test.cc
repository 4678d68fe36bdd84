#include "fovea/engine/classes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea {
namespace {

TEST(ClassName, IsTheLabelOrTheNumber) {
  EXPECT_EQ(class_name({"cat", "dog"}, 1), "dog");
  EXPECT_EQ(class_name({"cat", "dog"}, 2), "class 2");
  EXPECT_EQ(class_name({}, 0), "class 0");
}

TEST(ObjectClass, IsNeverNoObjectButCountsIt) {
  const std::vector<float> logits{1, 3, 9};
  const ObjectClass found = object_class(logits);
  EXPECT_EQ(found.label, 1);
  EXPECT_NEAR(found.probability, std::exp(3) / (std::exp(1) + std::exp(3) + std::exp(9)), 1e-15);
  const std::vector<float> alike{2, 2, 2, 0};
  EXPECT_EQ(object_class(alike).label, 0) << "the first of several";
}

}  // namespace
}  // namespace fovea
