// Who may ask: this machine's pages and programs, and who knows the token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

struct GuardOptions {
  std::string host;   // where the server listens
  std::string token;  // empty: none is asked for
};

// Whether both texts are equal, in a time that does not tell where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
// 32 hexadecimal digits that nobody can guess. Throws Error{kIo} where the system has none.
std::string random_token();
// Whether the name is this machine's own.
bool is_loopback_name(std::string_view host);

class Guard {
 public:
  explicit Guard(GuardOptions options) : options_(std::move(options)) {}

  // Throws HttpProblem: 403 for another site's name in Host (a name of that site which leads here)
  // and for a page of another site, 401 without the token, 415 for a body that such a page could
  // send unasked.
  void check(const WebRequest& request) const;
  // Where an address brought the token: the cookie that later requests of the page bring. Empty:
  // none.
  std::string cookie(const WebRequest& request) const;

 private:
  void check_host(const WebRequest& request) const;
  void check_origin(const WebRequest& request) const;
  bool brings_token(const WebRequest& request) const;

  GuardOptions options_;
};

}  // namespace fovea
