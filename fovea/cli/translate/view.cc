#include "fovea/cli/translate/view.h"

#include <fmt/format.h>

#include "fovea/cli/align/options.h"
#include "fovea/cli/align/ranking.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/show.h"
#include "fovea/render/align_view.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

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
  json.set("map", to_json(choice));
  return json;
}

Alignment links_of(const AlignFigure& figure) {
  std::vector<Link> links;
  for (const CellMark& mark : figure.links) links.push_back({mark.col, mark.row});
  return sorted_links(std::move(links));
}

// All maps of the translation; it opens at the one that the alignment is read from.
void write_page_at(const Translation& translation, const MapChoice& choice, const Args& args) {
  PageOptions options{
      .opens_at = SiteKind::kCross, .opens_at_layer = choice.layer, .opens_at_head = choice.head};
  if (!choice.head) options.choice.head = {.kind = HeadChoice::Kind::kMean};
  write_run_page(translation.result.run, args, options);
}

}  // namespace

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
  const auto data = [figure] { return data_of(as_matrix(figure)); };
  const auto json = [answer = alignment_json(translation, figure, links_of(figure), choice)] {
    return answer;
  };
  show({figure, data, json}, args, translation_text(translation, stdout_terminal()));
}

}  // namespace fovea
