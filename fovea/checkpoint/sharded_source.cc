#include "fovea/checkpoint/sharded_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t kLongestShardIndex = size_t{256} << 20;

// Tensor name -> name of the file that holds it, in the order of the index.
using WeightMap = std::vector<std::pair<std::string, std::string>>;

bool is_beside_index(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() && path.has_filename() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

WeightMap read_weight_map(const std::filesystem::path& index) {
  const std::string source = index.string();
  const Json json = Json::parse(read_text_file(index, kLongestShardIndex), source);
  const std::string where = source + ": weight_map";
  WeightMap map;
  for (const auto& [name, value] : json.at("weight_map", source).as_object(where)) {
    const std::string& shard = value.as_string(where);
    if (!is_beside_index(shard) || shard.find('\0') != shard.npos) {
      fail(ErrorKind::kBadFile,
           "{} puts tensor {} into the file {}, which is outside the folder of the index; do not "
           "trust this file",
           where, quote_name(name), quote_name(shard));
    }
    map.emplace_back(name, shard);
  }
  if (map.empty()) fail(ErrorKind::kBadFile, "{} is empty; download the file again", where);
  return map;
}

void check_shards_exist(const std::filesystem::path& index, const std::set<std::string>& shards) {
  std::vector<std::string> missing;
  for (const std::string& shard : shards) {
    if (!file_exists(index.parent_path() / shard)) missing.push_back(shard);
  }
  if (!missing.empty()) {
    fail(ErrorKind::kNotFound, "{}: {} of its {} shards are missing, {} first; download them too",
         index.string(), missing.size(), shards.size(), quote_name(missing.front()));
  }
}

class ShardedSource final : public WeightSource {
 public:
  ShardedSource(const std::filesystem::path& index, const ShardOpener& open)
      : name_(index.string()) {
    const WeightMap map = read_weight_map(index);
    std::map<std::string, std::vector<const std::string*>> names_by_shard;
    std::set<std::string> shards;
    for (const auto& [name, shard] : map) {
      names_by_shard[shard].push_back(&name);
      shards.insert(shard);
    }
    check_shards_exist(index, shards);
    for (const auto& [shard, names] : names_by_shard) {
      add_shard(open(index.parent_path() / shard), names);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override {
    return places_[index].source->read(places_[index].position);
  }
  const std::string& file(size_t index) const override {
    return places_[index].source->file(places_[index].position);
  }
  const std::string& name() const override { return name_; }

 private:
  struct Place {
    std::shared_ptr<const WeightSource> source;
    size_t position;
  };

  void add_shard(const std::shared_ptr<const WeightSource>& shard,
                 const std::vector<const std::string*>& names) {
    std::unordered_map<std::string_view, size_t> positions;
    for (size_t i = 0; i < shard->tensors().size(); ++i) {
      positions.emplace(shard->tensors()[i].name, i);
    }
    for (const std::string* name : names) {
      const auto it = positions.find(*name);
      if (it == positions.end()) {
        fail(ErrorKind::kBadFile,
             "{}: says that tensor {} is in {}, which does not hold it; download both again", name_,
             quote_name(*name), shard->name());
      }
      infos_.push_back(shard->tensors()[it->second]);
      places_.push_back({shard, it->second});
    }
  }

  std::string name_;
  std::vector<TensorInfo> infos_;
  std::vector<Place> places_;
};

}  // namespace

std::shared_ptr<const WeightSource> open_sharded_weights(const std::filesystem::path& index,
                                                         const ShardOpener& open) {
  return std::make_shared<ShardedSource>(index, open);
}

}  // namespace fovea
