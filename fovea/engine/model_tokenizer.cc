#include "fovea/engine/model_tokenizer.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/checkpoint/gguf_parts.h"

namespace fovea {
namespace {

std::optional<int32_t> as_id(const std::optional<int64_t>& id) {
  if (!id) return {};
  return static_cast<int32_t>(*id);
}

Tokenizer tokenizer_of_gguf(const GgufFile& file) {
  const std::optional<GgufTokenizer> found = read_gguf_tokenizer(file);
  if (!found) {
    fail(ErrorKind::kNotFound,
         "{}: has no tokenizer within; give token ids instead of a text, or put the model's "
         "tokenizer.json beside it",
         file.source());
  }
  if (found->model != "gpt2") {
    fail(ErrorKind::kUnsupported,
         "{}: its tokenizer is of the kind '{}'; of those within GGUF files fovea reads gpt2: put "
         "the model's tokenizer.json beside the file",
         file.source(), found->model);
  }
  GgufVocabulary vocabulary;
  vocabulary.tokens.assign(found->tokens.begin(), found->tokens.end());
  vocabulary.merges.assign(found->merges.begin(), found->merges.end());
  for (const int64_t type : found->types) {
    vocabulary.token_types.push_back(static_cast<int32_t>(type));
  }
  vocabulary.pre = found->pre;
  vocabulary.bos = as_id(found->bos_id);
  vocabulary.eos = as_id(found->eos_id);
  vocabulary.add_bos = found->add_bos.value_or(false);
  vocabulary.add_eos = found->add_eos.value_or(false);
  vocabulary.add_prefix_space = found->add_space_prefix.value_or(false);
  return Tokenizer::from_gguf(vocabulary, file.source());
}

using OpenFolder = Tokenizer(const std::filesystem::path&);

Tokenizer tokenizer_by(OpenFolder& open, const Checkpoint& checkpoint) {
  const bool beside = file_exists(checkpoint.folder / "tokenizer.json");
  if (checkpoint.gguf && !beside) return tokenizer_of_gguf(*checkpoint.gguf);
  return open(checkpoint.folder);
}

Tokenizer tokenizer_by(OpenFolder& open, std::string_view name) {
  const ModelPlace place = resolve_model(name);
  Checkpoint checkpoint;
  checkpoint.folder = place.folder;
  const std::filesystem::path file = place.file.empty() ? find_gguf_file(place.folder) : place.file;
  if (file.extension() == ".gguf") checkpoint.gguf = GgufFile::open(file);
  return tokenizer_by(open, checkpoint);
}

}  // namespace

Tokenizer tokenizer_of(const Checkpoint& checkpoint) {
  return tokenizer_by(open_tokenizer, checkpoint);
}

Tokenizer target_tokenizer_of(const Checkpoint& checkpoint) {
  return tokenizer_by(open_target_tokenizer, checkpoint);
}

Tokenizer tokenizer_named(std::string_view name) {
  return tokenizer_by(open_tokenizer, name);
}

Tokenizer target_tokenizer_named(std::string_view name) {
  return tokenizer_by(open_target_tokenizer, name);
}

}  // namespace fovea
