// What all resources share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "fovea/server/exact_pass.h"
#include "fovea/server/http_server.h"
#include "fovea/server/model_shelf.h"
#include "fovea/server/run_maker.h"
#include "fovea/server/run_shelf.h"
#include "fovea/server/upload_shelf.h"
#include "fovea/server/work_queue.h"

namespace fovea {

struct ServerCounts {
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> cancelled{0};
  std::atomic<uint64_t> tiles{0};  // computed or looked up, not those that the browser had
};

struct ServerState {
  ServerState(uint64_t memory, int tile_threads);

  uint64_t memory;  // for runs, uploads and tiles together
  ModelShelf models;
  RunShelf runs;
  UploadShelf uploads;
  std::shared_ptr<TileCache> tiles;
  ServerCounts counts;
  std::shared_ptr<const HttpCounts> connections;
  RunMaker maker;
  // Last, so that they end first: their work uses all of the above.
  WorkQueue quick_lane, tile_lane, work_lane;
  ExactPass exact;
};

}  // namespace fovea
