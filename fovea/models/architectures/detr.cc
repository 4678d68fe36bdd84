// DETR (Carion et al. 2020, arXiv:2005.12872; transformers: modeling_detr.py): a ResNet, an encoder
// of the cells of its feature map, a decoder of object queries. Table Transformer is the same with
// norms before the parts of each block.
#include <algorithm>
#include <array>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/layers/detr_stack.h"
#include "fovea/layers/mask_head.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/resnet.h"
#include "fovea/models/check_inputs.h"
#include "fovea/models/model.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/layout.h"

namespace fovea {
namespace {

// transformers 5.22 calls them so; files on the hub have the names of the versions before.
constexpr std::array<Rename, 21> kNewDetrNames{
    {{"backbone.model", "backbone.conv_encoder.model"},
     {"self_attn.o_proj", "self_attn.out_proj"},
     {"encoder_attn.o_proj", "encoder_attn.out_proj"},
     {"mlp.fc1", "fc1"},
     {"mlp.fc2", "fc2"},
     {"bbox_attention.q_proj", "bbox_attention.q_linear"},
     {"bbox_attention.k_proj", "bbox_attention.k_linear"},
     {"mask_head.conv1.conv", "mask_head.lay1"},
     {"mask_head.conv1.norm", "mask_head.gn1"},
     {"mask_head.conv2.conv", "mask_head.lay2"},
     {"mask_head.conv2.norm", "mask_head.gn2"},
     {"mask_head.fpn_stages.0.fpn_adapter", "mask_head.adapter1"},
     {"mask_head.fpn_stages.0.refine.conv", "mask_head.lay3"},
     {"mask_head.fpn_stages.0.refine.norm", "mask_head.gn3"},
     {"mask_head.fpn_stages.1.fpn_adapter", "mask_head.adapter2"},
     {"mask_head.fpn_stages.1.refine.conv", "mask_head.lay4"},
     {"mask_head.fpn_stages.1.refine.norm", "mask_head.gn4"},
     {"mask_head.fpn_stages.2.fpn_adapter", "mask_head.adapter3"},
     {"mask_head.fpn_stages.2.refine.conv", "mask_head.lay5"},
     {"mask_head.fpn_stages.2.refine.norm", "mask_head.gn5"},
     {"mask_head.output_conv", "mask_head.out_lay"}}};

constexpr int64_t kLearnedPositions = 50;  // rows and columns that have an entry

ModelSource detr_defaults(const ModelSource& source) {
  return {source.config.with_defaults({{"d_model", 256},
                                       {"encoder_layers", 6},
                                       {"encoder_ffn_dim", 2048},
                                       {"encoder_attention_heads", 8},
                                       {"decoder_layers", 6},
                                       {"decoder_ffn_dim", 2048},
                                       {"decoder_attention_heads", 8},
                                       {"num_queries", 100}}),
          source.weights.renamed(kNewDetrNames)};
}

// The ResNet below, and which of its stages the rest sees.
struct Backbone {
  ResNetSizes sizes;
  std::vector<int64_t> stages;  // in their order; the last is what the encoder reads
};

// Stages out of indices that count the stem as 0.
std::vector<int64_t> stages_of(const Config& config, std::vector<int64_t> indices, int64_t count) {
  for (int64_t& index : indices) {
    if (index < 0) index += count + 1;
    if (index < 1 || index > count) {
      fail(ErrorKind::kUnsupported,
           "{}: out_indices of the backbone names {} but it has stages 1 to {}", config.source(),
           index, count);
    }
    --index;
  }
  std::ranges::sort(indices);
  return indices;
}

Backbone timm_backbone(const Config& config, std::string_view name, std::vector<int64_t> indices,
                       int64_t most_stride, const Weights& weights) {
  Backbone result{.sizes = ResNetSizes::of_timm(config, name, weights)};
  if (most_stride != 8 && most_stride != 16 && most_stride != 32) {
    fail(ErrorKind::kUnsupported, "{}: output_stride of the backbone is {}; it can be 8, 16 or 32",
         config.source(), most_stride);
  }
  result.sizes.most_stride = most_stride;
  if (indices.empty()) indices = {1, 2, 3, 4};
  result.stages = stages_of(config, std::move(indices), result.sizes.stages());
  return result;
}

Backbone resnet_backbone(const Config& own) {
  Backbone result{.sizes = ResNetSizes::of(own)};
  std::vector<int64_t> indices = own.get_ints("out_indices");
  if (own.has("out_features")) {
    indices.clear();
    for (const std::string& name : own.get_strings("out_features")) {
      const bool stage = name.size() == 6 && name.starts_with("stage") && name[5] >= '1';
      indices.push_back(stage ? name[5] - '0' : 0);
    }
  }
  if (indices.empty()) indices = {result.sizes.stages()};
  result.stages = stages_of(own, std::move(indices), result.sizes.stages());
  return result;
}

// The backbone that config.json describes, in any of the ways that it has had for that.
Backbone backbone_of(const Config& config, const Weights& weights) {
  const int64_t dc5 = config.get_bool("dilation", false) ? 16 : 32;
  if (const auto own = config.find_section("backbone_config")) {
    const std::string type = own->get_string("model_type", "resnet");
    if (type == "resnet") return resnet_backbone(*own);
    if (type == "timm_backbone") {
      return timm_backbone(*own, own->get_string("backbone", "resnet50"),
                           own->get_ints("out_indices"), own->get_int("output_stride", 32),
                           weights);
    }
    fail(ErrorKind::kUnsupported, "{}: the backbone is '{}'; fovea has DETR with ResNets only",
         config.source(), type);
  }
  if (config.get_bool("use_timm_backbone", true)) {
    const auto more = config.find_section("backbone_kwargs");
    return timm_backbone(config, config.get_string("backbone", "resnet50"),
                         more ? more->get_ints("out_indices") : std::vector<int64_t>(),
                         more ? more->get_int("output_stride", dc5) : dc5, weights);
  }
  if (config.has("backbone")) {
    fail(ErrorKind::kUnsupported,
         "{}: the backbone is '{}' of the hub, whose sizes are not in this file; give them as "
         "backbone_config",
         config.source(), config.get_string("backbone"));
  }
  return resnet_backbone(Config(Json::object(), config.source()));
}

// f32 [width, channels] out of a 1 x 1 convolution.
ops::Linear load_projection(const LayerSource& source, int64_t in, int64_t out) {
  return ops::Linear(source.weights.tensor("weight", {out, in, 1, 1}).reshaped({out, in}),
                     source.weights.tensor("bias", {out}), source.compute);
}

class Detr final : public Model {
 public:
  explicit Detr(const ModelSource& source) : Detr(detr_defaults(source), 0) {}

