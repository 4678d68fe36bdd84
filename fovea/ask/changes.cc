#include "fovea/ask/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/capture/words.h"
#include "fovea/explain/method.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

// "cross.5.3": everything but the kind may be missing.
struct HeadPlace {
  SiteKind kind = SiteKind::kSelf;
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
};

// Numbers from the right, two at most; what is left is the name of a site.
std::optional<HeadPlace> find_head_place(std::string_view text, SiteKind kind) {
  std::vector<int64_t> numbers;
  while (numbers.size() < 2 && !text.empty()) {
    const size_t dot = text.rfind('.');
    const std::string_view last = dot == text.npos ? text : text.substr(dot + 1);
    const auto number = parse_number<int64_t>(last);
    if (!number || *number < 0) break;
    numbers.insert(numbers.begin(), *number);
    text = dot == text.npos ? std::string_view() : text.substr(0, dot);
  }
  HeadPlace place{.kind = kind};
  if (!numbers.empty()) place.layer = numbers[0];
  if (numbers.size() > 1) place.head = numbers[1];
  if (text.empty()) return numbers.empty() ? std::nullopt : std::optional(place);
  const std::span<const SiteName> names = site_names();
  const auto named = std::ranges::find_if(
      names, [&](const SiteName& site) { return site.name == text || site.alias == text; });
  if (named == names.end()) return {};
  place.kind = named->kind;
  return place;
}

// "5.3", "cross 5.3", "layer 5", "every layer".
std::string place_text(const HeadPlace& place, SiteKind usual) {
  const std::string site =
      place.kind == usual ? "" : std::string(alias_of(place.kind)) + (place.layer ? " " : "");
  if (place.head) return fmt::format("{}{}.{}", site, *place.layer, *place.head);
  if (place.layer) return fmt::format("{}layer {}", site, *place.layer);
  return site;
}

// Reads the fields of one question one after the other.
class ChangeReader {
 public:
  ChangeReader(const Question& question, const FinishedRun& run, SiteKind kind)
      : question_(question),
        finished_(run),
        kind_(kind),
        record_(record_of(kind, "site")),
        keys_(axis_of(record_->col_axis)) {}

  AskedChanges read() {
    for (const int64_t position : positions("hide")) hide(position);
    for (const int64_t position : positions("blank")) blank(position);
    for (const std::string& edge : texts("cut")) cut(edge);
    for (const std::string& text : texts("silence")) {
      each_head("silence", head_place("silence", text), "silenced", [](SiteId site, int64_t head) {
        return SilenceHead{site, head};
      });
    }
    for (const std::string& text : texts("even")) {
      each_head("even", head_place("even", text), "made even", [](SiteId site, int64_t head) {
        return EvenHead{site, head};
      });
    }
    for (const std::string& text : texts("scale_head")) scale(text);
    for (const int64_t position : positions("zero_value")) zero_value(position);
    return std::move(asked_);
  }

 private:
  const Run& run() const { return finished_.run(); }
  const Axis& axis_of(const std::string& name) const { return *run().find_axis(name); }

  RecordPointer record_of(SiteKind kind, std::string_view field) const {
    for (const RecordPointer& record : run().records) {
      if (record->site.kind == kind) return record;
    }
    fail(ErrorKind::kInvalidArgument, Field{field}, "the model has no {} on this input",
         name_of(kind));
  }

  std::vector<std::string> texts(std::string_view field) const {
    std::vector<std::string> all;
    const Json* given = question_.fields.find(field);
    if (given == nullptr) return all;
    for (const Json& text : given->as_array(field)) all.push_back(text.as_string(field));
    return all;
  }

  // All pieces of a word that is named.
  std::vector<int64_t> named(std::string_view field, const Axis& axis,
                             const std::string& token) const {
    if (axis.grid_rows > 0) {
      if (const auto front = find_front_token(axis, token)) return {*front};
    }
    const FoundToken found = token_named(axis, token, {field});
    if (found.note.empty()) return {found.index};
    for (const PositionGroup& word : word_groups(axis)) {
      if (found.index < word.begin || found.index >= word.end) continue;
      std::vector<int64_t> pieces;
      for (int64_t i = word.begin; i < word.end; ++i) pieces.push_back(i);
      return pieces;
    }
    return {found.index};
  }

  // A decoder's step is named by the word that it writes, not by the one that it has read.
  std::vector<int64_t> rows_named(const Axis& rows, const std::string& token) const {
    const Axis* target = run().find_axis("target");
    const bool numbered =
        parse_number<int64_t>(token.substr(token.starts_with('#') ? 1 : 0)).has_value();
    if (rows.name != "steps" || target == nullptr || numbered) return named("cut", rows, token);
    std::vector<int64_t> steps;
    for (const int64_t position : named("cut", *target, token)) {
      if (position > 0) steps.push_back(position - 1);
    }
    if (!steps.empty()) return steps;
    fail(ErrorKind::kInvalidArgument, Field{"cut"},
         "'{}' is what the decoder begins with, which no step writes; name a word of the target",
         token);
  }

