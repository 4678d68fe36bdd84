#include "fovea/cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "fovea/cli/help.h"
#include "fovea/cli/parse.h"

namespace fovea {
namespace {

// What the program reads, beside what the libraries below it do.
constexpr std::array<std::array<const char*, 2>, 22> kVariables{{
    {"FOVEA_CACHE", "where fetched models are (default: fovea/ in the user's cache)"},
    {"FOVEA_MODELS", "where the bundled models are (default: beside the program)"},
    {"FOVEA_CALLED_AS", "what stands for `fovea` in the commands that it suggests"},
    {"FOVEA_LOG", "what is told on stderr: trace, debug, info, warn, error or off"},
    {"OMP_NUM_THREADS", "processor cores to use where --threads is not given (default: all)"},
    {"OMP_WAIT_POLICY", "how threads wait for each other: active or passive"},
    {"GOMP_SPINCOUNT",
     "how long they spin before they sleep (default: shortly where others compute)"},
    {"FOVEA_ISA", "avx2 or sse4: kernels of that instruction set alone"},
    {"FOVEA_BENCH_PYTHON", "the Python that `fovea bench --compare` runs PyTorch in"},
    {"HF_HOME", "where Hugging Face's tools keep their files"},
    {"HF_HUB_CACHE", "where they keep models (default: hub/ in HF_HOME)"},
    {"HF_TOKEN", "for private and gated models"},
    {"HF_ENDPOINT", "another hub than https://huggingface.co"},
    {"HF_HUB_OFFLINE", "1: refuse to download"},
    {"SSL_CERT_FILE", "the certificates that downloads trust"},
    {"XDG_CACHE_HOME", "the user's cache (default: ~/.cache)"},
    {"TMPDIR", "where a run too large for memory is put"},
    {"NO_COLOR", "if not empty: no colours, and no progress bars"},
    {"FORCE_COLOR", "1 to 3: colours even into a file or pipe"},
    {"CLICOLOR_FORCE", "1: the same as FORCE_COLOR"},
    {"COLORTERM", "truecolor: the terminal has all colours"},
    {"COLUMNS", "the width of drawings, where no terminal says it"},
}};

constexpr const char* kManualExamples =
    R"(  fovea demo
  fovea translate "I love music."
  fovea text "The cat sat on the mat." --out page.html
)";

// Text of a line of roff: nothing in it is a command, and `code` is bold.
std::string roff(std::string_view text) {
  std::string result;
  bool bold = false;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '`':
        if (!bold && text.find('`', i + 1) == text.npos) {
          result += "\\(ga";
        } else {
          bold = !bold;
          result += bold ? "\\fB" : "\\fR";
        }
        break;
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '|':
        result += "|\\:";
        break;  // a line may be broken there
      default:
        result += text[i];
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string item(std::string_view tag, std::string_view meaning) {
  return fmt::format(".TP\n{}\n{}\n", tag, roff(meaning));
}

std::string manual_signature(const Option& option) {
  std::string text = bold("--" + option.name);
  if (option.letter != 0) text = bold(std::string("-") + option.letter) + ", " + text;
  if (option.kind == Option::Kind::kFlag) return text;
  return text + " " + italic(option.kind == Option::Kind::kChoice ? "NAME" : option.placeholder);
}

std::string manual_signature(const Positional& positional) {
  const std::string name = italic(positional.name) + (positional.several ? "..." : "");
  return positional.required ? name : "[" + name + "]";
}

// Command::details as roff: prose is filled; a line "heading:" above indented lines becomes a
// subsection; an indented "name  meaning" an item of a list, and other indented lines an example.
class Details {
 public:
  // `after_heading`: nothing stands between that and this, so that no paragraph ends here.
  explicit Details(bool after_heading) : after_heading_(after_heading) {}

  std::string write(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      add(line, /*before_indented=*/text.starts_with("  "));
    }
    enter(Kind::kNone);
    return std::move(page_);
  }

 private:
  enum class Kind { kNone, kProse, kItem, kExample };

  void enter(Kind kind, std::string_view opening = {}) {
    if (kind == kind_) return;
    if (kind_ == Kind::kExample) page_ += ".EE\n.RE\n";
    if (kind == Kind::kProse || kind == Kind::kExample) page_ += after_heading_ ? "" : ".PP\n";
    page_ += opening;
    if (kind != Kind::kNone) after_heading_ = false;
    kind_ = kind;
  }

  void add(std::string_view line, bool before_indented) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view words = line.substr(indent);
    if (words.empty()) return enter(Kind::kNone);
    if (indent == 0) return add_outer(line, before_indented);
    const size_t gap = words.find("  ");
    if (kind_ == Kind::kItem && indent > 2) {
      page_ += roff(words) + "\n";  // the meaning goes on
    } else if (gap != words.npos) {
      enter(Kind::kItem);
      page_ += item(bold(words.substr(0, gap)), words.substr(words.find_first_not_of(' ', gap)));
    } else {
      enter(Kind::kExample, ".RS 4\n.EX\n");
      page_ += roff(words) + "\n";
    }
  }

