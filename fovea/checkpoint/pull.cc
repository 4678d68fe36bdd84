#include "fovea/checkpoint/pull.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/progress.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/blob_file.h"
#include "fovea/checkpoint/gguf_parts.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// In the order in which open_checkpoint looks for them.
constexpr std::array<std::string_view, 4> kWeights{
    "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json"};
constexpr std::array<std::string_view, 20> kSmallFiles{"config.json",
                                                       "fovea_card.json",
                                                       "generation_config.json",
                                                       "tokenizer.json",
                                                       "tokenizer_config.json",
                                                       "special_tokens_map.json",
                                                       "added_tokens.json",
                                                       "vocab.txt",
                                                       "vocab.json",
                                                       "merges.txt",
                                                       "source.spm",
                                                       "target.spm",
                                                       "target_vocab.json",
                                                       "spiece.model",
                                                       "sentencepiece.bpe.model",
                                                       "preprocessor_config.json",
                                                       "processor_config.json",
                                                       "modules.json",
                                                       "sentence_bert_config.json",
                                                       "config_sentence_transformers.json"};
constexpr std::array<std::string_view, 8> kWeightSuffixes{
    ".gguf", ".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx"};
constexpr size_t kLongestPulledIndex = size_t{256} << 20;
constexpr size_t kNamesShown = 8;

// "1_Pooling/config.json": a module of sentence-transformers.
bool is_module_config(std::string_view name) {
  const size_t slash = name.find('/');
  return name.front() >= '0' && name.front() <= '9' && slash != name.npos &&
         name.substr(0, slash).find('_') != name.npos && name.substr(slash) == "/config.json";
}

bool is_small_file(std::string_view name) {
  if (std::ranges::find(kSmallFiles, name) != kSmallFiles.end()) return true;
  if (name.find('/') != name.npos) return is_module_config(name);
  return name.ends_with(".model") || name.ends_with(".spm");  // SentencePiece
}

// "a, b and 3 more" of the files with one of the suffixes.
template <typename Suffixes>
std::string list_files(const HubModel& model, const Suffixes& suffixes) {
  std::string text;
  size_t count = 0;
  for (const HubFile& file : model.files) {
    const auto matches = [&](std::string_view suffix) { return file.name.ends_with(suffix); };
    if (std::ranges::none_of(suffixes, matches)) continue;
    if (++count <= kNamesShown) text += (text.empty() ? "" : ", ") + file.name;
  }
  if (count > kNamesShown) text += fmt::format(" and {} more", count - kNamesShown);
  return text;
}

[[noreturn]] void fail_no_weights(const HubName& name, const HubModel& model) {
  const std::string ggufs = list_files(model, std::array{".gguf"});
  if (!ggufs.empty()) {
    fail(ErrorKind::kNotFound, Field{"file"}, "{}: has GGUF files only; choose one of them: {}",
         name.text(), ggufs);
  }
  const std::string others = list_files(model, kWeightSuffixes);
  fail(ErrorKind::kNotFound,
       "{}: has no model.safetensors, pytorch_model.bin or .gguf file but {}; choose another model",
       name.text(), others.empty() ? "no weights at all" : "only " + others);
}

void create_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::kIo, "{}: cannot be made: {}; make the folder yours or set HF_HOME to another",
         folder.string(), error.message());
  }
}

// The blobs of one model in the cache.
struct BlobStore {
  fs::path blobs;
  fs::path locks;  // where huggingface_hub keeps them too

  BlobStore(const fs::path& hub, const std::string& id)
      : blobs(hub_folder(hub, id) / "blobs"), locks(hub_folder(hub / ".locks", id)) {
    create_folders(blobs);
    create_folders(locks);
  }
  bool has(const HubFile& file) const {
    std::error_code error;
    const uint64_t size = fs::file_size(blobs / file.etag, error);
    return !error && size == file.size;
  }
  // How many bytes of the file are still to be downloaded.
  uint64_t missing_bytes(const HubFile& file) const {
    if (has(file)) return 0;
    const uint64_t there = incomplete_bytes(blobs / file.etag);
    return there > file.size ? file.size : file.size - there;
  }
};

void check_space(const BlobStore& store, uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(store.blobs, error);
  if (!error && space.available < bytes) {
    fail(ErrorKind::kIo,
         "{}: {} bytes are to be downloaded but the disk has {} left; free some space or set "
         "HF_HOME "
         "to a larger disk",
         store.blobs.string(), bytes, space.available);
  }
}

// Brings all of them into the store; gives what was received.
uint64_t download_files(Hub& hub, const PulledModel& model, const std::vector<HubFile>& files,
                        const BlobStore& store) {
  uint64_t missing = 0;
  for (const HubFile& file : files) missing += store.missing_bytes(file);
  check_space(store, missing);
  uint64_t received = 0;
  Progress progress(model.name.text(), static_cast<int64_t>(missing), ProgressUnit::kBytes);
  for (const HubFile& file : files) {
    if (store.has(file)) continue;
    const FileLock lock(store.locks / (file.etag + ".lock"));
    if (store.has(file)) continue;  // by the one who had the lock before
    BlobFile blob(store.blobs / file.etag, file, progress);
    hub.download(model.name, model.commit, file, blob);
    blob.finish();
    received += blob.received();
  }
  return received;
}

