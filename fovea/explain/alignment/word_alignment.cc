#include "fovea/explain/alignment/word_alignment.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// A word may have no piece at all, but a number far beyond the pieces is no count of words.
constexpr int64_t kMostEmptyWords = 4096;

void check_fit(const Matrix& weights, const PieceWords& source, const PieceWords& target) {
  if (weights.rows() == target.pieces() && weights.cols() == source.pieces()) return;
  fail(ErrorKind::kInvalidArgument,
       "the weights are {} but there are {} target pieces and {} source pieces", to_string(weights),
       target.pieces(), source.pieces());
}

// The largest weight of a row on a special position; 0 if there is none.
double largest_special(std::span<const double> row, const PieceWords& source) {
  double largest = 0;
  for (size_t j = 0; j < row.size(); ++j) {
    if (source.word[j] < 0) largest = std::max(largest, row[j]);
  }
  return largest;
}

std::vector<double> pieces_per_word(const PieceWords& pieces) {
  std::vector<double> counts(static_cast<size_t>(pieces.words), 0.0);
  for (const int64_t word : pieces.word) {
    if (word >= 0) counts[static_cast<size_t>(word)] += 1;
  }
  return counts;
}

}  // namespace

std::vector<int64_t> kept_positions(const PieceWords& pieces) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < pieces.pieces(); ++i) {
    if (pieces.word[static_cast<size_t>(i)] >= 0) kept.push_back(i);
  }
  return kept;
}

PieceWords PieceWords::from(std::vector<int64_t> word) {
  PieceWords pieces{std::move(word), 0};
  for (const int64_t entry : pieces.word) {
    if (entry < -1 || entry >= pieces.pieces() + kMostEmptyWords) {
      fail(ErrorKind::kInvalidArgument,
           "a piece belongs to word {} but there are only {} pieces; words count from 0, and -1 "
           "stands for none",
           entry, pieces.pieces());
    }
    pieces.words = std::max(pieces.words, entry + 1);
  }
  return pieces;
}

PieceWords PieceWords::of(const Axis& axis) {
  std::vector<int64_t> word;
  for (const Position& position : axis.positions) {
    word.push_back(position.special ? -1 : position.word);
  }
  return from(std::move(word));
}

SoftAlignment piece_weights(const Matrix& weights, const PieceWords& source,
                            const PieceWords& target) {
  check_fit(weights, source, target);
  const std::vector<int64_t> rows = kept_positions(target);
  const std::vector<int64_t> cols = kept_positions(source);
  SoftAlignment soft{Matrix(static_cast<int64_t>(rows.size()), static_cast<int64_t>(cols.size())),
                     {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < cols.size(); ++j) {
      soft.weights(static_cast<int64_t>(i), static_cast<int64_t>(j)) = weights(rows[i], cols[j]);
    }
    soft.elsewhere.push_back(largest_special(weights.row(rows[i]), source));
  }
  return soft;
}

SoftAlignment word_weights(const Matrix& weights, const PieceWords& source,
                           const PieceWords& target) {
  check_fit(weights, source, target);
  const std::vector<double> counts = pieces_per_word(target);
  // Special positions are columns of their own, after the words, until the pieces are averaged.
  Matrix merged(target.words, source.words + source.pieces());
  for (int64_t i = 0; i < target.pieces(); ++i) {
    const int64_t row = target.word[static_cast<size_t>(i)];
    if (row < 0) continue;
    for (int64_t j = 0; j < source.pieces(); ++j) {
      const int64_t word = source.word[static_cast<size_t>(j)];
      merged(row, word >= 0 ? word : source.words + j) +=
          weights(i, j) / counts[static_cast<size_t>(row)];
    }
  }
  SoftAlignment soft{slice_columns(merged, 0, source.words), {}};
  for (int64_t i = 0; i < merged.rows(); ++i) {
    const auto specials = merged.row(i).subspan(static_cast<size_t>(source.words));
    soft.elsewhere.push_back(largest_special(specials, source));
  }
  return soft;
}

Alignment word_links(const Matrix& weights, const PieceWords& source, const PieceWords& target,
                     WordConvention convention, const LinkRule& rule) {
  if (convention == WordConvention::kMerge) {
    return hard_links(word_weights(weights, source, target), rule);
  }
  const std::vector<int64_t> sources = kept_positions(source);
  const std::vector<int64_t> targets = kept_positions(target);
  std::vector<Link> links;
  for (const Link& piece : hard_links(piece_weights(weights, source, target), rule)) {
    const int64_t from = sources[static_cast<size_t>(piece.source)];
    const int64_t to = targets[static_cast<size_t>(piece.target)];
    links.push_back({source.word[static_cast<size_t>(from)], target.word[static_cast<size_t>(to)]});
  }
  return sorted_links(std::move(links));
}

}  // namespace fovea
