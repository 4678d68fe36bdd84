#include "fovea/explain/max_flow.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {

void FlowNetwork::add_edge(int64_t from, int64_t to, int64_t capacity) {
  FOVEA_ASSERT(capacity >= 0);
  edges_of_[static_cast<size_t>(from)].push_back(static_cast<int64_t>(edges_.size()));
  edges_.push_back({.to = to, .capacity = capacity});
  edges_of_[static_cast<size_t>(to)].push_back(static_cast<int64_t>(edges_.size()));
  edges_.push_back({.to = from, .capacity = 0});
}

bool FlowNetwork::find_levels(int64_t source, int64_t sink) {
  level_.assign(edges_of_.size(), -1);
  level_[static_cast<size_t>(source)] = 0;
  std::vector<int64_t> queue{source};
  for (size_t head = 0; head < queue.size(); ++head) {
    const auto node = static_cast<size_t>(queue[head]);
    for (const int64_t e : edges_of_[node]) {
      const Edge& edge = edges_[static_cast<size_t>(e)];
      int64_t& level = level_[static_cast<size_t>(edge.to)];
      if (edge.left == 0 || level >= 0) continue;
      level = level_[node] + 1;
      if (edge.to == sink) return true;
      queue.push_back(edge.to);
    }
  }
  return false;
}

// The recursion is as deep as there are levels: the layers of a model, and a few more on the way
// back.
int64_t FlowNetwork::push(int64_t node, int64_t sink, int64_t most) {
  if (node == sink) return most;
  const auto here = static_cast<size_t>(node);
  int64_t pushed = 0;
  for (size_t& at = next_[here]; at < edges_of_[here].size(); ++at) {
    const auto e = static_cast<size_t>(edges_of_[here][at]);
    const int64_t to = edges_[e].to;
    if (edges_[e].left == 0 || level_[static_cast<size_t>(to)] != level_[here] + 1) continue;
    const int64_t flow = push(to, sink, std::min(most - pushed, edges_[e].left));
    edges_[e].left -= flow;
    edges_[e ^ 1].left += flow;
    pushed += flow;
    // This edge may carry more next time.
    if (pushed == most) return pushed;
  }
  return pushed;
}

int64_t FlowNetwork::max_flow(int64_t source, int64_t sink) {
  if (source == sink) return 0;
  for (Edge& edge : edges_) edge.left = edge.capacity;
  int64_t flow = 0;
  while (find_levels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    flow += push(source, sink, std::numeric_limits<int64_t>::max());
  }
  return flow;
}

}  // namespace fovea
