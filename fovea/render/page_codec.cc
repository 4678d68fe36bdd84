#include "fovea/render/page_codec.h"

#include <algorithm>
#include <cmath>

#include "fovea/io/deflate.h"

namespace fovea {
namespace {

constexpr int64_t kLeastLevels = 1000;
constexpr int64_t kMostLevels = 65000;  // the viewer keeps codes above for what is no weight
constexpr int64_t kStepsPerMean = 5;
constexpr int64_t kFineCells = int64_t{1} << 34;        // levels * cells, as long as that is enough
constexpr int64_t kCodecStripCells = int64_t{1} << 20;  // 4 MB of weights at a time
constexpr double kThumbnailSteps = 65534;

int64_t blocks(int64_t size, int64_t block) {
  return (size + block - 1) / block;
}

// Takes a map row by row.
class MapEncoder {
 public:
  MapEncoder(const Mask& mask, int64_t rows, int64_t cols, int64_t levels)
      : mask_(mask),
        rows_(rows),
        cols_(cols),
        levels_(static_cast<float>(levels)),
        row_block_(thumbnail_block(rows)),
        col_block_(thumbnail_block(cols)),
        thumbnail_cols_(blocks(cols, col_block_)),
        col_sums_(static_cast<size_t>(cols)),
        block_sums_(static_cast<size_t>(blocks(rows, row_block_) * thumbnail_cols_), kUnseen) {}

  void add_row(int64_t row, const float* weights) {
    const KeyRange range = mask_.key_range(row, cols_);
    double sum = 0;
    for (int64_t begin = range.begin; begin < range.end;) {
      const int64_t block = begin / col_block_;
      const int64_t end = std::min(range.end, (block + 1) * col_block_);
      double& shown = block_sums_[static_cast<size_t>(row / row_block_ * thumbnail_cols_ + block)];
      const double before = sum;
      if (mask_.range_only() ? add_cells<false>(row, begin, end, weights, sum)
                             : add_cells<true>(row, begin, end, weights, sum)) {
        shown = std::max(shown, 0.0) + sum - before;
      }
      begin = end;
    }
    row_sums_.push_back(sum);
  }

  // Hands over the codes so far.
  void flush() {
    deflater_.add(as_bytes(codes_));
    codes_.clear();
  }

  EncodedMap finish() {
    flush();
    EncodedMap result;
    const std::vector<float> row_sums = rounded(row_sums_);
    const std::vector<float> col_sums = rounded(col_sums_);
    deflater_.add(std::as_bytes(std::span(row_sums)));
    deflater_.add(std::as_bytes(std::span(col_sums)));
    result.packed = deflater_.finish();
    result.largest = std::max(0.0F, largest_);
    for (size_t i = 0; i < block_sums_.size(); ++i) {
      const int64_t first = static_cast<int64_t>(i) / thumbnail_cols_ * row_block_;
      const auto rows = static_cast<double>(std::min(row_block_, rows_ - first));
      const double share = std::min(block_sums_[i] / rows, 1.0);
      result.thumbnail.push_back(
          share < 0 ? kThumbnailForbidden
                    : static_cast<uint16_t>(std::lround(kThumbnailSteps * std::sqrt(share))));
    }
    return result;
  }

 private:
  static constexpr double kUnseen = -1;  // a block without an allowed cell, as yet

  // Cells [begin, end) of the row; whether one is allowed.
  template <bool kHasHoles>
  bool add_cells(int64_t row, int64_t begin, int64_t end, const float* weights, double& sum) {
    float most = -1;
    for (int64_t col = begin; col < end; ++col) {
      if (kHasHoles && !mask_.allows(row, col)) continue;
      const float weight = weights[col];
      most = std::max(most, weight);
      sum += weight;
      col_sums_[static_cast<size_t>(col)] += weight;
      const auto code = static_cast<unsigned>(std::clamp(weight, 0.0F, 1.0F) * levels_ + 0.5F);
      if (code < kPageEscape) {
        codes_ += static_cast<char>(code);
      } else {
        codes_ += static_cast<char>(kPageEscape);
        codes_ += static_cast<char>(code & 0xff);
        codes_ += static_cast<char>(code >> 8);
      }
    }
    largest_ = std::max(largest_, most);
    return most >= 0;
  }

  static std::vector<float> rounded(const std::vector<double>& sums) {
    std::vector<float> result;
    for (const double sum : sums) result.push_back(static_cast<float>(std::round(sum * 1e4) / 1e4));
    return result;
  }

  const Mask& mask_;
  int64_t rows_;
  int64_t cols_;
  float levels_;
  int64_t row_block_;
  int64_t col_block_;
  int64_t thumbnail_cols_;
  std::vector<double> row_sums_;
  std::vector<double> col_sums_;
  std::vector<double> block_sums_;
  float largest_ = -1;
  std::string codes_;
  Deflater deflater_;
};

}  // namespace

int64_t page_levels(int64_t cols, int64_t cells) {
  const int64_t least = std::max(kLeastLevels, kStepsPerMean * cols);
  return std::min(kMostLevels, std::max(least, kFineCells / std::max<int64_t>(cells, 1)));
}

int64_t thumbnail_block(int64_t size) {
  return std::max<int64_t>(1, blocks(size, kThumbnailSide));
}

EncodedMap encode_map(const AttentionMap& map, int64_t levels) {
  MapEncoder encoder(map.record().rule.mask, map.rows(), map.cols(), levels);
  const int64_t strip = std::max<int64_t>(1, kCodecStripCells / std::max<int64_t>(map.cols(), 1));
  for (int64_t begin = 0; begin < map.rows(); begin += strip) {
    const int64_t end = std::min(map.rows(), begin + strip);
    const Tensor tile = map.tile({begin, end, 0, map.cols()});
    const auto weights = tile.matrix<float>();
    for (int64_t row = begin; row < end; ++row) encoder.add_row(row, weights.row(row - begin));
    encoder.flush();
  }
  return encoder.finish();
}

int64_t allowed_cells(const Mask& mask, int64_t rows, int64_t cols) {
  // valid[j]: how many of the first j keys are no padding.
  std::vector<int64_t> valid(static_cast<size_t>(cols) + 1);
  for (size_t col = 0; col < static_cast<size_t>(cols); ++col) {
    valid[col + 1] = valid[col] + (mask.key_valid.empty() || mask.key_valid[col] != 0);
  }
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const KeyRange range = mask.key_range(row, cols);
    if (range.end <= range.begin) continue;
    if (mask.key_group.empty()) {
      count += valid[static_cast<size_t>(range.end)] - valid[static_cast<size_t>(range.begin)];
      continue;
    }
    for (int64_t col = range.begin; col < range.end; ++col) count += mask.allows(row, col);
  }
  return count;
}

std::string to_base64(Bytes bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t b = 0; b < 3; ++b) {
      group = group << 8 | (b < count ? std::to_integer<uint32_t>(bytes[i + b]) : 0);
    }
    for (size_t digit = 0; digit <= count; ++digit) {
      *out++ = kDigits[group >> (18 - 6 * digit) & 63];
    }
    out += 3 - count;
  }
  return text;
}

}  // namespace fovea
