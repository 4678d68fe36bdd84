// Questions as JSON: parse_question and to_json are inverses, and what cannot be asked is told.
#include "fovea/ask/question.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "ask_test_support.h"
#include "fovea/ask/alignment.h"
#include "fovea/ask/answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/places.h"
#include "fovea/ask/predictions.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/schema.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::json_of;
using support::question_of;

// A value that the field takes, by chance.
Json random_value(FieldInfo field, std::mt19937& random) {
  if (field.several) {
    field.several = false;
    return Json(Json::Array{random_value(field, random), random_value(field, random)});
  }
  const auto pick = [&](size_t count) { return random() % count; };
  if (field.or_list && pick(3) == 0) {
    const auto first = static_cast<int64_t>(pick(9));
    return Json(Json::Array{first + 1, first});
  }
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kReal;
  if (field.type == FieldType::kFlag) return true;
  if (!field.words.empty() && (!number || pick(2) == 0))
    return field.words[pick(field.words.size())];
  if (field.type == FieldType::kPixel || field.type == FieldType::kSize) {
    return Json(Json::Array{int64_t(1 + pick(90)), int64_t(1 + pick(90))});
  }
  if (field.type == FieldType::kRange) {
    return Json(Json::Array{int64_t(pick(9)), int64_t(9 + pick(90))});
  }
  const double low = std::isfinite(field.low) ? field.low : 0;
  if (field.type == FieldType::kInteger) return static_cast<int64_t>(low) + int64_t(pick(1000));
  if (std::isfinite(field.high)) return low + (field.high - low) * double(1 + pick(512)) / 512;
  if (field.type == FieldType::kReal) return low + double(pick(1000)) / 512;
  if (field.or_index && pick(2) == 0) return int64_t(pick(100));
  return pick(2) == 0 ? "it" : "ünï “code”\n";
}

TEST(Question, JsonAndQuestionAreInversesForEveryKind) {
  std::mt19937 random(11);
  int64_t asked = 0;
  for (const QuestionKind& kind : all_question_kinds()) {
    for (int turn = 0; turn < 200; ++turn) {
      Json json = Json::object({{"kind", kind.name}});
      for (const FieldInfo& field : kind.fields) {
        if (random() % 2 == 0) json.set(field.name, random_value(field, random));
      }
      Question question;
      try {
        question = parse_question(json);
      } catch (const Error&) {
        continue;  // fields that do not go together
      }
      ++asked;
      const Json written = to_json(question);
      EXPECT_EQ(to_json(parse_question(written)).dump(), written.dump()) << json.dump();
      // Nothing is lost: every member is there, by its canonical name.
      EXPECT_EQ(written.as_object("").size(), json.as_object("").size()) << json.dump();
    }
  }
  EXPECT_GT(asked, 600);
}

TEST(Question, EveryFieldThatKindsOfAVerbShareIsOfOneSort) {
  std::map<std::pair<std::string, std::string>, bool> is_flag;
  for (const QuestionKind& kind : all_question_kinds()) {
    EXPECT_FALSE(kind.summary.empty()) << kind.name;
    for (const FieldInfo& field : kind.fields) {
      EXPECT_FALSE(field.help.empty()) << kind.name << ' ' << field.name;
      const bool flag = field.type == FieldType::kFlag;
      for (const std::string& verb : kind.verbs) {
        EXPECT_EQ(is_flag.emplace(std::pair(verb, field.name), flag).first->second, flag)
            << verb << " has one option " << field.name;
      }
      for (const FieldRule& rule : field.rules) {
        const std::string& other = !rule.needs.empty()    ? rule.needs
                                   : !rule.beside.empty() ? rule.beside
                                                          : rule.excludes;
        const FieldInfo* found = find_field(kind.fields, other);
        ASSERT_NE(found, nullptr) << kind.name << ' ' << other;
        for (const std::string& value : rule.values) {
          EXPECT_EQ(std::ranges::count(found->words, value), 1) << kind.name << ' ' << value;
        }
      }
    }
  }
}

