#include "fovea/cli/align/options.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/render/view.h"

namespace fovea {

std::vector<Option> align_options() {
  return {
      Option::choice("read", {"input", "output"},
                     "take a row for the word that the decoder reads there or for the one it "
                     "writes (default: what suits the head)"),
      Option::flag("norms",
                   "weigh attention by the vectors it brings, ‖αf(x)‖, not by its weights alone"),
      Option::choice("convention", word_convention_names(),
                     "from tokens to words: merge their weights first, or join their links "
                     "(default: merge)"),
      Option::choice("links", link_method_names(),
                     "which cells are links: the largest of a row, all above --threshold, or the "
                     "largest of row and column (default: argmax)"),
      Option::real("threshold", "W", "for --links threshold (default: 0.2)", 0),
      Option::flag("ignore-end",
                   "link a word even if its attention lies on the end of the sentence most")};
}

AlignOptions read_align_options(const Args& args) {
  AlignOptions options;
  if (args.has("layer")) {
    options.layer =
        static_cast<int>(std::clamp<int64_t>(parse_integer("--layer", args["layer"]), -1, 1 << 20));
    if (*options.layer < 0) {
      fail(ErrorKind::kInvalidArgument, "--layer is {} but layers are counted from 0",
           args["layer"]);
    }
  }
  if (args.has("head")) {
    const HeadChoice head = parse_head(args["head"]);
    if (head.kind == HeadChoice::Kind::kMax || head.kind == HeadChoice::Kind::kAll) {
      fail(ErrorKind::kInvalidArgument,
           "--head is {} but an alignment is read from one head or their mean; give a number or "
           "mean",
           args["head"]);
    }
    options.mean = head.kind == HeadChoice::Kind::kMean;
    if (!options.mean) options.head = head.head;
  }
  if (args.has("read")) options.reading = parse_target_reading(args["read"]);
  options.norms = args.flag("norms");
  if (args.has("convention")) options.convention = parse_word_convention(args["convention"]);
  if (args.has("links")) options.links.method = parse_link_method(args["links"]);
  if (args.has("threshold")) {
    if (options.links.method != LinkMethod::kThreshold) {
      fail(ErrorKind::kInvalidArgument,
           "--threshold is for --links threshold but links are made by {}; give both",
           to_string(options.links.method));
    }
    options.links.threshold = args.real("threshold");
    if (options.links.threshold > 1 && !options.norms) {
      fail(ErrorKind::kInvalidArgument,
           "--threshold is {} but weights are at most 1, so that nothing would be linked; give "
           "less, or --norms too",
           args["threshold"]);
    }
  }
  options.links.specials_compete = !args.flag("ignore-end");
  return options;
}

}  // namespace fovea