  const ModelFacts& facts() const override { return facts_; }
  ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const override;

 private:
  struct Learned {
    Tensor rows, columns;
  };
  Detr(const ModelSource& source, int)
      : Detr(source, source.weights.below_one_of({"detr.model.", "model.", ""},
                                                 "query_position_embeddings.weight")) {}
  Detr(const ModelSource& source, const LayerSource& base)
      : Detr(source, base, base["backbone.conv_encoder.model"]) {}
  Detr(const ModelSource& source, const LayerSource& base, const LayerSource& trunk)
      : Detr(source, base, trunk, backbone_of(source.config, trunk.weights),
             {.norm_first = source.config.model_type() == "table-transformer",
              .norm_between = source.config.get_bool("auxiliary_loss", false)}) {}
  Detr(const ModelSource& source, const LayerSource& base, const LayerSource& trunk,
       const Backbone& backbone, const DetrStackOptions& options)
      : config_(source.config),
        stages_(backbone.stages),
        trunk_(trunk, backbone.sizes, backbone.stages.back()),
        encoder_(base["encoder"], source.config, options),
        decoder_(base["decoder"], source.config, options),
        projection_(load_projection(base["input_projection"],
                                    width_of(backbone, stages_.size() - 1),
                                    encoder_.sizes().width)),
        query_positions_(load_queries(base)) {
    load_positions(base);
    set_facts(backbone);
    load_heads(source, backbone);
  }

  static int64_t width_of(const Backbone& backbone, size_t index) {
    return backbone.sizes.widths[static_cast<size_t>(backbone.stages[index])];
  }

