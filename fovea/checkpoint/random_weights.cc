#include "fovea/checkpoint/random_weights.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace fovea {
namespace {

// SplitMix64: a good number from every state, so that a name and a seed are enough to begin.
class Generator {
 public:
  explicit Generator(uint64_t state) : state_(state) {}

  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  double uniform() {  // above 0, up to 1
    state_ += 0x9e3779b97f4a7c15;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return (static_cast<double>(bits >> 11) + 1) * 0x1p-53;
  }

  uint64_t state_;
};

uint64_t hash_of(std::string_view name) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

enum class Start { kAsStored, kZero, kOne, kNormal };

bool is_floating(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 ||
         dtype == DType::kF64;
}

Start start_of(const TensorInfo& info) {
  const std::string_view name = info.name;
  const auto holds = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (!is_floating(info.dtype) || info.shape.elements() <= 1) return Start::kAsStored;
  if (name.ends_with("bias") || name.ends_with("beta") || name.ends_with("running_mean")) {
    return Start::kZero;
  }
  if (info.shape.rank() > 1 || holds("embed") || holds("token")) return Start::kNormal;
  return Start::kOne;
}

class RandomSource : public WeightSource {
 public:
  RandomSource(Weights like, const RandomWeights& how) : like_(std::move(like)), how_(how) {
    for (const std::string& name : like_.names()) {
      TensorInfo info = *like_.find(name);
      const bool stays = how_.chosen && !how_.chosen(name);
      starts_.push_back(stays ? Start::kAsStored : start_of(info));
      if (starts_.back() != Start::kAsStored) info.dtype = DType::kF32;
      infos_.push_back(std::move(info));
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  const std::string& file(size_t) const override { return like_.source(); }
  const std::string& name() const override { return like_.source(); }

  Tensor read(size_t index) const override {
    const TensorInfo& info = infos_[index];
    const Start start = starts_[index];
    if (start == Start::kAsStored) return like_.tensor(info.name);
    Tensor tensor = Tensor::uninitialized(info.shape);
    Generator generator(hash_of(info.name) + how_.seed * 0xd1342543de82ef95);
    for (float& value : tensor.mutable_values<float>()) {
      if (start == Start::kNormal) {
        value = static_cast<float>(how_.deviation * generator.normal());
      } else {
        value = start == Start::kOne ? 1 : 0;
      }
    }
    return tensor;
  }

 private:
  Weights like_;
  RandomWeights how_;
  std::vector<TensorInfo> infos_;
  std::vector<Start> starts_;  // one for each
};

}  // namespace

Weights random_weights(const Weights& like, const RandomWeights& how) {
  return Weights(std::make_shared<RandomSource>(like, how));
}

}  // namespace fovea
