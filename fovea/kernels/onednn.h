// Private to this folder: what matmul and convolution share of oneDNN. The differences between its
// versions 2.6 and 3.x are in onednn.cc and nowhere else.
#pragma once

#include <dnnl.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/kernels/activation.h"

namespace fovea::onednn {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;
inline constexpr auto kF32 = dnnl::memory::data_type::f32;

const dnnl::engine& cpu();

// Runs `work` where oneDNN's threads are those of the team, turning its exception into
// Error{kInternal} that names what was being done. Work asks for thread_count() within, not before.
template <typename Work>
auto guarded(const char* what, const Work& work) -> decltype(work()) {
  try {
    return run_on_free_team(work);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) {
      fail(ErrorKind::kOutOfMemory, "there is no memory for the {}; use a smaller input", what);
    }
    fail(ErrorKind::kInternal, "oneDNN could not do the {}: {} (status {}); please report this",
         what, error.what(), static_cast<int>(error.status));
  }
}

// Memory that someone else owns, for one call. oneDNN has no const, so inputs lose theirs here.
dnnl::memory wrap(const Desc& desc, const void* data);

// Attributes that every primitive here has: the caller gives the scratch memory, so that one
// primitive may run in several threads at once.
dnnl::primitive_attr make_attributes(const dnnl::post_ops& post_ops = {});
void append_activation(dnnl::post_ops& post_ops, Activation activation);

using Arguments = std::unordered_map<int, dnnl::memory>;
// Executes and waits; begins nothing once the caller is cancelled.
void execute(const dnnl::primitive& primitive, const Desc& scratchpad, Arguments arguments);
// Copies with a change of layout or type.
void reorder(const Desc& from_desc, const void* from, const Desc& to_desc, void* to);

// `bias` may be null.
dnnl::matmul::primitive_desc matmul_desc(const Desc& source, const Desc& weights, const Desc* bias,
                                         const Desc& destination, const dnnl::primitive_attr& attr);

struct ConvDescs {
  dnnl::prop_kind kind = dnnl::prop_kind::forward_inference;  // or _training, for gradients
  Desc source;
  Desc weights;
  Desc destination;
  const Desc* bias = nullptr;
  Dims strides, dilations, padding;  // dilations as oneDNN counts them: 0 is dense
};
dnnl::convolution_forward::primitive_desc conv_forward_desc(const ConvDescs& descs,
                                                            const dnnl::primitive_attr& attr);
dnnl::convolution_backward_data::primitive_desc conv_input_gradient_desc(
    const ConvDescs& descs, const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr);

struct PoolDescs {
  Desc source, destination;
  Dims strides, kernel, padding;
};
dnnl::pooling_forward::primitive_desc max_pool_desc(const PoolDescs& descs,
                                                    const dnnl::primitive_attr& attr);

// The few values that were asked for last. `make` runs outside the lock, so two threads may both
// make the same value; the spare one ages out.
template <typename Key, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t capacity) : capacity_(capacity) {}

  template <typename Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) {
    if (auto found = find(key)) return found;
    auto made = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    entries_.emplace_front(key, made);
    if (entries_.size() > capacity_) entries_.pop_back();
    return made;
  }

 private:
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!(entry->first == key)) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entries_.front().second;
    }
    return nullptr;
  }
  size_t capacity_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const Value>>> entries_;
};

}  // namespace fovea::onednn
