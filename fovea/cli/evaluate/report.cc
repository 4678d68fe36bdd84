#include "fovea/cli/evaluate/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/show.h"
#include "fovea/cli/table.h"

namespace fovea {
namespace {

constexpr int kMostBar = 20, kLeastBar = 8;

// "random weights" is "random_weights" in files.
std::string column_key(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

Json scores_json(const ScoreReport& report, const std::vector<double>& scores) {
  Json json = Json::object();
  for (size_t row = 0; row < report.rows.size(); ++row) {
    json.set(report.rows[row].key, scores[row]);
  }
  return json;
}

// The model's own scores are "scores"; those beside it have the name of their column.
std::string member_of(const ScoreReport& report, size_t model) {
  return model == 0 ? "scores" : column_key(report.columns[model]);
}

Json report_json(const ScoreReport& report) {
  Json json = Json::object();
  json.set("kind", report.kind);
  json.set("measure", report.title);
  json.set("model", report.model);
  json.set("layer", report.layer);
  json.set("pictures", static_cast<int64_t>(report.pictures.size()));
  json.set("objects", report.objects());
  for (size_t model = 0; model < report.columns.size(); ++model) {
    std::vector<double> means;
    for (size_t row = 0; row < report.rows.size(); ++row) means.push_back(report.mean(model, row));
    json.set(member_of(report, model), scores_json(report, means));
  }
  json.set("notes", Json::array_of(report.notes));
  Json pictures = Json::array();
  for (const ScoreReport::Picture& picture : report.pictures) {
    Json entry = Json::object();
    entry.set("picture", picture.name);
    entry.set("objects", picture.objects);
    for (size_t model = 0; model < report.columns.size(); ++model) {
      entry.set(member_of(report, model), scores_json(report, picture.scores[model]));
    }
    pictures.push_back(std::move(entry));
  }
  json.set("per_picture", std::move(pictures));
  return json;
}

std::string report_csv(const ScoreReport& report) {
  std::string text = "picture,objects";
  for (size_t model = 0; model < report.columns.size(); ++model) {
    const std::string before = model == 0 ? "" : column_key(report.columns[model]) + ".";
    for (const ScoreRow& row : report.rows) text += "," + csv_text(before + row.key);
  }
  text += "\n";
  for (const ScoreReport::Picture& picture : report.pictures) {
    text += fmt::format("{},{}", csv_text(picture.name), picture.objects);
    for (const std::vector<double>& scores : picture.scores) {
      for (const double score : scores) text += fmt::format(",{}", score);
    }
    text += "\n";
  }
  return text;
}

// The label, a number and its bar for the model, a number alone for what stands beside it.
std::string report_text(const ScoreReport& report, const Terminal& terminal) {
  int widest = 0, beside = 0;
  for (const ScoreRow& row : report.rows) widest = std::max(widest, display_width(row.label));
  for (size_t model = 1; model < report.columns.size(); ++model) {
    beside += 2 + display_width(report.columns[model]);
  }
  const int bar_width = std::clamp(terminal.width - widest - 11 - beside, kLeastBar, kMostBar);
  std::string text = terminal.bold(printable(report.model)) + fmt::format(" · {}\n", report.title);
  text += terminal.dim(fmt::format("layer {} · {} picture{}, {} objects", report.layer,
                                   report.pictures.size(), report.pictures.size() == 1 ? "" : "s",
                                   report.objects()));
  text += "\n\n";
  if (report.columns.size() > 1) {
    std::string heading =
        padded_right("", widest + 4) + padded_right(report.columns[0], bar_width + 7);
    for (size_t model = 1; model < report.columns.size(); ++model) {
      heading += "  " + report.columns[model];
    }
    text += terminal.dim(heading) + "\n";
  }
  for (size_t row = 0; row < report.rows.size(); ++row) {
    if (row == 0 || report.rows[row].group != report.rows[row - 1].group) {
      text += report.rows[row].group + "\n";
    }
    const double value = report.mean(0, row);
    text += fmt::format("  {}{:.3f}  {}", padded_right(report.rows[row].label, widest + 2), value,
                        padded_right(bar(value, bar_width), bar_width));
    for (size_t model = 1; model < report.columns.size(); ++model) {
      text += "  " + padded_right(fmt::format("{:.3f}", report.mean(model, row)),
                                  display_width(report.columns[model]));
    }
    text += "\n";
  }
  for (const std::string& note : report.notes) text += "\n" + wrapped(note, terminal.width) + "\n";
  return without_trailing_spaces(text);
}

}  // namespace

double ScoreReport::mean(size_t model_index, size_t row) const {
  double sum = 0;
  for (const Picture& picture : pictures) sum += picture.scores[model_index][row];
  return pictures.empty() ? 0 : sum / static_cast<double>(pictures.size());
}

int64_t ScoreReport::objects() const {
  int64_t count = 0;
  for (const Picture& picture : pictures) count += picture.objects;
  return count;
}

void show_report(const ScoreReport& report, const Args& args) {
  show({.csv = [&] { return report_csv(report); },
        .json = [&] { return report_json(report); },
        .text = [&](const Terminal& terminal) { return report_text(report, terminal); }},
       args);
}

}  // namespace fovea
