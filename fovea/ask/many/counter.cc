#include "fovea/ask/many/counter.h"

#include "fovea/vision/decode.h"

namespace fovea {

InputQueue::InputQueue(const ManyInputs& inputs, const ManyState& state)
    : inputs_(inputs), state_(state), number_(inputs.first) {}

// Passes over what is counted, which nobody reads.
bool InputQueue::fetch() {
  for (;;) {
    std::optional<NamedInput> next = inputs_.next();
    if (!next) return false;
    const int64_t number = number_++;
    if (state_.has(number)) continue;
    items_.push_back({{std::move(*next)}, number});
    return true;
  }
}

const InputQueue::Item* InputQueue::peek(size_t behind) {
  while (items_.size() <= behind) {
    if (!fetch()) return nullptr;
  }
  return &items_[behind];
}

InputQueue::Item InputQueue::take() {
  peek();
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

bool is_of_input(const Error& error) {
  return error.kind() != ErrorKind::kCancelled && error.kind() != ErrorKind::kInternal &&
         error.kind() != ErrorKind::kBusy;
}

void count_one(
    InputQueue& inputs, ManyState& state,
    const std::function<std::function<void(ManyState&)>(const InputQueue::Item&, Sample)>& work) {
  const InputQueue::Item item = inputs.take();
  try {
    work(item, item.read())(state);
  } catch (const Error& error) {
    if (!is_of_input(error)) throw;
    state.leave_out(item.number, item.name, error.what());
  }
  state.end_input(item.number);
}

PictureInput picture_of(const Engine& engine, const Input& input) {
  const auto* picture = std::get_if<PictureBytes>(&input.what);
  if (picture == nullptr) fail(ErrorKind::kInvalidArgument, "it is no picture");
  return picture_input(engine, decode_picture(as_bytes(picture->bytes), picture->name).picture,
                       input.size);
}

const std::string& text_of(const Input& input) {
  const auto* text = std::get_if<Text>(&input.what);
  if (text == nullptr) fail(ErrorKind::kInvalidArgument, "it is no text");
  return text->text;
}

}  // namespace fovea
