#include "fovea/cli/detect/run.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/views.h"

namespace fovea {
namespace {

void detect(const Args& args) {
  KeptDetectRun none;
  show_detections(args, none);
}

std::vector<Option> own_options() {
  return {Option::choice("view", names_of(detect_views()),
                         "what to show (default: what the options are about)"),
          Option::real("threshold", "P", "objects with a score above this", 0).with_default("0.7"),
          Option::integer("query", "N", "one object query, from 0, in every head", 0),
          Option::text("at", "X,Y", "a cell by a pixel of the picture; several as X,Y:X,Y:..."),
          Option::text("to", "X,Y", "with --at: why that cell attends to this one"),
          Option::flag("column", "who attends to it, not what it attends to"),
          Option::integer("layer", "N", "from 0 (default: the last)", 0),
          Option::flag("masks", "areas of the objects out of attention"),
          Option::choice("mask-from", {"encoder", "cross", "head"},
                         "only masks from here (default: all that the model has)"),
          Option::text("mask-cut", "RULE",
                       "otsu, mass:SHARE or maximum:SHARE of attention (default: otsu)"),
          Option::flag("in-box", "masks end at the object's box"),
          Option::text("mask-out", "FILE.png", "write the first masks: pixel = object number"),
          Option::text("rows", "A:B", "a part of the encoder's map: its rows"),
          Option::text("cols", "A:B", "and its columns"),
          Option::text("out", "FILE",
                       "write a file: .png .svg .pdf, or the numbers as " + data_suffixes())};
}

}  // namespace

Command detect_command() {
  return {.name = "detect",
          .summary = "objects in a picture, and what pixels and object queries attend to (DETR)",
          .details =
              "Boxes are in pixels of the picture. A row is what something attends to and\n"
              "sums to 1; a column is who attends to it, told against uniform attention.\n"
              "\n"
              "views:\n" +
              summaries_of(detect_views()) +
              "\n"
              "examples:\n"
              "  fovea detect photo.jpg\n"
              "  fovea detect photo.jpg --view queries --out queries.png\n"
              "  fovea detect photo.jpg --at 120,80 --head mean\n"
              "  fovea detect photo.jpg --view points --column --out points.png\n"
              "  fovea detect photo.jpg --at 120,80 --to 300,200\n"
              "  fovea detect photo.jpg --masks --in-box --mask-out masks.png\n",
          .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
          .options = joined(joined(model_options(kDefaultDetectionModel), own_options()),
                            joined(picture_options(), picture_map_options())),
          .run = detect};
}

}  // namespace fovea
