// A run made of arrays of attention weights that another program computed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/capture/run.h"
#include "fovea/capture/weight_scan.h"

namespace fovea {

// What a person says of arrays beside the file.
struct ArrayOptions {
  std::optional<std::string> array;  // which array of several
  // The names of rows, and of columns where these are something else.
  std::optional<std::vector<std::string>> labels;
  std::optional<std::vector<std::string>> col_labels;
};

struct ArrayFacts {
  std::string file;   // its name without the folder
  std::string types;  // of the numbers: "F32"
  WeightScan scan;    // of all arrays
  // Nothing lies above the diagonal of self-attention, which then counts as not allowed.
  bool causal = false;

  // What the user should know; empty: nothing.
  std::vector<std::string> notes() const;
};

struct ArrayRun {
  Run run;
  ArrayFacts facts;
};

// One array has the shape [rows, columns], [heads, rows, columns], [layers, heads, rows, columns],
// or the last with a batch of one behind the layers. A square array is self-attention; another, or
// one with labels for its columns, is cross-attention. Several arrays are named as sites are, and
// each is a layer of its site. Every number is read once. Throws what read_array_file() and
// scan_weights() throw, and Error{kBadFile} for shapes and labels that do not fit.
ArrayRun open_arrays(const std::filesystem::path& path, const ArrayOptions& options = {});
// The same of bytes in memory, as parse_array_file() takes them.
ArrayRun open_arrays(Bytes bytes, const std::string& name, std::string_view suffix,
                     std::shared_ptr<const void> keep_alive, const ArrayOptions& options = {});

}  // namespace fovea
