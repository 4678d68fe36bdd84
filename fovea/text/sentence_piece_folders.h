// Folders whose tokenizer lies in SentencePiece files.
#pragma once

#include <filesystem>
#include <optional>

#include "fovea/text/tokenizer.h"

namespace fovea {

enum class TextSide { kSource, kTarget };  // what a translation model reads, and what it writes

// Whether the folder holds a file of that name.
bool has_file(const std::filesystem::path& folder, const char* name);

// source.spm, target.spm and vocab.json are there.
bool is_marian_folder(const std::filesystem::path& folder);
Tokenizer open_marian(const std::filesystem::path& folder, const Json& config, TextSide side);

// From spiece.model or sentencepiece.bpe.model; nothing if neither is there. `family` is
// tokenizer_class without "Tokenizer" and "Fast". Throws Error{kUnsupported} for families that put
// ids together in another way.
std::optional<Tokenizer> open_sentence_piece(const std::filesystem::path& folder,
                                             std::string_view family, const Json& config);

}  // namespace fovea