  // The columns that `field` names and, for a picture, `field`_at.
  std::vector<int64_t> positions(const std::string& field) const {
    std::vector<int64_t> all;
    for (const std::string& token : texts(field)) {
      for (const int64_t position : named(field, keys_, token)) all.push_back(position);
    }
    const std::string spots = field + "_at";
    if (const Json* given = question_.fields.find(spots)) {
      for (const Json& spot : given->as_array(spots)) all.push_back(position_at(spots, spot));
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  int64_t position_at(std::string_view field, const Json& spot) const {
    if (!finished_.opened->picture || keys_.grid_rows == 0) {
      fail(ErrorKind::kInvalidArgument, Field{field},
           "it is a pixel of a picture, but the {} are of none; name one by its text or number",
           keys_.name);
    }
    const Json::Array& pair = spot.as_array(field);
    const PictureSpot pixel{pair[0].as_int(field), pair[1].as_int(field)};
    return PictureAxis::of(keys_).specials + cell_at(*finished_.opened->picture, field, pixel);
  }

  static std::string label(const Axis& axis, int64_t position) {
    return fmt::format("{} ({})", plain_label(axis, position), position);
  }
  std::string label(int64_t position) const { return label(keys_, position); }

  void add(Intervention change, std::string said, Json facts) {
    asked_.all.push_back(std::move(change));
    asked_.said.push_back(std::move(said));
    asked_.facts.push_back(std::move(facts));
  }

  Json position_facts(const char* change, int64_t position) const {
    return Json::object({{"change", change},
                         {"axis", keys_.name},
                         {"position", position},
                         {"text", keys_.positions[static_cast<size_t>(position)].text}});
  }

  void hide(int64_t position) {
    add(HidePosition{record_->col_axis, position}, label(position) + " hidden",
        position_facts("hide", position));
    if (position == 0 && record_->rule.mask.ahead == 0 && is_self_attention(kind_)) {
      asked_.notes.push_back(fmt::format(
          "{} is where many heads of a model that reads from left to right rest; without it the "
          "model is broken rather than explained",
          label(0)));
    }
  }

  void blank(int64_t position) {
    if (keys_.name == "target") {
      fail(ErrorKind::kUnsupported, Field{"blank"},
           "what a decoder has written cannot be blank; hide it");
    }
    add(BlankPosition{record_->col_axis, position}, label(position) + " blank",
        position_facts("blank", position));
  }

  void zero_value(int64_t position) {
    for (const SiteId site : sites({.kind = kind_}, "zero_value")) {
      asked_.all.push_back(ZeroValue{site, position});
    }
    asked_.said.push_back("the value of " + label(position) + " 0");
    asked_.facts.push_back(position_facts("zero_value", position));
  }

  // Layers that the place is about.
  std::vector<SiteId> sites(const HeadPlace& place, std::string_view field) const {
    std::vector<SiteId> found;
    int last = -1;
    for (const RecordPointer& record : run().records) {
      if (record->site.kind != place.kind) continue;
      last = std::max(last, record->site.layer);
      if (!place.layer || *place.layer == record->site.layer) found.push_back(record->site);
    }
    if (last < 0) record_of(place.kind, field);  // says that there is none
    if (found.empty()) {
      fail(ErrorKind::kInvalidArgument, Field{field},
           "layer {} is asked for but the {} has 0 to {}", *place.layer, name_of(place.kind), last);
    }
    if (place.head) {
      const int64_t heads = run().record(found.front())->shape().heads;
      if (*place.head >= heads) {
        fail(ErrorKind::kInvalidArgument, Field{field}, "head {} is asked for but {} has 0 to {}",
             *place.head, to_string(found.front()), heads - 1);
      }
    }
    return found;
  }

  HeadPlace head_place(std::string_view field, std::string_view text) const {
    const auto place = find_head_place(text, kind_);
    if (place && place->layer) return *place;
    fail(ErrorKind::kInvalidArgument, Field{field},
         "'{}' is no head; give LAYER.HEAD, or LAYER for all of its heads, 5.3 say", text);
  }

  template <typename Change>
  void each_head(std::string_view field, const HeadPlace& place, std::string_view done,
                 const Change& change, std::optional<double> factor = {}) {
    for (const SiteId site : sites(place, field)) {
      const int64_t heads = run().record(site)->shape().heads;
      for (int64_t head = place.head.value_or(0); head < place.head.value_or(heads - 1) + 1;
           ++head) {
        asked_.all.push_back(change(site, head));
      }
      Json facts = Json::object({{"change", field}, {"site", to_string(place.kind)}});
      facts.set("layer", site.layer);
      facts.set("head", place.head ? Json(*place.head) : Json());
      if (factor) facts.set("factor", *factor);
      asked_.facts.push_back(std::move(facts));
    }
    asked_.said.push_back(fmt::format("{} {} {}", place.head ? "head" : "all heads of",
                                      place_text(place, kind_), done));
  }

  void scale(const std::string& text) {
    const size_t equals = text.find('=');
    const auto factor = equals == text.npos
                            ? std::nullopt
                            : parse_number<double>(std::string_view(text).substr(equals + 1));
    if (!factor || !std::isfinite(*factor)) {
      fail(ErrorKind::kInvalidArgument, Field{"scale_head"},
           "'{}' is not LAYER.HEAD=FACTOR, 5.3=0.5 say", text);
    }
    each_head(
        "scale_head", head_place("scale_head", std::string_view(text).substr(0, equals)),
        fmt::format("times {:g}", *factor),
        [&](SiteId site, int64_t head) {
          return ScaleHead{site, head, static_cast<float>(*factor)};
        },
        factor);
  }

  struct Edge {
    HeadPlace place;
    std::vector<int64_t> rows, cols;
  };

  // A token may hold a colon, and an @: what can be read both ways is the first that names two.
  Edge edge_named(const std::string& text) const {
    std::string_view ends = text;
    HeadPlace place{.kind = kind_};
    if (const size_t at = text.rfind('@'); at != text.npos) {
      if (const auto where = find_head_place(ends.substr(at + 1), kind_)) {
        place = *where;
        ends = ends.substr(0, at);
      }
    }
    const RecordPointer record = record_of(place.kind, "cut");
    const Axis &rows = axis_of(record->row_axis), &cols = axis_of(record->col_axis);
    std::optional<Error> wrong;
    for (size_t colon = ends.find(':'); colon != ends.npos; colon = ends.find(':', colon + 1)) {
      if (colon == 0 || colon + 1 == ends.size()) continue;
      try {
        return {place, rows_named(rows, std::string(ends.substr(0, colon))),
                named("cut", cols, std::string(ends.substr(colon + 1)))};
      } catch (const Error& error) {
        if (!wrong) wrong = error;
      }
    }
    if (wrong) throw *wrong;
    fail(ErrorKind::kInvalidArgument, Field{"cut"},
         "'{}' is no edge; give ROW:COLUMN, two tokens or their numbers, sat:cat or 2:1 say", text);
  }

  void cut(const std::string& text) {
    const Edge edge = edge_named(text);
    const RecordPointer record = record_of(edge.place.kind, "cut");
    const Axis &rows = axis_of(record->row_axis), &cols = axis_of(record->col_axis);
    const std::vector<SiteId> layers = sites(edge.place, "cut");
    for (const int64_t row : edge.rows) {
      for (const int64_t col : edge.cols) {
        for (const SiteId site : layers) {
          asked_.all.push_back(HideEdge{site, row, col, edge.place.head});
        }
        Json facts = Json::object({{"change", "cut"}, {"site", to_string(edge.place.kind)}});
        facts.set("layer", edge.place.layer ? Json(*edge.place.layer) : Json());
        facts.set("head", edge.place.head ? Json(*edge.place.head) : Json());
        facts.set("row", row);
        facts.set("column", col);
        facts.set("row_text", rows.positions[static_cast<size_t>(row)].text);
        facts.set("column_text", cols.positions[static_cast<size_t>(col)].text);
        asked_.facts.push_back(std::move(facts));
        const std::string where = place_text(edge.place, kind_);
        asked_.said.push_back(fmt::format("{} → {} cut in {}", label(rows, row), label(cols, col),
                                          where.empty() ? "every head" : where));
      }
    }
  }

  const Question& question_;
  const FinishedRun& finished_;
  SiteKind kind_;
  RecordPointer record_;  // of that kind, the first
  const Axis& keys_;      // what is looked at there
  AskedChanges asked_;
};

FieldInfo list_field(std::string name, std::string shown, std::string help) {
  return {
      .name = std::move(name), .shown = std::move(shown), .help = std::move(help), .several = true};
}

FieldInfo tokens_field(std::string name, std::string help) {
  FieldInfo field = list_field(std::move(name), "WORD|i", std::move(help));
  field.or_index = true;
  return field;
}

FieldInfo spots_field(std::string name, std::string help) {
  return {.name = std::move(name),
          .shown = "X,Y",
          .help = std::move(help),
          .type = FieldType::kPixel,
          .several = true,
          .models = "models that see pictures"};
}

}  // namespace

std::vector<FieldInfo> change_fields() {
  return {
      tokens_field("hide", "nobody may look at this token, or patch (\"patch 3,7\")"),
      spots_field("hide_at", "nobody may look at the patch at this pixel; several as X,Y:X,Y"),
      list_field("cut", "A:B[@PLACE]",
                 "A may not look at B: of one site, layer or head with @cross, @5 or @5.3"),
      list_field("silence", "L.H", "what this head of this layer gives is 0; L: all its heads"),
      list_field("scale_head", "L.H=F", "what this head gives is multiplied by F"),
      list_field("even", "L.H", "this head looks evenly at all that it may see"),
      tokens_field("blank", "this token is read as the mask token, or as unknown; a patch is grey"),
      spots_field("blank_at", "the patch at this pixel is grey; several as X,Y:X,Y"),
      tokens_field("zero_value", "whoever looks at this token gets 0 from it, in every layer")};
}

AskedChanges asked_changes(const Question& question, const FinishedRun& run, SiteKind kind) {
  return ChangeReader(question, run, kind).read();
}

}  // namespace fovea
