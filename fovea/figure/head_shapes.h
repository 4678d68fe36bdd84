// How the heads of a picture's layers look, independent of the picture: at which offsets, and how
// far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/pictures/attention_distance.h"
#include "fovea/explain/pictures/offset_kernel.h"
#include "fovea/figure/figure.h"

namespace fovea {

struct NamedKernel {
  std::string title;  // "head 3"
  OffsetKernel kernel;
};

// The heads of one layer (without a number, the last), or of all layers.
struct HeadKernels {
  SiteId site;  // the first of them
  int64_t heads = 0;
  bool all_layers = false;
  std::vector<NamedKernel> kernels;
};
HeadKernels head_kernels(const Run& run, bool all_layers, std::optional<int64_t> layer,
                         const KernelOptions& options);
KernelsFigure kernels_figure(const Run& run, const HeadKernels& heads);

// Shows nine heads that were built to be a 3 x 3 convolution of pixels. `difference` is the largest
// between their mix and the convolution, inside of the border.
KernelsFigure convolution_figure(const Run& run, const std::vector<NamedKernel>& kernels,
                                 GridShape pixels, double difference);

// The mean distance of every head of every layer. `side` is that of a patch, in pixels of the
// model's input.
DotsFigure distances_figure(const Run& run, DistanceForm form, int64_t side);

}  // namespace fovea
