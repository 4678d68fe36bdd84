#include "fovea/engine/model_tokenizer.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/checkpoint/gguf_parts.h"

namespace fovea {
namespace {

Tokenizer tokenizer_of_gguf(const GgufFile& file) {
  std::optional<GgufTokenizer> found = read_gguf_tokenizer(file);
  if (!found) {
    fail(ErrorKind::kNotFound,
         "{}: has no tokenizer within; give token ids instead of a text, or put the model's "
         "tokenizer.json beside it",
         file.source());
  }
  return Tokenizer::from_gguf({.kind = found->model,
                               .pre = found->pre,
                               .tokens = std::move(found->tokens),
                               .merges = std::move(found->merges),
                               .scores = std::move(found->scores),
                               .token_types = std::move(found->types),
                               .bos = found->bos_id,
                               .eos = found->eos_id,
                               .unknown = found->unknown_id,
                               .separator = found->separator_id,
                               .padding = found->padding_id,
                               .cls = found->cls_id,
                               .mask = found->mask_id,
                               .add_bos = found->add_bos,
                               .add_eos = found->add_eos,
                               .add_separator = found->add_separator,
                               .add_space_prefix = found->add_space_prefix},
                              file.source());
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
