// The faithfulness card as a part of the page.
#pragma once

#include <string>

#include "fovea/ask/answer.h"

namespace fovea {

// Of a checked explanation the figure of that name beside its own; null: it was not checked.
const Figure* find_beside(const Answer& answer, std::string_view name);

// Heading, table and curves, to stand on the page of the explanation; empty: it was not checked.
std::string card_html(const Answer& answer);

}  // namespace fovea