  Tensor load_queries(const LayerSource& base) const {
    return base["query_position_embeddings"].weights.tensor(
        "weight", {config_.get_size("num_queries"), encoder_.sizes().width}, DType::kF32);
  }
  void load_positions(const LayerSource& base);
  void set_facts(const Backbone& backbone);
  void load_heads(const ModelSource& source, const Backbone& backbone);
  void check(const ModelInputs& inputs, const Pass& pass) const;
  Tensor positions(const CellGrid& grid) const;
  Value boxes(const Value& states) const;
  void find_masks(const Pass& pass, const CellStates& memory, const Value& projected,
                  const std::vector<ops::FeatureMap>& maps, ModelOutputs& outputs) const;

  Config config_;
  std::vector<int64_t> stages_;
  ResNet trunk_;
  DetrEncoder encoder_;
  DetrDecoder decoder_;
  ops::Linear projection_;
  Tensor query_positions_;
  std::optional<Learned> learned_;
  std::optional<ops::Linear> classes_;
  std::vector<ops::Linear> boxes_;
  std::optional<MaskHead> masks_;
  ModelFacts facts_;
};

void Detr::load_positions(const LayerSource& base) {
  const int64_t width = encoder_.sizes().width;
  const std::string type = config_.get_string("position_embedding_type", "sine");
  if (type == "learned" && width % 2 == 0) {
    const bool old = base.weights.has("backbone.position_embedding.row_embeddings.weight");
    const LayerSource own = base[old ? "backbone.position_embedding" : "position_embedding"];
    const auto load = [&](std::string_view name) {
      return own[name].weights.tensor("weight", {kLearnedPositions, width / 2}, DType::kF32);
    };
    learned_ = Learned{load("row_embeddings"), load("column_embeddings")};
  } else if (type != "sine" || width % 4 != 0) {
    fail(ErrorKind::kBadFile,
         "{}: position_embedding_type is '{}' and d_model {}; known are 'sine' for multiples of 4 "
         "and 'learned' for multiples of 2",
         config_.source(), type, width);
  }
}

void Detr::set_facts(const Backbone& backbone) {
  facts_ = {.main = stack_facts(encoder_.sizes(), encoder_.layers()),
            .decoder = stack_facts(decoder_.sizes(), decoder_.layers()),
            .picture = PictureFacts{.channels = backbone.sizes.channels, .any_size = true},
            .objects = ObjectFacts{.queries = query_positions_.size(0),
                                   .stride = backbone.sizes.stride(stages_.back())}};
}

void Detr::load_heads(const ModelSource& source, const Backbone& backbone) {
  const bool masks = source.is("ForSegmentation", "mask_head.lay1.weight");
  if (!masks && !source.is("ForObjectDetection", "class_labels_classifier.weight")) return;
  const LayerSource& all = source.weights;
  const LayerSource heads = masks ? all["detr"] : all;
  const int64_t width = facts_.main.width;
  classes_ = load_linear(heads["class_labels_classifier"], width, label_count(config_) + 1);
  const LayerSource layers = heads["bbox_predictor.layers"];
  for (int64_t i = 0; i < 3; ++i)
    boxes_.push_back(load_linear(layers[i], width, i < 2 ? width : 4));
  facts_.head = HeadKind::kObjects;
  if (!masks) return;
  if (stages_.size() < MaskHead::kFineMaps) {
    fail(ErrorKind::kBadFile,
         "{}: the backbone gives {} feature maps but the mask head needs {}; name more in "
         "out_features",
         config_.source(), stages_.size(), MaskHead::kFineMaps + 1);
  }
  masks_.emplace(
      all, config_, encoder_.sizes(),
      std::array<int64_t, 3>{width_of(backbone, 2), width_of(backbone, 1), width_of(backbone, 0)});
  facts_.objects->has_mask_head = true;
}

void Detr::check(const ModelInputs& inputs, const Pass& pass) const {
  refuse_inputs("a model that finds objects", inputs,
                {"input_ids", "token_type_ids", "attention_mask", "decoder_input_ids",
                 "decoder_attention_mask", "input_features"});
  check_pixels(config_, facts_, inputs.pixel_values);
  if (pass.cache != nullptr) {
    fail(ErrorKind::kInvalidArgument, "a model of pictures writes no text; run it without that");
  }
  const Tensor& mask = inputs.pixel_mask;
  if (mask.empty()) return;
  const Shape wanted{inputs.pixel_values.size(1), inputs.pixel_values.size(2)};
  if (mask.dtype() != DType::kI64 || !(mask.shape() == wanted)) {
    fail(ErrorKind::kInvalidArgument,
         "pixel_mask is {} {} but pixel_values has {} pixels; it must have one entry for each",
         dtype_name(mask.dtype()), to_string(mask.shape()), to_string(wanted));
  }
}

Tensor Detr::positions(const CellGrid& grid) const {
  if (learned_) return learned_cell_positions(grid, learned_->rows, learned_->columns);
  return sine_cell_positions(grid, facts_.main.width);
}

Value Detr::boxes(const Value& states) const {
  Value x = states;
  for (size_t i = 0; i + 1 < boxes_.size(); ++i) x = boxes_[i](x, Activation::kRelu);
  return ops::activation(boxes_.back()(x), Activation::kSigmoid);
}

void Detr::find_masks(const Pass& pass, const CellStates& memory, const Value& projected,
                      const std::vector<ops::FeatureMap>& maps, ModelOutputs& outputs) const {
  const MaskHead::Attention attention =
      masks_->attend(pass, outputs.last_hidden_state.tensor, memory.states.tensor, memory.grid);
  if (pass.logits == LogitRows::kNone) return;
  const CellGrid& grid = memory.grid;
  const Tensor features = ops::transpose(projected.tensor, 0, 1)
                              .tensor.reshaped({1, facts_.main.width, grid.rows, grid.cols});
  MaskHead::FineMaps fine;
  for (size_t i = 0; i < fine.size(); ++i) {
    fine[fine.size() - 1 - i] = maps[static_cast<size_t>(stages_[i])].value().tensor;
  }
  outputs.pred_masks = masks_->masks(attention, features, fine);
}

ModelOutputs Detr::forward(const ModelInputs& inputs, const Pass& pass) const {
  check(inputs, pass);
  const Value pixels = numeric_input(pass, kPixelValues, inputs.pixel_values);
  const bool finds_masks = masks_.has_value() && pass.tape == nullptr;  // they have no gradient
  const std::vector<ops::FeatureMap> maps = trunk_(
      pass, ops::reshape(pixels, {1, pixels.shape()[0], pixels.shape()[1], pixels.shape()[2]}),
      /*keep_all=*/finds_masks && pass.logits != LogitRows::kNone);
  const Shape& shape = maps.back().shape();
  const int64_t channels = shape[1];
  CellStates cells{
      .states = {}, .positions = {}, .grid = cell_grid(shape[2], shape[3], inputs.pixel_mask)};
  if (std::ranges::count(cells.grid.valid, 0) == cells.grid.cells()) {
    fail(ErrorKind::kInvalidArgument,
         "pixel_mask leaves no cell of the picture; it must be 1 where there is picture");
  }
  cells.positions = positions(cells.grid);
  const Value features = ops::reshape(maps.back().value(), {channels, cells.grid.cells()});
  const Value projected = projection_(ops::transpose(features, 0, 1));
  cells.states = projected;
  cells.states = encoder_(pass, cells);

  ModelOutputs outputs;
  outputs.encoder_last_hidden_state = cells.states;
  outputs.last_hidden_state = decoder_(pass, query_positions_, cells);
  if (classes_ && pass.logits != LogitRows::kNone) {
    outputs.logits = (*classes_)(outputs.last_hidden_state);
    outputs.pred_boxes = boxes(outputs.last_hidden_state);
  }
  if (finds_masks) find_masks(pass, cells, projected, maps, outputs);
  return outputs;
}

}  // namespace

Architecture detr_architecture() {
  return {.name = "detr",
          .covers = "DETR with ResNets, DC5, panoptic DETR, Table Transformer",
          .model_types = {"detr", "table-transformer"},
          .not_needed = {"num_batches_tracked"},
          .build = &build_model<Detr>};
}

}  // namespace fovea
