// Statistics of a corpus, added up in an order that does not depend on who counted what. Inputs of
// a chunk are added in order, chunks of a group in order, and groups in order. So several threads
// or processes get the bits of one, and what is kept of a billion inputs is a few rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/corpus_statistics.h"

namespace fovea {

class ChunkedStatistics {
 public:
  static constexpr int64_t kChunkInputs = 128;
  static constexpr int64_t kGroupChunks = 64;
  static int64_t chunk_of(int64_t input) { return input / kChunkInputs; }

  // The sums of the chunk that the input belongs to. Call it for every input, also for one that
  // adds nothing, in order.
  CorpusStatistics& at(int64_t input);
  // Adds what was counted elsewhere. Throws Error{kInvalidArgument} if both hold a part of one
  // chunk, and is then as it was.
  void merge(ChunkedStatistics other);
  CorpusStatistics total() const;

  Json to_json() const;
  // Throws Error{kBadFile} naming `where`.
  static ChunkedStatistics from_json(const Json& json, const std::string& where);

 private:
  struct Group {
    int64_t chunks = 0;  // the first so many are in `sums`
    CorpusStatistics sums;
    std::map<int64_t, CorpusStatistics> later;  // by the chunk's place in the group
  };
  struct Chunk {
    int64_t number = 0;
    int64_t next = 0;  // the input after those that are in it
    CorpusStatistics sums;

    bool complete() const { return next == (number + 1) * kChunkInputs; }
  };

  bool holds(int64_t chunk) const;
  std::vector<int64_t> later_chunks() const;
  void add(Chunk chunk);
  void add_group(int64_t number, Group group);
  void close();
  void fold();

  int64_t groups_ = 0;  // the first so many are in `sums_`
  CorpusStatistics sums_;
  std::map<int64_t, Group> later_;
  std::optional<Chunk> open_;  // the one that is being counted
};

}  // namespace fovea
