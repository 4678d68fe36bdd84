// The largest flow through a network of pipes, in whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fovea {

// Dinic's algorithm. Capacities are 0 or more; the sum of those out of one node fits into 63 bits.
class FlowNetwork {
 public:
  explicit FlowNetwork(int64_t nodes) : edges_of_(static_cast<size_t>(nodes)) {}

  void add_edge(int64_t from, int64_t to, int64_t capacity);
  // The largest flow; each call begins with empty pipes. 0 if no way leads to the sink, or if it is
  // the source.
  int64_t max_flow(int64_t source, int64_t sink);

 private:
  struct Edge {
    int64_t to = 0;
    int64_t capacity = 0;
    int64_t left = 0;
  };
  bool find_levels(int64_t source, int64_t sink);
  int64_t push(int64_t node, int64_t sink, int64_t most);

  std::vector<Edge> edges_;  // edge e; its reverse is edge e ^ 1
  std::vector<std::vector<int64_t>> edges_of_;
  std::vector<int64_t> level_;
  std::vector<size_t> next_;  // each node's first edge that may still carry flow
};

}  // namespace fovea