TEST(Question, SitesGoByTheirCanonicalNames) {
  const Question question = question_of("{'kind': 'matrix', 'site': 'encoder', 'token': 3}");
  EXPECT_EQ(question.place.site, SiteKind::kEncoderSelf);
  EXPECT_EQ(to_json(question).dump(), R"({"kind":"matrix","site":"encoder_self","token":"#3"})");
}

TEST(Question, WithoutAKindTheRestSaysWhichIsMeant) {
  const auto meant = [](const std::string& text, RunSort sort = RunSort::kText) {
    return parse_question(json_of(text), sort).kind;
  };
  EXPECT_EQ(meant("{}"), "heads");
  EXPECT_EQ(meant("{'head': 'all', 'layer': 'all'}"), "heads");
  EXPECT_EQ(meant("{'head': [3, 0]}"), "heads");
  EXPECT_EQ(meant("{'head': '3,0'}"), "heads");
  EXPECT_EQ(meant("{'head': 'min'}"), "matrix");
  EXPECT_EQ(meant("{'head': 3}"), "matrix");
  EXPECT_EQ(meant("{'head': 'mean'}"), "matrix");
  EXPECT_EQ(meant("{'head': 3, 'token': 'it', 'column': true}"), "read");
  EXPECT_EQ(meant("{}", RunSort::kPicture), "maps");
  EXPECT_EQ(meant("{'token': '[CLS]'}", RunSort::kPicture), "maps");
  EXPECT_EQ(meant("{'words': true}", RunSort::kPicture), "heads");
  EXPECT_EQ(meant("{'rows': '0:5'}", RunSort::kPicture), "heads");
  EXPECT_EQ(meant("{'rows': '0:5', 'head': 2}", RunSort::kPicture), "matrix");
  EXPECT_EQ(meant("{'rows': '0:5', 'top': 3}", RunSort::kPicture), "top_patches");
  EXPECT_EQ(meant("{'site': 'self', 'head': 1}", RunSort::kPicture), "matrix");
}

TEST(Question, SeveralHeadsAreAListOrAText) {
  for (const char* heads : {"[3, 0]", "'3,0'"}) {
    const Question question = question_of(std::string("{'kind': 'lines', 'head': ") + heads + "}");
    EXPECT_EQ(question.place.head, (HeadChoice{HeadChoice::Kind::kSome, 0, {3, 0}}));
    EXPECT_EQ(to_json(question).dump(), R"({"kind":"lines","head":[3,0]})");
  }
  EXPECT_EQ(question_of("{'kind': 'lines', 'head': [3]}").place.head,
            (HeadChoice{HeadChoice::Kind::kOne, 3}));
  const auto wrong = [](const std::string& text, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{"head"}, part, [&] { question_of(text); });
  };
  EXPECT_TRUE(wrong("{'kind': 'lines', 'head': [3, 3]}", "3 is given twice"));
  EXPECT_TRUE(wrong("{'kind': 'lines', 'head': [0, -1]}", "or several, N,N"));
  EXPECT_TRUE(wrong("{'kind': 'lines', 'head': []}", "or several, N,N"));
  EXPECT_TRUE(wrong("{'kind': 'lines', 'head': '1,,2'}", "or several, N,N"));
  EXPECT_TRUE(wrong("{'kind': 'matrix', 'head': [0, 1]}",
                    "matrix takes one, not several; give a number or mean, max, min, all, or "
                    "choose another `kind`: heads, lines show several"));
  EXPECT_TRUE(wrong("{'token': 'it', 'head': '0,1'}", "read takes one, not several"));
}

TEST(Question, NullAndFalseAreAsIfLeftOut) {
  EXPECT_EQ(question_of("{'token': null, 'column': false, 'layer': 'all'}").kind, "heads");
  EXPECT_EQ(question_of("{'head': null}").kind, "heads");
  EXPECT_EQ(to_json(question_of("{'kind': 'heads', 'token': null, 'words': false}")).dump(),
            R"({"kind":"heads"})");
}

TEST(Question, APageRefusesWhatItDoesNotShow) {
  const auto page = [](const std::string& text) { check_page(question_of(text)); };
  EXPECT_NO_THROW(page("{'kind': 'matrix', 'layer': 1}"));
  EXPECT_NO_THROW(page("{'kind': 'align', 'norms': true}"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"hard"}, "no place on a page",
                         [&] { page("{'kind': 'align', 'hard': true}"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"kind"}, "a page has no lines",
                         [&] { page("{'kind': 'lines'}"); }));
  // Of a picture it shows the maps as they are, and no other view.
  EXPECT_NO_THROW(page("{'kind': 'maps', 'at': [3, 4]}"));
  for (const char* field : {"'mask': 0.6", "'text': ['a cat']", "'without_artifacts': true"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no place on a page", [&] {
      page(fmt::format("{{'kind': 'maps', {}}}", field));
    })) << field;
  }
  for (const char* kind : {"kernels", "composite", "lost", "field", "top_patches"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"kind"},
                           fmt::format("a page has no {}", kind),
                           [&] { page(fmt::format("{{'kind': '{}'}}", kind)); }));
  }
}

