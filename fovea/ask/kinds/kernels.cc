// Each head as a kernel over relative offsets, as of a convolution.
#include "fovea/ask/picture_results.h"

namespace fovea {
namespace {

Answer answer_kernels(const Question& question, const FinishedRun& run) {
  const Place& place = question.place;
  KernelOptions options;
  if (const auto radius = question.number("radius")) options.radius = static_cast<int64_t>(*radius);
  const HeadKernels heads = head_kernels(run.run(), place.all_layers, place.layer, options);
  return picture_answer(kernels_figure(run.run(), heads),
                        place.all_layers ? place_facts(run.run(), heads.site.kind, HeadChoice{})
                                         : place_facts(heads.site, HeadChoice{}),
                        kernels_json(heads.kernels), question, run);
}

}  // namespace

QuestionKind kernels_question() {
  return about_picture(
      {.name = "kernels",
       .summary = "each head as a kernel over relative offsets, as of a convolution",
       .fields = {layer_field(/*all_layers=*/true),
                  {.name = "radius",
                   .shown = "R",
                   .help = "of a kernel, in patches",
                   .type = FieldType::kInteger,
                   .low = 0,
                   .otherwise = "a quarter of the grid"}},
       .answer = answer_kernels});
}

}  // namespace fovea
