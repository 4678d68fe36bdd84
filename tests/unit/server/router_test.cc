#include "fovea/server/router.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "fovea/server/work_queue.h"

namespace fovea {
namespace {

WebRequest routed_request(const std::string& line) {
  return parse_http_head(line + " HTTP/1.1\r\nHost: a\r\n\r\n");
}

int routing_status(const Router& router, const std::string& line) {
  try {
    router.find(routed_request(line));
    return 0;
  } catch (const HttpProblem& problem) {
    return problem.status();
  }
}

TEST(Router, FindsTheRouteAndWhatStandsForItsNames) {
  const Router router(all_resources());
  const FoundRoute found = router.find(routed_request("GET /v1/runs/ab/self/tiles/3/mean/2/0/1"));
  ASSERT_NE(found.route, nullptr);
  EXPECT_EQ(found.names.at("hash"), "ab");
  EXPECT_EQ(found.names.at("head"), "mean");
  EXPECT_EQ(found.names.at("tx"), "1");
  EXPECT_EQ(router.find(routed_request("HEAD /v1/runs")).route->method, "GET");
  EXPECT_EQ(router.find(routed_request("POST /v1/runs")).route->method, "POST");
  EXPECT_EQ(router.find(routed_request("GET /index.html")).route, nullptr);
  EXPECT_EQ(routing_status(router, "PUT /v1/runs"), 405);
  EXPECT_EQ(routing_status(router, "GET /v1/runs/ab/ask"), 405);
  EXPECT_EQ(routing_status(router, "GET /v1/nothing"), 404);
}

TEST(Router, EveryRouteHasOneAnswerAndAnAddressOfItsOwn) {
  std::set<std::string> addresses;
  for (const Resource& resource : all_resources()) {
    for (const Route& route : resource.routes) {
      EXPECT_TRUE((route.answer != nullptr) != (route.stream != nullptr)) << route.pattern;
      EXPECT_TRUE(route.pattern.starts_with("/v1/")) << route.pattern;
      EXPECT_FALSE(route.summary.empty()) << route.pattern;
      EXPECT_TRUE(addresses.insert(route.method + " " + route.pattern).second) << route.pattern;
    }
  }
  EXPECT_GE(addresses.size(), 18U);
}

TEST(WorkQueue, RefusesWhatWouldWaitTooLong) {
  std::mutex gate;
  std::atomic<int> begun = 0, done = 0;
  WorkQueue queue(1, 2);
  {
    const std::lock_guard closed(gate);
    const auto work = [&] {
      ++begun;
      const std::lock_guard lock(gate);
      ++done;
    };
    ASSERT_TRUE(queue.submit(work));
    while (begun == 0) std::this_thread::yield();  // the only thread is at it
    EXPECT_TRUE(queue.submit(work));
    EXPECT_TRUE(queue.submit(work));
    EXPECT_FALSE(queue.submit(work));
    EXPECT_EQ(queue.size(), 3U);
  }
  while (queue.size() > 0) std::this_thread::yield();
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace fovea
