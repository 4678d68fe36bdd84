#include "fovea/capture/array_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/array_file.h"

namespace fovea {
namespace {

// Beyond these an array is no attention, and a run of it would not fit into memory.
constexpr int64_t kMostLayers = 4096;
constexpr int64_t kMostHeads = 4096;
constexpr int64_t kMostPositions = int64_t{1} << 22;

// Messages about an array begin so.
std::string name_in(const std::filesystem::path& path, const std::string& array) {
  return array.empty() ? path.string() : fmt::format("{}: {}", path.string(), quote_name(array));
}

// One array as [layers, heads, rows, columns]. Throws for any other.
Tensor in_layers(const Tensor& array, const std::string& where) {
  std::vector<int64_t> sizes = array.shape().sizes();
  // The batch of one that many programs leave in.
  if (sizes.size() == 5 && sizes[1] == 1) sizes.erase(sizes.begin() + 1);
  if (sizes.size() < 2 || sizes.size() > 4) {
    fail(ErrorKind::kBadFile,
         "{}: has shape {} but weights are [rows, columns], [heads, rows, columns] or [layers, "
         "heads, rows, columns]; take one input of a batch",
         where, shorten(to_string(array.shape()), 80));
  }
  const DType dtype = array.dtype();
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16 &&
      dtype != DType::kF64) {
    fail(ErrorKind::kBadFile, "{}: holds {} but weights are F32, F16, BF16 or F64", where,
         dtype_name(dtype));
  }
  if (array.empty()) {
    fail(ErrorKind::kBadFile, "{}: has shape {}, which holds nothing", where,
         shorten(to_string(array.shape()), 80));
  }
  sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
  if (sizes[0] > kMostLayers || sizes[1] > kMostHeads ||
      std::max(sizes[2], sizes[3]) > kMostPositions) {
    fail(ErrorKind::kBadFile,
         "{}: has shape {} but there may be {} layers of {} heads and {} positions at most", where,
         shorten(to_string(array.shape()), 80), kMostLayers, kMostHeads, kMostPositions);
  }
  return array.reshaped(Shape(std::move(sizes)));
}

// [heads, rows, columns] of one layer, where it lies.
Tensor layer_of(const Tensor& layers, int64_t layer) {
  const Shape shape{layers.size(1), layers.size(2), layers.size(3)};
  const size_t bytes = static_cast<size_t>(shape.elements()) * dtype_bytes(layers.dtype());
  return Tensor::borrow(shape, layers.dtype(), layers.raw() + static_cast<size_t>(layer) * bytes,
                        std::make_shared<const Tensor>(layers));
}

// Rows look at positions of their own kind.
bool looks_at_itself(SiteKind kind) {
  return kind != SiteKind::kCross && kind != SiteKind::kPool && kind != SiteKind::kPanoptic;
}

// What fovea's own runs call the axes.
ArrayFile::AxisNames usual_axes(SiteKind kind) {
  switch (kind) {
    case SiteKind::kEncoderSelf:
      return {"source", "source"};
    case SiteKind::kDecoderSelf:
      return {"target", "target"};
    case SiteKind::kCross:
      return {"target", "source"};
    case SiteKind::kVisionSelf:
      return {"patches", "patches"};
    case SiteKind::kPool:
      return {"pool", "patches"};
    case SiteKind::kPanoptic:
      return {"queries", "cells"};
    default:
      return {"tokens", "tokens"};
  }
}

class ArrayRunMaker {
 public:
  ArrayRunMaker(const std::filesystem::path& path, ArrayFile file, const ArrayOptions& options)
      : path_(path), options_(options), file_(std::move(file)) {}

  ArrayRun make() {
    result_.facts.file = path_.filename().string();
    result_.run.model = file_.model.empty() ? result_.facts.file : file_.model;
    result_.run.model_hash = file_.model_hash;
    for (const NamedTensor& array : file_.arrays) add_array(array);
    std::ranges::sort(records_, {}, &AttentionRecord::site);
    for (const AttentionRecord& record : records_) add_axes(record);
    set_labels();
    set_masks();
    for (AttentionRecord& record : records_) {
      result_.run.records.push_back(std::make_shared<const AttentionRecord>(std::move(record)));
    }
    result_.facts.types = fmt::format("{}", fmt::join(types_, ", "));
    return std::move(result_);
  }

 private:
  void add_array(const NamedTensor& array) {
    const std::string where = name_in(path_, array.name);
    const Tensor layers = in_layers(array.tensor, where);
    const std::optional<SiteId> named = find_site(array.name);
    if (named && layers.size(0) > 1) {
      fail(ErrorKind::kBadFile,
           "{}: has shape {} but is one layer by its name, [heads, rows, columns]", where,
           to_string(array.tensor.shape()));
    }
    const SiteKind kind = named ? named->kind : kind_of(layers);
    const auto axes = file_.axes.find(array.name);
    const ArrayFile::AxisNames names = axes != file_.axes.end() ? axes->second : usual_axes(kind);
    if (names.rows == names.cols && layers.size(2) != layers.size(3)) {
      fail(ErrorKind::kBadFile,
           "{}: has {} rows and {} columns but {} is of one and the same positions", where,
           layers.size(2), layers.size(3), name_of(kind));
    }
    types_.insert(dtype_name(layers.dtype()));
    for (int64_t layer = 0; layer < layers.size(0); ++layer) {
      AttentionRecord record;
      record.site = named ? *named : SiteId{kind, static_cast<int>(layer)};
      if (!sites_.insert(record.site).second) {
        fail(ErrorKind::kBadFile, "{}: two arrays are {}; choose one", path_.string(),
             to_string(record.site));
      }
      record.row_axis = names.rows;
      record.col_axis = names.cols;
      record.weights = layer_of(layers, layer);
      const WeightScan scan = scan_weights(
          record.weights, layers.size(0) == 1 ? where : fmt::format("{}: layer {}", where, layer));
      result_.facts.scan.add(scan);
      const auto [zero, first] = zero_above_.emplace(kind, true);
      zero->second = zero->second && scan.zero_above;
      records_.push_back(std::move(record));
    }
  }

