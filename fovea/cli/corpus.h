// Many inputs: the lines of a text file, or the files of a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/many/inputs.h"
#include "fovea/base/file.h"
#include "fovea/cli/parallel_text.h"

namespace fovea {

class Corpus {
 public:
  // Of texts: a file with one on each line that is not blank, or a folder of .txt files, one text
  // each. Throws Error{kNotFound}, Error{kIo} and, where there is no text, Error{kBadFile}.
  static Corpus of_texts(const std::filesystem::path& path);
  // A corpus of texts and their translations, line by line. Throws as ParallelText does.
  static Corpus of_pairs(const std::filesystem::path& sources,
                         const std::filesystem::path& targets);
  // A corpus of pictures: the files of a folder whose suffix fovea reads, or one file.
  static Corpus of_pictures(const std::filesystem::path& path);

  bool has_pictures() const { return pictures_; }
  int64_t size() const { return static_cast<int64_t>(items_.size()); }
  // The text of item i. Throws Error{kBadFile} for one that is no UTF-8.
  std::string text(int64_t i) const;
  // Its translation; none where the corpus has none.
  std::optional<std::string> target(int64_t i) const;
  // Its file.
  std::filesystem::path file(int64_t i) const;
  // "corpus.txt, line 3" or the file: for messages.
  std::string where(int64_t i) const;
  // A fingerprint of names, sizes and times. It stays the same until somebody changes the corpus.
  std::string fingerprint() const;

 private:
  struct Item {
    std::string name;         // the file's name in the folder; empty: a line
    int64_t line = 0;         // from 1
    std::string_view text;    // the line's text
    std::string_view target;  // its translation
  };
  std::filesystem::path path_;
  std::filesystem::path targets_;  // empty: none
  bool is_folder_ = false;
  bool pictures_ = false;
  // What the views of items point into.
  std::shared_ptr<const MappedFile> lines_;
  std::optional<ParallelText> pairs_;
  std::vector<Item> items_;
};

// As inputs to count, the first `limit` of them; 0: all. The corpus must outlive them.
ManyInputs inputs_of(const Corpus& corpus, int64_t limit = 0);

// A folder says by its files which kind of model is meant.
bool holds_pictures(const std::filesystem::path& folder);

}  // namespace fovea
