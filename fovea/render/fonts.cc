#include "fovea/render/fonts.h"

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <span>

#include "fovea/base/error.h"

namespace fovea {

std::span<const std::byte> embedded_inter_regular_otf();
std::span<const std::byte> embedded_inter_semibold_otf();

namespace {

// Not "Inter", so that another version on the system is never taken for it.
constexpr const char* kFamily = "fovea Inter";

// A file in memory: fontconfig and pango open fonts by path only. Stays open with the process.
std::string memory_file(std::span<const std::byte> bytes) {
  const int descriptor = ::memfd_create("fovea-font", MFD_CLOEXEC);
  size_t done = 0;
  while (descriptor >= 0 && done < bytes.size()) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  if (descriptor < 0 || done < bytes.size()) {
    fail(ErrorKind::kInternal, "the font of figures needs {} bytes of memory but got {}",
         bytes.size(), done);
  }
  return "/proc/self/fd/" + std::to_string(descriptor);
}

void add_shipped_fonts(FcConfig* config) {
  static const std::string regular = memory_file(embedded_inter_regular_otf());
  static const std::string semibold = memory_file(embedded_inter_semibold_otf());
  for (const std::string& path : {regular, semibold}) {
    if (!FcConfigAppFontAddFile(config, reinterpret_cast<const FcChar8*>(path.c_str()))) {
      fail(ErrorKind::kInternal, "the font of figures cannot be opened as {}; is /proc mounted?",
           path);
    }
  }
  FcFontSet* fonts = FcConfigGetFonts(config, FcSetApplication);
  for (int i = 0; fonts != nullptr && i < fonts->nfont; ++i) {
    FcPatternDel(fonts->fonts[i], FC_FAMILY);
    FcPatternDel(fonts->fonts[i], FC_FAMILYLANG);
    FcPatternAddString(fonts->fonts[i], FC_FAMILY, reinterpret_cast<const FcChar8*>(kFamily));
  }
}

struct FontSource {
  FcConfig* config = nullptr;
  PangoContext* context = nullptr;
};

FontSource make_source(bool with_system_fonts) {
  FontSource source;
  source.config = FcConfigCreate();
  if (with_system_fonts) {
    // No configuration, or no fonts at all, is no error here: texts that need more are refused one
    // by one (missing_glyphs.h).
    FcConfigParseAndLoad(source.config, nullptr, FcFalse);
    FcConfigBuildFonts(source.config);
  }
  add_shipped_fonts(source.config);
  PangoFontMap* map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
  if (map == nullptr) fail(ErrorKind::kInternal, "pango was built without FreeType");
  pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(map), source.config);
  pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(map), 72);
  source.context = pango_font_map_create_context(map);
  g_object_unref(map);

  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(source.context, options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(source.context, FALSE);
  // Not the user's language, which would choose other glyphs.
  pango_context_set_language(source.context, pango_language_from_string("en"));
  return source;
}

const FontSource& shipped_source() {
  static const FontSource source = make_source(false);
  return source;
}

const FontSource& full_source() {
  static const FontSource source = make_source(true);
  return source;
}

}  // namespace

bool shipped_font_covers(std::string_view text) {
  const FcFontSet* fonts = FcConfigGetFonts(shipped_source().config, FcSetApplication);
  FcCharSet* known = nullptr;
  if (FcPatternGetCharSet(fonts->fonts[0], FC_CHARSET, 0, &known) != FcResultMatch) return false;
  const char* end = text.data() + text.size();
  for (const char* place = text.data(); place < end; place = g_utf8_next_char(place)) {
    const gunichar character = g_utf8_get_char(place);
    const bool drawn = !g_unichar_iscntrl(character) && !g_unichar_iszerowidth(character) &&
                       character != 0xfffc;  // stands for a shape of our own
    if (drawn && !FcCharSetHasChar(known, character)) return false;
    // A combining mark needs its base in the same font, and emoji selectors another font.
    if (character >= 0xfe00 && character <= 0xfe0f) return false;
  }
  return true;
}

PangoContext* font_context(std::string_view text) {
  return shipped_font_covers(text) ? shipped_source().context : full_source().context;
}

PangoFontDescription* new_font_description(double size, bool strong) {
  PangoFontDescription* description = pango_font_description_new();
  pango_font_description_set_family(description, kFamily);
  pango_font_description_set_weight(description,
                                    strong ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL);
  pango_font_description_set_absolute_size(description, size * PANGO_SCALE);
  return description;
}

std::string family_name(PangoFont* font) {
  const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> description(
      pango_font_describe(font), pango_font_description_free);
  const char* family = pango_font_description_get_family(description.get());
  if (family == nullptr) return "unknown";
  return std::string_view(family) == kFamily ? "Inter" : family;
}

}  // namespace fovea