  // Of an array whose name says nothing.
  SiteKind kind_of(const Tensor& layers) const {
    const auto rows = file_.labels.find(kRowLabels), cols = file_.labels.find(kColLabels);
    const bool differ =
        rows != file_.labels.end() && cols != file_.labels.end() && rows->second != cols->second;
    const bool square = layers.size(2) == layers.size(3);
    return square && !differ && !options_.col_labels ? SiteKind::kSelf : SiteKind::kCross;
  }

  void add_axes(const AttentionRecord& record) {
    const AttentionShape shape = record.shape();
    add_axis(record, record.row_axis, shape.rows, kRowLabels);
    add_axis(record, record.col_axis, shape.cols, kColLabels);
  }

  void add_axis(const AttentionRecord& record, const std::string& name, int64_t count,
                std::string_view side) {
    if (const Axis* axis = result_.run.find_axis(name)) {
      const auto known = std::ssize(axis->positions);
      if (known == count) return;
      fail(ErrorKind::kBadFile, Field{"array"},
           "{}: {} has {} {} but another array has {} of the same; choose one of them",
           path_.string(), to_string(record.site), count, side, known);
    }
    Axis axis{.name = name};
    axis.positions.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      axis.positions[static_cast<size_t>(i)].text = fmt::format("{}", i);
    }
    auto labels = file_.labels.find(name);
    if (labels == file_.labels.end()) labels = file_.labels.find(side);
    if (labels != file_.labels.end() && std::ssize(labels->second) == count) {
      name_positions(axis, labels->second);
    }
    result_.run.axes.push_back(std::move(axis));
  }

  static void name_positions(Axis& axis, const std::vector<std::string>& labels) {
    for (size_t i = 0; i < labels.size(); ++i) axis.positions[i].text = labels[i];
  }

  void set_labels() {
    const auto crossing = std::ranges::find_if(
        records_, [](const AttentionRecord& record) { return record.row_axis != record.col_axis; });
    const AttentionRecord& record = crossing == records_.end() ? records_.front() : *crossing;
    const bool crosses = crossing != records_.end();
    if (!crosses && result_.run.axes.size() > 1 && options_.labels) {
      fail(ErrorKind::kBadFile, Field{"labels"},
           "{} has maps of {} kinds of positions; choose one `array`", path_.string(),
           result_.run.axes.size());
    }
    if (options_.col_labels && !crosses) {
      fail(ErrorKind::kBadFile, Field{"col_labels"},
           "rows and columns of {} are the same positions; leave it out", to_string(record.site));
    }
    take_labels("labels", options_.labels, record.row_axis, crosses ? "rows" : "positions");
    take_labels("col_labels", options_.col_labels, record.col_axis, "columns");
  }

  void take_labels(std::string_view field, const std::optional<std::vector<std::string>>& labels,
                   const std::string& axis_name, std::string_view what) {
    if (!labels) return;
    Axis& axis = *std::ranges::find(result_.run.axes, axis_name, &Axis::name);
    if (labels->size() != axis.positions.size()) {
      fail(ErrorKind::kBadFile, Field{field}, "there are {} labels but {} {}", labels->size(),
           axis.positions.size(), what);
    }
    name_positions(axis, *labels);
  }

  void set_masks() {
    for (AttentionRecord& record : records_) {
      const bool of_itself = looks_at_itself(record.site.kind) && record.shape().rows > 1;
      if (!of_itself || !zero_above_[record.site.kind]) continue;
      record.rule.mask = Mask::causal();
      result_.facts.causal = true;
    }
  }

  const std::filesystem::path path_;
  const ArrayOptions& options_;
  ArrayFile file_;
  ArrayRun result_;
  std::vector<AttentionRecord> records_;
  std::set<SiteId> sites_;
  std::set<std::string_view> types_;
  std::map<SiteKind, bool> zero_above_;  // in every layer
};

}  // namespace

std::vector<std::string> ArrayFacts::notes() const {
  if (scan.not_one == 0) return {};
  return {fmt::format("{} of {} rows of {} do not sum to 1; sums are from {:.4g} to {:.4g}",
                      scan.not_one, scan.rows, quote_name(file), scan.least_sum, scan.most_sum)};
}

ArrayRun open_arrays(const std::filesystem::path& path, const ArrayOptions& options) {
  return ArrayRunMaker(path, read_array_file(path, options.array), options).make();
}

ArrayRun open_arrays(Bytes bytes, const std::string& name, std::string_view suffix,
                     std::shared_ptr<const void> keep_alive, const ArrayOptions& options) {
  ArrayFile file = parse_array_file(bytes, name, suffix, std::move(keep_alive), options.array);
  return ArrayRunMaker(name, std::move(file), options).make();
}

}  // namespace fovea
