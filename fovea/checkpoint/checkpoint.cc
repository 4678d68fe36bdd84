#include "fovea/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/checkpoint/file_source.h"
#include "fovea/checkpoint/gguf_config.h"
#include "fovea/checkpoint/gguf_parts.h"
#include "fovea/checkpoint/gguf_source.h"
#include "fovea/checkpoint/sharded_source.h"
#include "fovea/checkpoint/torch_file.h"
#include "fovea/checkpoint/whisper_config.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kWeightFiles{
    "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json"};
constexpr std::array<std::string_view, 5> kSuffixes{".safetensors", ".bin", ".pt", ".pth", ".gguf"};

// Files that training leaves beside the weights.
constexpr std::array<std::string_view, 5> kOtherFiles{
    "training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth"};

bool is_torch(std::string_view name) {
  return name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth");
}

std::vector<fs::path> files_with_suffix(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool is_other = std::find(kOtherFiles.begin(), kOtherFiles.end(),
                                    it->path().filename().string()) != kOtherFiles.end();
    if (it->path().extension() == suffix && it->is_regular_file(ignored) && !is_other) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path weights_in(const fs::path& folder) {
  for (const std::string_view name : kWeightFiles) {
    if (file_exists(folder / name)) return folder / name;
  }
  for (const std::string_view suffix : kSuffixes) {
    const std::vector<fs::path> files = files_with_suffix(folder, suffix);
    if (files.size() == 1) return files.front();
    if (const fs::path split = find_gguf_file(folder); suffix == ".gguf" && !split.empty()) {
      return split;
    }
    if (files.size() > 1) {
      fail(ErrorKind::kInvalidArgument,
           "{}: holds {} {} files, {} first, and no index of shards; give the path of one",
           folder.string(), files.size(), suffix, files.front().filename().string());
    }
  }
  fail(ErrorKind::kNotFound,
       "{}: holds no weights: neither model.safetensors nor pytorch_model.bin nor a .gguf file; "
       "download them too",
       folder.string());
}

Config open_config(const fs::path& folder, const fs::path& weights) {
  const fs::path path = folder / "config.json";
  if (!file_exists(path)) {
    if (is_torch(weights.filename().string())) {
      if (auto config = find_whisper_config(TorchFile::open(weights))) return *std::move(config);
    }
    fail(ErrorKind::kNotFound,
         "{}: is missing, and {} does not say which model its tensors are; put the model's "
         "config.json beside it",
         path.string(), weights.filename().string());
  }
  return Config::open(path);
}

void read_card(const fs::path& folder, Checkpoint& checkpoint) {
  const fs::path path = folder / "fovea_card.json";
  if (!file_exists(path)) return;
  const Config card = Config::open(path);
  checkpoint.note = card.get_string("note", "");
  if (const auto training = card.find_section("training")) {
    checkpoint.training = TrainingPictures{.what = training->get_string("what"),
                                           .instead = training->get_string("instead"),
                                           .least_clear = training->get_double("least_clear"),
                                           .most_doubt = training->get_double("most_doubt")};
  }
}

}  // namespace

std::shared_ptr<const WeightSource> open_weights(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".safetensors.index.json")) {
    return open_sharded_weights(file, open_safetensors_weights);
  }
  if (name.ends_with(".bin.index.json")) return open_sharded_weights(file, open_torch_weights);
  if (name.ends_with(".safetensors")) return open_safetensors_weights(file);
  if (is_torch(name)) return open_torch_weights(file);
  if (name.ends_with(".gguf")) return gguf_weights(GgufFile::open(file));
  fail(ErrorKind::kUnsupported,
       "{}: is not a kind of weights that fovea reads; give a .safetensors, .bin, .pt, .pth or "
       ".gguf file or a folder",
       file.string());
}

Checkpoint open_checkpoint(std::string_view name, const ModelCaches& caches) {
  const ModelPlace place = resolve_model(name, caches);
  const fs::path file = place.file.empty() ? weights_in(place.folder) : place.file;
  Checkpoint checkpoint;
  checkpoint.folder = place.folder;
  if (file.extension() == ".gguf") {
    checkpoint.gguf = GgufFile::open(file);
    checkpoint.config = gguf_config(*checkpoint.gguf);
    checkpoint.weights = Weights(gguf_weights(*checkpoint.gguf));
    return checkpoint;
  }
  // A file of weights without a configuration is named first if its kind is wrong.
  std::shared_ptr<const WeightSource> source = open_weights(file);
  checkpoint.config = open_config(place.folder, file);
  checkpoint.weights = Weights(std::move(source));
  read_card(place.folder, checkpoint);
  return checkpoint;
}

}  // namespace fovea