TEST(Question, WhatCannotBeAskedIsTold) {
  // All layers are shown with all heads, whatever else is asked for.
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"head"}, "all heads are shown",
                         [] { question_of("{'layer': 'all', 'head': 3}"); }));
  const auto wrong = [](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part, [&] { question_of(text); });
  };
  EXPECT_TRUE(wrong("{'kind': 'matrx'}", "kind", "did you mean 'matrix'?"));
  EXPECT_TRUE(wrong("{'kind': 3}", "kind", "3 but must be a name"));
  EXPECT_TRUE(wrong("{'kind': 'matrix', 'layr': 1}", "layr", "did you mean 'layer'?"));
  EXPECT_TRUE(wrong("{'kind': 'matrix', 'layer': 'all'}", "layer", "'all' is not a whole number"));
  EXPECT_TRUE(wrong("{'kind': 'heads', 'token': 'it'}", "token", "heads does not take it but"));
  EXPECT_TRUE(wrong("{'kind': 'heads', 'head': 3}", "head",
                    "3 is not all, or several, N,N: all heads are shown; matrix shows one"));
  EXPECT_TRUE(wrong("{'column': true}", "column", "give `token` too"));
  EXPECT_TRUE(wrong("{'kind': 'align', 'threshold': 0.3}", "threshold", "give `links` threshold"));
  EXPECT_TRUE(wrong("{'kind': 'align', 'links': 'threshold', 'threshold': 3}", "threshold",
                    "weights are at most 1; give `norms` too"));
  EXPECT_TRUE(wrong("{'kind': 'align', 'head': 'max'}", "head", "or mean"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "an object of named values",
                         [] { question_of("[1]"); }));
}

TEST(Question, WhateverIsSentIsAQuestionOrAnErrorAboutIt) {
  const std::string valid =
      R"({"kind":"align","layer":1,"head":"mean","links":"threshold","threshold":0.5,"norms":true})";
  constexpr std::string_view kLetters = R"({}[]":,0129-.eaklntru\)";
  std::mt19937 random(5);
  for (int turn = 0; turn < 5000; ++turn) {
    std::string text = valid;
    for (int change = 0; change < 1 + turn % 4; ++change) {
      const size_t place = random() % text.size();
      const char letter = kLetters[random() % kLetters.size()];
      if (random() % 3 == 0) {
        text.erase(place, 1 + random() % 5);
      } else if (random() % 2 == 0) {
        text.insert(place, 1, letter);
      } else {
        text[place] = letter;
      }
      if (text.empty()) text = "{";
    }
    try {
      const Question question = parse_question(Json::parse(text, "the question"));
      EXPECT_EQ(to_json(parse_question(to_json(question))).dump(), to_json(question).dump());
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kInvalidArgument ||
                  error.kind() == ErrorKind::kBadFile)
          << text << ": " << error.what();
    }
  }
}

TEST(Question, EveryKindHasASchema) {
  const Json schema = question_schema();
  for (const QuestionKind& kind : all_question_kinds()) {
    const Json& one = schema.at("$defs", "").at(kind.name, "");
    for (const FieldInfo& field : kind.fields) {
      EXPECT_NE(one.at("properties", "").find(field.name), nullptr) << kind.name << field.name;
    }
  }
  EXPECT_NE(schema.at("$defs", "").at("input", "").at("properties", "").find("target"), nullptr);
}

TEST(Input, JsonAndInputAreInverses) {
  for (const char* text :
       {"{'text': ''}", "{'text': 'a', 'pair': ''}",
        "{'text': 'a', 'from': 'en', 'to': 'fr', 'beam': 2, 'length_penalty': 0.5, "
        "'most_tokens': 9}",
        "{'text': 'a', 'target': 'b'}",
        "{'text': 'a', 'generate': 3, 'temperature': 1.5, 'top_p': 0.5, 'seed': 4}"}) {
    const Json json = json_of(text);
    EXPECT_EQ(to_json(parse_input(json)).dump(), json.dump());
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"beam"}, "does not go with `target`",
                         [] { parse_input(json_of("{'target': 'x', 'beam': 2}")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"seed"}, "give `generate` too",
                         [] { parse_input(json_of("{'seed': 1}")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"txet"}, "did you mean 'text'?",
                         [] { parse_input(json_of("{'txet': 'a'}")); }));
}

}  // namespace
}  // namespace fovea
