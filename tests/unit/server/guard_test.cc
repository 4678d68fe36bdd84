#include "fovea/server/guard.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

WebRequest guarded_request(const std::string& host, const std::string& more = "",
                           const std::string& line = "GET /v1/models") {
  return parse_http_head(line + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
}

// 0: it is let in.
int guard_status(const Guard& guard, const WebRequest& request) {
  try {
    guard.check(request);
    return 0;
  } catch (const HttpProblem& problem) {
    return problem.status();
  }
}

TEST(Guard, KnowsThisMachineByItsOwnNamesOnly) {
  const Guard guard({.host = "127.0.0.1", .token = ""});
  for (const char* host : {"localhost:8756", "LOCALHOST", "127.0.0.1:9000", "127.1.2.3", "[::1]:80",
                           "a.localhost:1"}) {
    EXPECT_EQ(guard_status(guard, guarded_request(host)), 0) << host;
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]",
        "evil.example:8756", "localhost@evil.example", ""}) {
    EXPECT_EQ(guard_status(guard, guarded_request(host)), 403) << host;
  }
}

TEST(Guard, AnOpenServerIsKnownByAddressesAndTheNameItWasGiven) {
  const Guard guard({.host = "box.lan", .token = kToken});
  const std::string bearer = std::string("Authorization: Bearer ") + kToken + "\r\n";
  for (const char* host : {"box.lan:8756", "192.168.1.5:8756", "localhost:9000", "[fe80::1]:80"}) {
    EXPECT_EQ(guard_status(guard, guarded_request(host, bearer)), 0) << host;
  }
  EXPECT_EQ(guard_status(guard, guarded_request("evil.example", bearer)), 403);
}

TEST(Guard, PagesOfOtherSitesMayNotAsk) {
  const Guard guard({.host = "127.0.0.1", .token = ""});
  EXPECT_EQ(guard_status(guard, guarded_request("localhost:1", "Origin: http://localhost:1\r\n")),
            0);
  for (const char* origin : {"http://evil.example", "null", "http://localhost:2",
                             "https://localhost:1", "http://localhost:1.evil.example"}) {
    const std::string field = std::string("Origin: ") + origin + "\r\n";
    EXPECT_EQ(guard_status(guard, guarded_request("localhost:1", field)), 403) << origin;
    EXPECT_EQ(guard_status(guard, guarded_request("localhost:1", field, "POST /v1/runs")), 403)
        << origin;
  }
  EXPECT_EQ(guard_status(guard, guarded_request("localhost:1", "Sec-Fetch-Site: cross-site\r\n")),
            403);
  // Who follows a link to the page is welcome.
  EXPECT_EQ(guard_status(
                guard, guarded_request("localhost:1",
                                       "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
                                       "GET /")),
            0);
}

TEST(Guard, BodiesThatAFormCouldSendAreNotTaken) {
  const Guard guard({.host = "127.0.0.1", .token = ""});
  const auto status = [&](const std::string& type) {
    return guard_status(
        guard, guarded_request(
                   "localhost",
                   "Content-Length: 2\r\n" + (type.empty() ? "" : "Content-Type: " + type + "\r\n"),
                   "POST /v1/runs"));
  };
  EXPECT_EQ(status("application/json"), 0);
  EXPECT_EQ(status("image/png"), 0);
  for (const char* type :
       {"", "text/plain", "text/plain;charset=utf-8", "multipart/form-data; boundary=a",
        "application/x-www-form-urlencoded"}) {
    EXPECT_EQ(status(type), 415) << type;
  }
}

TEST(Guard, OnlyTheWholeTokenOpens) {
  const Guard guard({.host = "0.0.0.0", .token = kToken});
  const auto bearer = [&](const std::string& token) {
    return guard_status(guard,
                        guarded_request("10.0.0.1", "Authorization: Bearer " + token + "\r\n"));
  };
  EXPECT_EQ(bearer(kToken), 0);
  EXPECT_EQ(guard_status(guard, guarded_request("10.0.0.1")), 401);
  EXPECT_EQ(bearer(""), 401);
  for (size_t i = 0; i < std::string(kToken).size(); ++i) {
    std::string wrong = kToken;
    wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
    EXPECT_EQ(bearer(wrong), 401);
    EXPECT_EQ(bearer(std::string(kToken).substr(0, i)), 401);
  }
  EXPECT_EQ(bearer(std::string(kToken) + kToken), 401);
  const std::string cookie =
      guard.cookie(guarded_request("10.0.0.1", "", std::string("GET /?token=") + kToken));
  EXPECT_TRUE(cookie.find("HttpOnly") != cookie.npos &&
              cookie.find("SameSite=Strict") != cookie.npos);
  const std::string pair = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(guard_status(guard, guarded_request("10.0.0.1", "Cookie: a=b; " + pair + "\r\n")), 0);
  EXPECT_EQ(guard_status(guard, guarded_request("10.0.0.1", "Cookie: " + pair + "0\r\n")), 401);
  EXPECT_EQ(guard.cookie(guarded_request("10.0.0.1", "", "GET /?token=no")), "");
  // The page itself is no secret.
  EXPECT_EQ(guard_status(guard, guarded_request("10.0.0.1", "", "GET /")), 0);
}

TEST(Guard, TokensAreComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("ab", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_NE(random_token(), random_token());
  EXPECT_EQ(random_token().size(), 32U);
}

}  // namespace
}  // namespace fovea
