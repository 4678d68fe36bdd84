// The four Unicode normalization forms, keeping track of where characters come from.
#pragma once

#include "fovea/text/aligned_text.h"

namespace fovea {

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };
void apply_unicode_form(AlignedText& text, UnicodeForm form);

}  // namespace fovea
