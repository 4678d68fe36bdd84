#include "fovea/models/check_inputs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

void check_ids(const Config& config, std::span<const int64_t> ids, int64_t vocabulary) {
  if (ids.empty()) {
    fail(ErrorKind::kInvalidArgument, "there are no tokens to run; give a text that is not empty");
  }
  for (const int64_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      fail(ErrorKind::kInvalidArgument,
           "token id {} is beyond this model's vocabulary of {} ({}); are tokenizer and weights of "
           "the same model?",
           id, vocabulary, config.source());
    }
  }
}

void check_beside(std::string_view name, std::span<const int64_t> values, std::string_view beside,
                  int64_t size) {
  if (!values.empty() && static_cast<int64_t>(values.size()) != size) {
    fail(ErrorKind::kInvalidArgument, "{} has {} entries but {} has {}; they must agree", name,
         values.size(), beside, size);
  }
}

void refuse_inputs(std::string_view model, const ModelInputs& inputs,
                   std::initializer_list<std::string_view> not_taken) {
  const std::array<std::pair<std::string_view, bool>, 6> given{
      {{"input_ids", !inputs.input_ids.empty()},
       {"token_type_ids", !inputs.token_type_ids.empty()},
       {"attention_mask", !inputs.attention_mask.empty()},
       {"decoder_input_ids", !inputs.decoder_input_ids.empty()},
       {"decoder_attention_mask", !inputs.decoder_attention_mask.empty()},
       {"input_features", !inputs.input_features.empty()}}};
  for (const auto& [name, is_given] : given) {
    if (is_given && std::ranges::find(not_taken, name) != not_taken.end()) {
      fail(ErrorKind::kInvalidArgument, "{} is given but {} does not take it; leave it out", name,
           model);
    }
  }
}

}  // namespace fovea
