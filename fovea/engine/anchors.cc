#include "fovea/engine/anchors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/kernels/matmul.h"
#include "fovea/ops/embedding.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower;
  for (size_t offset = 0; offset < text.size();) {
    bool valid = false;
    const Character character = checked_character_at(text, offset, valid);
    if (valid) {
      append_utf8(lower, to_lower(character.code));
    } else {
      lower += text[offset];
    }
    offset += character.bytes;
  }
  return lower;
}

std::vector<int64_t> places_of_text(const TokenRow& row) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < row.positions.size(); ++i) {
    if (!row.positions[i].special) places.push_back(static_cast<int64_t>(i));
  }
  return places;
}

// Where each token stands, of those that occur once.
std::map<std::string, int64_t> single_tokens(const TokenRow& row) {
  std::map<std::string, std::vector<int64_t>> places;
  for (const int64_t place : places_of_text(row)) {
    places[lower_case(row.positions[static_cast<size_t>(place)].text)].push_back(place);
  }
  std::map<std::string, int64_t> singles;
  for (const auto& [token, where] : places) {
    if (where.size() == 1) singles[token] = where.front();
  }
  return singles;
}

// Rows of the table, each of length 1 (0 stays 0).
Tensor directions(const StoredMatrix& table, const TokenRow& row, std::span<const int64_t> places) {
  std::vector<int64_t> ids;
  for (const int64_t place : places) ids.push_back(row.ids[static_cast<size_t>(place)]);
  Tensor rows = ops::embedding(table, ids);
  const auto matrix = rows.mutable_matrix<float>();
  for (int64_t i = 0; i < matrix.rows; ++i) {
    double square = 0;
    for (int64_t j = 0; j < matrix.cols; ++j) square += double{matrix(i, j)} * matrix(i, j);
    const auto factor = static_cast<float>(1 / std::max(std::sqrt(square), 1e-12));
    for (int64_t j = 0; j < matrix.cols; ++j) matrix(i, j) *= factor;
  }
  return rows;
}

void add_neighbours(std::vector<Link>& anchors, const TokenRow& source, const TokenRow& target,
                    const StoredMatrix& table) {
  const std::vector<int64_t> sources = places_of_text(source);
  const std::vector<int64_t> targets = places_of_text(target);
  if (sources.empty() || targets.empty()) return;
  const Tensor left = directions(table, target, targets);
  const Tensor right = directions(table, source, sources);
  Tensor cosines = Tensor::uninitialized({left.size(0), right.size(0)});
  matmul(left.matrix<float>(), right.matrix<float>(), cosines.mutable_matrix<float>(),
         {.transpose_b = true});
  const auto cosine = cosines.matrix<float>();
  for (int64_t j = 0; j < cosine.rows; ++j) {
    int64_t nearest = 0;
    for (int64_t i = 1; i < cosine.cols; ++i) {
      if (cosine(j, i) > cosine(j, nearest)) nearest = i;
    }
    int64_t back = 0;
    for (int64_t k = 1; k < cosine.rows; ++k) {
      if (cosine(k, nearest) > cosine(back, nearest)) back = k;
    }
    if (back == j) {
      anchors.push_back({sources[static_cast<size_t>(nearest)], targets[static_cast<size_t>(j)]});
    }
  }
}

}  // namespace

Alignment piece_anchors(const TokenRow& source, const TokenRow& target,
                        const StoredMatrix& shared_words) {
  FOVEA_ASSERT(source.positions.size() == source.ids.size());
  FOVEA_ASSERT(target.positions.size() == target.ids.size());
  std::vector<Link> anchors;
  const std::map<std::string, int64_t> targets = single_tokens(target);
  for (const auto& [token, place] : single_tokens(source)) {
    const auto same = targets.find(token);
    if (same != targets.end()) anchors.push_back({place, same->second});
  }
  if (!shared_words.empty()) add_neighbours(anchors, source, target, shared_words);
  return sorted_links(std::move(anchors));
}

}  // namespace fovea
