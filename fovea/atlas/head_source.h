// One head's weights wherever they come from: computed from Q, K and LSE, or read where the record
// holds them. AttentionMap reads both alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fovea/capture/attention_record.h"
#include "fovea/kernels/attention_pool.h"
#include "fovea/kernels/attention_tile.h"

namespace fovea {

// The record must outlive the value.
struct HeadSource {
  HeadSource(const AttentionRecord& record, int64_t head);

  bool is_stored() const { return stored.data != nullptr; }
  std::span<const double> lse_of(int64_t row) const {
    return lse.values<double>().subspan(static_cast<size_t>(row));
  }

  int64_t head;
  AttentionInputs inputs;  // of weights that are computed
  Tensor lse;              // f64 [rows] of this head
  HeadsView stored;        // of weights that are not
};

// Rows of the columns [columns.begin, columns.end). Making it costs one pass over these keys. Const
// members may be called from any thread; each runs on the calling thread alone.
class HeadRows {
 public:
  HeadRows(const HeadSource& source, KeyRange columns);

  // out(r, c) = A(row + r, part.begin + c). `part` lies within the columns and begins a multiple of
  // 32 after their start.
  void read(int64_t row, KeyRange part, MatrixView<float> out) const;
  // entropies[r] -= sum over part of A log A of row + r.
  void add_entropy(int64_t row, KeyRange part, std::span<double> entropies) const;
  // s(row + r, part.begin + c). The weights must be computed.
  void read_scores(int64_t row, KeyRange part, MatrixView<float> out) const;

 private:
  const HeadSource& source_;
  std::optional<HeadTiles> tiles_;  // none: the weights are stored
};

// The same rows drawn together in blocks of `bin` columns, as HeadPools does.
class HeadBlocks {
 public:
  HeadBlocks(const HeadSource& source, KeyRange columns);

  // `count` rows from `row` on: max(r / bin, c / bin) takes the larger of itself and A,
  // sum(r / bin, c / bin) += A.
  void add_blocks(int64_t row, int64_t count, int64_t bin, MatrixView<float> max,
                  MatrixView<double> sum) const;
  // The same of each column alone: max(r / bin, c) and sum(r / bin, c), c from the first column on.
  void add_columns(int64_t row, int64_t count, int64_t bin, MatrixView<float> max,
                   MatrixView<float> sum) const;
  // Any rows, each on its own: max(r, c / bin) and sum(r, c / bin) of rows[r].
  void add_rows(std::span<const int64_t> rows, int64_t bin, MatrixView<float> max,
                MatrixView<double> sum) const;

 private:
  const HeadSource& source_;
  KeyRange columns_;
  std::optional<HeadPools> pools_;  // none: the weights are stored
};

}  // namespace fovea
