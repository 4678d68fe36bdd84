#include "fovea/server/http_request.h"

#include <gtest/gtest.h>

#include "fovea/server/http_response.h"

namespace fovea {
namespace {

WebRequest parsed(const std::string& text) {
  const auto end = find_head_end(text);
  EXPECT_TRUE(end.has_value()) << text;
  return parse_http_head(std::string_view(text).substr(0, end.value_or(0)));
}

// 0: it is taken.
int status_of(const std::string& text) {
  try {
    parsed(text);
    return 0;
  } catch (const HttpProblem& problem) {
    return problem.status();
  }
}

std::string with_fields(const std::string& fields) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

std::string of_target(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

TEST(WebRequest, IsReadWithItsPathQueryAndFields) {
  const WebRequest request = parsed(
      "POST /v1/runs/a%20b?of=times-even&x=1+2%2B HTTP/1.1\r\nHost: localhost:1\r\n"
      "Content-LENGTH: 12\r\naccept:a\r\nAccept: b \r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/runs/a b");
  EXPECT_EQ(request.parts, (std::vector<std::string>{"v1", "runs", "a b"}));
  EXPECT_EQ(*request.find_query("x"), "1 2+");
  EXPECT_EQ(request.find_query("y"), nullptr);
  EXPECT_EQ(request.header("accept"), "a, b");
  EXPECT_EQ(request.length, 12);
  EXPECT_TRUE(request.wants_continue && request.keep_alive && !request.is_get());
}

TEST(WebRequest, KeepsTheConnectionAsItsVersionSays) {
  EXPECT_TRUE(parsed(with_fields("")).keep_alive);
  EXPECT_FALSE(parsed(with_fields("Connection: Close\r\n")).keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(WebRequest, AHeadIsWholeWithItsEmptyLine) {
  const std::string head = with_fields("A: b\r\n");
  for (size_t length = 0; length < head.size(); ++length) {
    EXPECT_FALSE(find_head_end(head.substr(0, length)).has_value()) << length;
  }
  EXPECT_EQ(find_head_end(head + "body"), head.size());
}

TEST(WebRequest, FormsThatTwoReadersMayTakeDifferentlyAreRefused) {
  const auto line = [](const std::string& text) { return text + "\r\nHost: a\r\n\r\n"; };
  EXPECT_EQ(status_of(line("GET /")), 400);
  EXPECT_EQ(status_of(line("GET  / HTTP/1.1")), 400);
  EXPECT_EQ(status_of(line("GET / HTTP/1.1 ")), 400);
  EXPECT_EQ(status_of(line("GET / HTTX/1.1")), 400);
  EXPECT_EQ(status_of(line("GET / HTTP/2.0")), 505);
  EXPECT_EQ(status_of(line("PRI * HTTP/2.0")), 505);
  EXPECT_EQ(status_of(line("G@T / HTTP/1.1")), 400);
  EXPECT_EQ(status_of(line("FETCH / HTTP/1.1")), 501);
  EXPECT_EQ(status_of(line("CONNECT a:1 HTTP/1.1")), 405);
  EXPECT_EQ(status_of(line("OPTIONS * HTTP/1.1")), 405);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);  // no Host
  for (const char* fields :
       {"Host: b\r\n", "A b\r\n", ": b\r\n", "A : b\r\n", "A: b\r\n c\r\n", "A: b\1\r\n",
        "Content-Length: -1\r\n", "Content-Length: 0x10\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 9999999999999999999\r\n",
        "Content-Length:\r\n", "A: b\rc\r\n"}) {
    EXPECT_EQ(status_of(with_fields(fields)), 400) << fields;
  }
  EXPECT_EQ(status_of(with_fields("Transfer-Encoding: chunked\r\n")), 411);
  EXPECT_EQ(status_of(with_fields("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")), 411);
  EXPECT_EQ(status_of(with_fields("Expect: 200-ok\r\n")), 417);
}

TEST(WebRequest, PathsLeadNowhereElse) {
  for (const char* target :
       {"/a/../b", "/..",    "/./a",      "/a//b", "/%2e%2e/a", "/%2E.", "/a%2fb",  "/a%5cb",
        "/a\\b",   "/a%00b", "/a%0ab",    "/%",    "/%4",       "/%zz",  "/%ff",    "/%c0%ae%c0%ae",
        "/a#b",    "a",      "http://a/", "*a",    "/?a=1&a=2", "/?a=%", "/?a=%0a", "/?%00"}) {
    EXPECT_EQ(status_of(of_target(target)), 400) << target;
  }
  EXPECT_EQ(parsed(of_target("/%E2%82%AC/")).parts, std::vector<std::string>{"€"});
  EXPECT_TRUE(parsed(of_target("/")).parts.empty());
}

TEST(WebRequest, TooLongOnesAreRefusedBeforeTheyAreWhole) {
  const HttpLimits limits{.line = 100, .head = 300, .fields = 3};
  const auto status = [&](const std::string& text) {
    try {
      const auto end = find_head_end(text, limits);
      if (end) parse_http_head(text.substr(0, *end), limits);
      return 0;
    } catch (const HttpProblem& problem) {
      return problem.status();
    }
  };
  EXPECT_EQ(status("GET /" + std::string(50, 'a')), 0);
  EXPECT_EQ(status("GET /" + std::string(100, 'a')), 414);
  EXPECT_EQ(status(with_fields("A: " + std::string(300, 'a'))), 431);
  EXPECT_EQ(status(with_fields("A: b\r\nB: b\r\nC: b\r\n")), 431);
  EXPECT_EQ(status("\x16\x03\x01"), 400);  // TLS
}

TEST(WebResponse, HasAHeadForItsBody) {
  const WebResponse response = bytes_response("abc", "text/plain");
  const std::string head = response_head(response, /*keep_alive=*/false, /*chunked=*/false);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  for (const char* field :
       {"Content-Length: 3\r\n", "Content-Type: text/plain\r\n", "Connection: close\r\n",
        "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n"}) {
    EXPECT_NE(head.find(field), head.npos) << field;
  }
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_EQ(response_head(response, true, true).find("Content-Length"), std::string::npos);
}

TEST(WebResponse, AnErrorIsToldWithItsKindAndField) {
  const Error error(ErrorKind::kNotFound, Field{"layer"}, "99 is no layer");
  const WebResponse response = error_response(error);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(
      *response.body,
      "{\"error\":{\"kind\":\"not found\",\"field\":\"layer\",\"message\":\"99 is no layer\"}}\n");
  EXPECT_EQ(*problem_response(414, "too long").body,
            "{\"error\":{\"kind\":\"uri too long\",\"message\":\"too long\"}}\n");
}

}  // namespace
}  // namespace fovea
