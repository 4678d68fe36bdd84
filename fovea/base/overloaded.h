// Makes one visitor of a variant from several lambdas, one for each case.
#pragma once

namespace fovea {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 16 does not deduce it from the aggregate

}  // namespace fovea
