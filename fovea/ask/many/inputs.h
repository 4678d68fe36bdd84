// Many inputs as a stream. A front end reads them from files, a request or a data frame.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/input.h"
#include "fovea/explain/alignment/alignment.h"
#include "fovea/explain/pictures/picture_score.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

struct TrueObject {
  int64_t id = 0;     // its number in the mask
  std::string label;  // empty: not said
  PictureBox box;     // in pixels of the upright picture
};

// What people say of an input, for answers that are scored by it.
struct Truth {
  std::optional<LabelMask> mask = {};  // as large as the picture
  std::string mask_name = {};          // of its file: for messages
  std::optional<std::vector<TrueObject>> objects = {};
  std::optional<GoldAlignment> links = {};
};

struct Sample {
  Input input;
  Truth truth = {};
};

struct NamedInput {
  std::string name;  // "corpus.txt, line 3": for messages, and for rows of an answer
  // Called when its turn comes, perhaps more than once. What it throws is about this input alone.
  std::function<Sample()> read;
};

// They are read once: who counts again makes another stream.
struct ManyInputs {
  std::function<std::optional<NamedInput>()> next;  // none: there are no more
  int64_t count = 0;      // how many there are, for progress; 0: nobody knows
  int64_t first = 0;      // the number of the first; above 0 in a part that another process counts
  bool pictures = false;  // else texts
  Languages languages = {};    // of models that translate several
  Json of = Json::object({});  // tells them from others: a state goes on only with the same
};

}  // namespace fovea
