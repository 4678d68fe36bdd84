#include "fovea/cli/translation_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/draw.h"
#include "fovea/cli/draw_text.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/render/align_view.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

Json map_choice_json(const MapChoice& choice) {
  Json json = Json::object();
  json.set("name", to_string(choice));
  json.set("layer", choice.layer ? Json(int64_t{*choice.layer}) : Json());
  json.set("head", choice.head ? Json(*choice.head) : Json());
  json.set("reading", to_string(choice.reading));
  json.set("why", choice.why);
  json.set("confident", choice.confident);
  return json;
}

Json links_json(const Alignment& links) {
  Json list = Json::array();
  for (const Link& link : links) {
    Json pair = Json::array();
    pair.push_back(link.source);
    pair.push_back(link.target);
    list.push_back(std::move(pair));
  }
  return list;
}

Json alignment_json(const Translation& translation, const AlignFigure& figure,
                    const Alignment& links, const MapChoice& choice) {
  const Run& run = translation.result.run;
  Json json = map_json(data_of(as_matrix(figure)));
  json.set("source", run.find_axis("source")->source);
  json.set("target", translation.target);
  json.set("forced", translation.forced);
  json.set("complete", translation.complete);
  if (translation.score) json.set("score", *translation.score);
  json.set("links", links_json(links));
  json.set("map", map_choice_json(choice));
  return json;
}

Alignment links_of(const AlignFigure& figure) {
  std::vector<Link> links;
  for (const CellMark& mark : figure.links) links.push_back({mark.col, mark.row});
  return sorted_links(std::move(links));
}

void write_alignment(const std::string& path, const AlignFigure& figure, const Json& json,
                     const Args& args) {
  const InterruptGuard guard;
  if (path.ends_with(".json")) {
    const std::string text = json.dump(1) + "\n";
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  } else if (is_data_suffix(path)) {
    write_map_data(path, data_of(as_matrix(figure)));
  } else {
    write_figure(path, figure, figure_options(args));
  }
}

// All maps of the translation; it opens at the one that the alignment is read from.
void write_page_at(const Translation& translation, const MapChoice& choice, const Args& args) {
  PageOptions options{
      .opens_at = SiteKind::kCross, .opens_at_layer = choice.layer, .opens_at_head = choice.head};
  if (!choice.head) options.choice.head = {.kind = HeadChoice::Kind::kMean};
  write_run_page(translation.result.run, args, options);
}

}  // namespace

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
  }
  options.links.specials_compete = !args.flag("ignore-end");
  return options;
}

std::string translation_text(const Translation& translation, const Terminal& terminal) {
  const std::string& source = translation.result.run.find_axis("source")->source;
  std::string how = translation.forced       ? "as given"
                    : translation.beams == 1 ? "greedy search"
                                             : fmt::format("{} beams", translation.beams);
  if (translation.score) how += fmt::format(", score {:.3f}", *translation.score);
  if (!translation.complete) how += ", cut at the limit of tokens";
  return isolated(printable(source)) + "\n" + terminal.dim("→ ") +
         isolated(printable(translation.target)) + "  " + terminal.dim("(" + how + ")") + "\n\n";
}

void show_alignment(const Translation& translation, const Args& args) {
  const AlignOptions options = read_align_options(args);
  const Run& run = translation.result.run;
  const PairMaps pair = pair_maps(run, translation.prefix, translation.anchors);
  HeadRanking ranking({.convention = options.convention, .links = options.links});
  ranking.add(pair);
  const MapChoice choice = choose_map(ranking.statistics(), options);
  if (args.flag("moses")) {
    write_stdout(to_moses(align_pair(pair, choice, options).links) + "\n");
    return;
  }
  if (args.has("out") && is_page_suffix(args["out"])) {
    write_page_at(translation, choice, args);
    return;
  }
  const AlignFigure figure = align_view(run, pair, choice, options,
                                        {.pieces = args.flag("pieces"), .hard = args.flag("hard")});
  const Json json = alignment_json(translation, figure, links_of(figure), choice);
  if (args.has("out")) write_alignment(args["out"], figure, json, args);
  if (args.flag("json")) {
    write_stdout(json.dump(1) + "\n");
  } else if (args.has("out")) {
    write_stdout("wrote " + args["out"] + "\n");
  } else {
    const Terminal terminal = stdout_terminal();
    write_stdout(
        translation_text(translation, terminal) +
        draw(figure, terminal, color_map(args.has("colors") ? args["colors"] : "inferno")));
  }
}

}  // namespace fovea
