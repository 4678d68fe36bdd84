// GGUF files, version 2 and 3: metadata and tensors of a model for llama.cpp, in one file or in
// several that say so ("-00001-of-00003.gguf").
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/checkpoint/ggml_type.h"
#include "fovea/checkpoint/gguf_metadata.h"
#include "fovea/tensor/stored_matrix.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Copies share the mapping and what was read from it. All const members may be called from any
// thread.
class GgufFile {
 public:
  struct Entry {
    std::string name;
    const GgmlType* type = nullptr;
    Shape shape;         // outermost axis first; the file has them the other way round
    uint64_t begin = 0;  // byte range within its file
    uint64_t end = 0;
    size_t part = 0;  // which file of several
  };

  // Checks the whole structure; of several files opens all, whichever of them is named. Throws
  // Error{kBadFile}, or Error{kUnsupported} for other versions, big-endian files and element types
  // that fovea does not read, each by its name, and Error{kNotFound} if a part is missing.
  static GgufFile open(const std::filesystem::path& path);
  // As open, for bytes in memory, which must outlive the object unless `keep_alive` holds them.
  static GgufFile parse(Bytes bytes, std::string_view source,
                        std::shared_ptr<const void> keep_alive = nullptr);

  const std::string& source() const { return source(0); }  // the first part has the metadata
  const std::string& source(size_t part) const { return contents_->parts[part].source; }
  const GgufMetadata& metadata() const { return contents_->parts.front().metadata; }
  const std::vector<Entry>& entries() const { return contents_->entries; }  // in the file's order
  // nullptr if there is no such tensor.
  const Entry* find(std::string_view name) const;
  // Blocks become F32; other types borrow the file where it is aligned. Throws Error{kBadFile} if a
  // block has a scale that is no finite number.
  Tensor tensor(const Entry& entry) const;
  // A matrix of numbers that can be multiplied with, blocks as they are. Throws as tensor() does.
  StoredMatrix matrix(const Entry& entry) const;

 private:
  struct Part {
    std::string source;
    std::shared_ptr<const void> keep_alive;
    Bytes bytes;
    GgufMetadata metadata;
    std::vector<Entry> entries;
  };
  struct Contents {
    std::vector<Part> parts;
    std::vector<Entry> entries;
    std::vector<uint32_t> by_name;  // into entries, sorted
  };
  explicit GgufFile(std::vector<Part> parts);
  static Part read_part(Bytes bytes, std::string_view source,
                        std::shared_ptr<const void> keep_alive);
  Bytes bytes_of(const Entry& entry) const;
  void check_scales(const Entry& entry) const;

  std::shared_ptr<const Contents> contents_;
};

// The tokenizer as the file has it. Text is valid while a copy of the file lives.
struct GgufTokenizer {
  std::string_view model;  // "gpt2" (byte-level BPE), "llama" (SentencePiece), "bert", ...
  std::string_view pre;    // which splitting pattern, "smollm"
  std::vector<std::string_view> tokens;
  std::vector<int64_t> types;  // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
  std::vector<float> scores;
  std::vector<std::string_view> merges;  // "left right"
  std::optional<int64_t> bos_id, eos_id, unknown_id, separator_id, padding_id, cls_id, mask_id;
  std::optional<bool> add_bos, add_eos, add_separator, add_space_prefix;
};

// Nothing if the file has no tokenizer. Throws Error{kBadFile} if its parts do not fit together.
std::optional<GgufTokenizer> read_gguf_tokenizer(const GgufFile& file);

}  // namespace fovea