// The link from snapshots/COMMIT/a/b to blobs/ETAG. It is relative, so that the cache can be moved.
fs::path link_target(const HubFile& file) {
  fs::path target = "../..";
  for (const char c : file.name) {
    if (c == '/') target /= "..";
  }
  return target / "blobs" / file.etag;
}

void publish_file(const fs::path& snapshot, const HubFile& file) {
  const fs::path path = snapshot / file.name;
  const fs::path target = link_target(file);
  std::error_code error;
  if (fs::read_symlink(path, error) == target && !error) return;
  create_folders(path.parent_path());
  // Made beside and renamed, so that a program which opens it never finds nothing.
  const fs::path made = path.string() + fmt::format(".{}.link", ::getpid());
  error.clear();
  fs::remove(made, error);
  fs::create_symlink(target, made, error);
  if (!error) fs::rename(made, path, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(made, error);
    fail(ErrorKind::kIo, "{}: cannot be made: {}; make the folder yours or set HF_HOME to another",
         path.string(), reason);
  }
}

}  // namespace

std::vector<HubFile> choose_files(const HubName& name, const HubModel& model,
                                  std::string_view file) {
  std::string_view weights = file;
  if (file.empty()) {
    const auto found = std::ranges::find_if(
        kWeights, [&](std::string_view weight) { return model.find(weight) != nullptr; });
    if (found == kWeights.end()) fail_no_weights(name, model);
    weights = *found;
  } else if (model.find(file) == nullptr) {
    const std::string others = list_files(model, kWeightSuffixes);
    fail(ErrorKind::kNotFound, "{}: has no file {}; it has {}", name.text(), quote_name(file),
         others.empty() ? "no weights" : others);
  }
  std::vector<std::string> parts = gguf_part_names(weights);
  if (parts.empty()) parts.emplace_back(weights);
  for (const std::string& part : parts) {
    if (model.find(part) != nullptr) continue;
    fail(ErrorKind::kBadFile, "{}: {} is one of {} parts, but there is no {}; choose another file",
         name.text(), quote_name(weights), parts.size(), quote_name(part));
  }
  std::vector<HubFile> files;
  for (const HubFile& candidate : model.files) {
    if (is_small_file(candidate.name) || std::ranges::find(parts, candidate.name) != parts.end()) {
      files.push_back(candidate);
    }
  }
  return files;
}

std::vector<HubFile> list_shards(const HubName& name, const HubModel& model,
                                 const fs::path& index) {
  const std::string source = name.text() + ": the index of its shards";
  const Json json = Json::parse(read_text_file(index, kLongestPulledIndex), source);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : json.at("weight_map", source).as_object(source)) {
    shards.insert(shard.as_string(source));
  }
  std::vector<HubFile> files;
  for (const std::string& shard : shards) {
    const HubFile* file = model.find(shard);
    if (file == nullptr) {
      fail(ErrorKind::kBadFile, "{} names {}, which the model does not have; choose another model",
           source, quote_name(shard));
    }
    files.push_back(*file);
  }
  return files;
}

PulledModel download_model(Hub& hub, const HubName& name, std::string_view file,
                           const fs::path& hub_cache) {
  const HubModel listed = hub.model(name);
  PulledModel model{.name = name, .commit = listed.commit};
  model.folder = hub_folder(hub_cache, name.id) / "snapshots" / model.commit;
  model.files = choose_files(name, listed, file);
  const BlobStore store(hub_cache, name.id);
  for (HubFile& chosen : model.files) hub.complete(name, model.commit, chosen);

  // Only the index says which files the shards are.
  const auto index = std::ranges::find_if(
      model.files, [](const HubFile& chosen) { return chosen.name.ends_with(".index.json"); });
  if (index != model.files.end()) {
    model.downloaded_bytes += download_files(hub, model, {*index}, store);
    std::vector<HubFile> shards = list_shards(name, listed, store.blobs / index->etag);
    for (HubFile& shard : shards) {
      hub.complete(name, model.commit, shard);
      model.files.push_back(std::move(shard));
    }
  }
  model.downloaded_bytes += download_files(hub, model, model.files, store);
  return model;
}

void publish_model(const PulledModel& model, const fs::path& hub_cache) {
  for (const HubFile& file : model.files) publish_file(model.folder, file);
  const std::string revision = model.name.revision_or_main();
  if (revision == model.commit) return;  // as huggingface_hub does: a commit needs no ref
  const fs::path ref = hub_folder(hub_cache, model.name.id) / "refs" / revision;
  create_folders(ref.parent_path());
  std::error_code ignored;
  if (fs::is_regular_file(ref, ignored) && read_text_file(ref, 4096) == model.commit) return;
  write_file_atomic(ref, [&](FileWriter& writer) { writer.write(model.commit); });
}

}  // namespace fovea
