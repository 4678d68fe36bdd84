#include "fovea/capture/subject.h"

namespace fovea {

SubjectGradient Subject::gradient(const GradientRequest&) {
  fail(ErrorKind::kUnsupported,
       "this run has no model behind it that gradients could be taken of; run the model instead");
}

}  // namespace fovea
