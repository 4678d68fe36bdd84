// How much the output would change at first if a head were turned down (Michel, Levy & Neubig 2019,
// arXiv:1905.10650). It is the gradient with respect to a gate of 1 on the head's output.
//
//   I_h = | dy / d gate_h | = | sum over rows i of O_h,i . dO_h,i |
#pragma once

#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"

namespace fovea {

// One number per head. Throws Error{kInvalidArgument} if the record has no output or no gradient.
std::vector<double> head_importance(const AttentionRecord& record);

// Divides the heads of one layer by their L2 norm. If all are 0, they stay 0.
void normalise_layer(std::span<double> heads);

}  // namespace fovea
