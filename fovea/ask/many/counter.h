// How a kind of question counts over many inputs. Each kind makes a Counter for a model.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "fovea/ask/many/inputs.h"
#include "fovea/ask/many/state.h"
#include "fovea/ask/question.h"
#include "fovea/base/error.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

// The inputs that are not counted yet, in order. Refers to both.
class InputQueue {
 public:
  struct Item : NamedInput {
    int64_t number = 0;
  };
  InputQueue(const ManyInputs& inputs, const ManyState& state);

  // The one that is so far behind the next; null: there are not so many.
  const Item* peek(size_t behind = 0);
  Item take();                                     // there must be one
  int64_t count() const { return inputs_.count; }  // of all; 0: nobody knows

 private:
  bool fetch();
  const ManyInputs& inputs_;
  const ManyState& state_;
  int64_t number_;  // of what the stream gives next
  std::deque<Item> items_;
};

class Counter {
 public:
  virtual ~Counter() = default;
  // What the first inputs settle for all, called before any is counted.
  virtual void prepare(InputQueue& /*inputs*/, ManyState& /*state*/) {}
  // Counts the next inputs, as many as run well side by side, one at least. Changes the state only
  // when nothing can fail any more: who is cancelled within has lost these inputs alone.
  virtual void count(InputQueue& inputs, ManyState& state) = 0;
};

// What is asked of many inputs, and of which model.
struct ManyAsked {
  Engine engine;
  std::optional<Engine> reverse;  // a model of the opposite direction, of texts and translations
  Question question;
  bool pictures = false;
  Languages languages;
};

// What may be wrong with one input while others are fine.
bool is_of_input(const Error& error);

// Counts one input: `work` computes, and gives a function that puts the result into the state. What
// is wrong with the input leaves it out.
void count_one(
    InputQueue& inputs, ManyState& state,
    const std::function<std::function<void(ManyState&)>(const InputQueue::Item&, Sample)>& work);

// A picture as the model takes it. Throws as picture_input() does, and Error{kInvalidArgument} for
// an input that is no picture.
PictureInput picture_of(const Engine& engine, const Input& input);
// A text. Throws Error{kInvalidArgument} for an input that is none.
const std::string& text_of(const Input& input);

}  // namespace fovea