  void add_outer(std::string_view line, bool before_indented) {
    if (kind_ == Kind::kNone && before_indented && line.ends_with(':')) {
      std::string title = roff(line.substr(0, line.size() - 1));
      title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
      page_ += ".SS " + title + "\n";
      after_heading_ = true;
      return;
    }
    enter(Kind::kProse);
    page_ += roff(line) + "\n";
  }

  bool after_heading_;
  Kind kind_ = Kind::kNone;
  std::string page_;
};

// "…\n\nexamples:\n  …" as what is before, and the examples.
std::pair<std::string_view, std::string_view> split_examples(std::string_view details) {
  for (const std::string_view heading : {"examples:\n", "example:\n"}) {
    const size_t place = details.rfind(heading);
    if (place == details.npos || (place > 0 && details[place - 1] != '\n')) continue;
    return {details.substr(0, place), details.substr(place + heading.size())};
  }
  return {details, {}};
}

std::string page_head(std::string_view name, std::string_view summary) {
  std::string title(name);
  for (char& letter : title)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return fmt::format(
      ".\\\" Made by `fovea help --man`.\n.TH {} 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      roff(title), program_version(), roff(name), roff(summary));
}

}  // namespace

std::string program_man_page(std::span<const Command> commands) {
  std::string page = page_head("fovea", "shows what a transformer is looking at");
  page += ".B fovea\n\\fIVERB\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  page += roff(
      "fovea opens a checkpoint as people download it, runs it, and gives every attention map of "
      "every head of every layer, exactly: in the terminal, as a figure, as a page or as numbers.");
  page += "\n.SH VERBS\n";
  for (const Command& command : commands) {
    page += item(bold("fovea-" + command.name) + "(1)", command.summary);
  }
  page += item(bold("help") + " [" + italic("VERB") + "]",
               "the help of a verb, or with --man its manual page");
  page += ".SH EXIT STATUS\n" + item("0", "all went well") + item("1", "it failed") +
          item("2", "the command line was wrong");
  page += ".PP\n" + roff("What went wrong is one line on stderr.") + "\n.SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : kVariables) page += item(bold(name), meaning);
  page += ".SH EXAMPLES\n" + Details(/*after_heading=*/true).write(kManualExamples);
  return page;
}

std::string command_man_page(const Command& command) {
  const auto [details, examples] = split_examples(command.details);
  std::string page = page_head("fovea-" + command.name, command.summary);
  std::vector<Option> options = options_of(command);
  options.push_back(Option::flag("help", "a shorter form of this page"));
  page += bold("fovea " + command.name);
  for (const Positional& positional : command.positionals)
    page += " " + manual_signature(positional);
  for (const Option& option : options) {
    if (option.required) page += " " + manual_signature(option);
  }
  page += " [\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  for (const Positional& positional : command.positionals) {
    page += item(italic(positional.name), positional.help);
  }
  page += Details(command.positionals.empty()).write(details) + ".SH OPTIONS\n";
  for (const Option& option : options) page += item(manual_signature(option), describe(option));
  if (!examples.empty()) page += ".SH EXAMPLES\n" + Details(/*after_heading=*/true).write(examples);
  return page + ".SH SEE ALSO\n.BR fovea (1)\n";
}

}  // namespace fovea
