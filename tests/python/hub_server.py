"""A server on a loopback port that speaks as much of the Hugging Face hub's HTTP API as fovea uses.

    with HubServer() as hub:
        hub.add("org/name", {"config.json": b"{}", "model.safetensors": b"..."})
        ... HF_ENDPOINT=hub.url ...
        hub.requests  # what was asked, in order

Large files (those of weights) are stored as the hub stores them: the answer redirects to another
host, here the same server under another name, and their ETag is the SHA-256. Small files have git's
name as their ETag.
"""

import dataclasses
import hashlib
import http.server
import json
import re
import ssl
import threading
import urllib.parse

LARGE = (".safetensors", ".bin", ".gguf", ".spm", ".model")


def git_name(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclasses.dataclass
class Request:
    method: str
    path: str
    host: str
    headers: dict

    @property
    def range(self):
        return self.headers.get("range")


@dataclasses.dataclass
class Repository:
    files: dict  # name -> content
    commit: str
    revisions: set
    token: str = None  # who does not send it is refused
    gated: bool = False
    with_blobs: bool = True  # size and checksum are in the listing

    def is_large(self, name):
        return name.endswith(LARGE)

    def etag(self, name):
        content = self.files[name]
        return hashlib.sha256(content).hexdigest() if self.is_large(name) else git_name(content)

    def listing(self, model):
        siblings = []
        for name, content in self.files.items():
            item = {"rfilename": name}
            if self.with_blobs:
                item |= {"size": len(content), "blobId": git_name(content)}
                if self.is_large(name):
                    item["lfs"] = {"sha256": self.etag(name), "size": len(content), "pointerSize": 134}
            siblings.append(item)
        return {"_id": "0", "id": model, "sha": self.commit, "private": False, "gated": self.gated,
                "siblings": siblings}


@dataclasses.dataclass
class Faults:
    """What goes wrong; each applies to the files whose name is a key."""

    cut_after: dict = dataclasses.field(default_factory=dict)  # name -> [bytes of each answer, ...]
    hold_after: dict = dataclasses.field(default_factory=dict)  # name -> bytes, then silence
    sent: dict = dataclasses.field(default_factory=dict)  # name -> other content
    length: dict = dataclasses.field(default_factory=dict)  # name -> another Content-Length; 0: none
    ignore_range: bool = False
    refuse_range: bool = False  # 416
    wrong_range: bool = False  # 206 from another byte
    statuses: list = dataclasses.field(default_factory=list)  # of the next answers, whatever is asked
    redirect: str = None  # where every file leads
    listing: bytes = None  # instead of the true one


class HubServer:
    def __init__(self, certificate=None, key=None):
        """With the files of a certificate and its key it speaks HTTPS."""
        self.repositories = {}
        self.renamed = {}
        self.faults = Faults()
        self.requests = []
        self.holding = threading.Event()  # set when hold_after has begun
        self.released = threading.Event()
        handler = type("Handler", (Handler,), {"hub": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that has gone
        self.port = self.server.server_address[1]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.storage_url = f"{scheme}://localhost:{self.port}/storage"  # another host to a client

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def add(self, model, files, commit="c0ffee" + "0" * 34, revisions=("main",), **settings):
        self.repositories[model] = Repository(dict(files), commit, {*revisions, commit}, **settings)
        return self.repositories[model]

    def downloads(self, name):
        """The requests for a file's bytes, from where they are stored."""
        return [request for request in self.requests
                if request.method == "GET" and request.path.endswith("/" + name) and
                (request.path.startswith("/storage/") or not name.endswith(LARGE))]


class Handler(http.server.BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer()

    def do_HEAD(self):
        self.answer()

    def answer(self):
        path, _, _ = self.path.partition("?")
        path = urllib.parse.unquote(path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.requests.append(Request(self.command, path, headers.get("host", ""), headers))
        if self.hub.faults.statuses:
            status = self.hub.faults.statuses.pop(0)
            return self.reply(status, {"Retry-After": "0"} if status == 429 else {})
        if listing := re.fullmatch(r"/api/models/(.+?)/revision/(.+)", path):
            return self.answer_listing(*listing.groups())
        if file := re.fullmatch(r"/storage/([^/]+/[^/]+)/(.+)", path):
            return self.send_content(self.hub.repositories[file[1]], file[2], {})
        if file := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self.answer_file(*file.groups())
        return self.reply(404)

    def find(self, model, revision):
        """The repository, or None after a refusal in the hub's words."""
        repository = self.hub.repositories.get(model)
        token = self.headers.get("Authorization")
        if repository is None:
            # The hub does not tell strangers which models there are.
            self.reply(404 if token else 401, {"X-Error-Code": "RepoNotFound"})
        elif repository.token and token != f"Bearer {repository.token}":
            if repository.gated:
                self.reply(403 if token else 401, {"X-Error-Code": "GatedRepo"})
            else:
                self.reply(401, {"X-Error-Code": "RepoNotFound"})
        elif revision not in repository.revisions:
            self.reply(404, {"X-Error-Code": "RevisionNotFound"})
        else:
            return repository
        return None

    def answer_listing(self, model, revision):
        if model in self.hub.renamed:
            new = self.hub.renamed[model]
            return self.reply(307, {"Location": f"/api/models/{new}/revision/{revision}?blobs=true"})
        if repository := self.find(model, revision):
            body = self.hub.faults.listing or json.dumps(repository.listing(model)).encode()
            return self.reply(200, {"Content-Type": "application/json"}, body)

    def answer_file(self, model, revision, name):
        repository = self.find(model, revision)
        if repository is None:
            return None
        if name not in repository.files:
            return self.reply(404, {"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": repository.commit}
        if self.hub.faults.redirect:
            return self.reply(302, headers | {"Location": self.hub.faults.redirect})
        if repository.is_large(name):
            return self.reply(302, headers | {
                "X-Linked-Size": str(len(repository.files[name])),
                "X-Linked-Etag": f'"{repository.etag(name)}"',
                "ETag": '"something else"',
                "Location": f"{self.hub.storage_url}/{model}/{urllib.parse.quote(name)}?signature=1",
            })
        return self.send_content(repository, name, headers | {"ETag": f'"{repository.etag(name)}"'})

    def send_content(self, repository, name, headers):
        faults = self.hub.faults
        content = faults.sent.get(name, repository.files[name])
        start, status = 0, 200
        asked = self.headers.get("Range")
        if asked and not faults.ignore_range:
            start, status = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]), 206
            if start >= len(content) or faults.refuse_range:
                return self.reply(416, {"Content-Range": f"bytes */{len(content)}"})
            start -= 1 if faults.wrong_range else 0
            headers = headers | {
                "Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        body = content[start:]
        length = faults.length.get(name, len(body))
        if length == 0:
            self.close_connection = True
        headers = headers | ({"Content-Length": str(length)} if length else {"Connection": "close"})
        if self.command == "HEAD":
            return self.reply(status, headers)
        if faults.cut_after.get(name):
            body = body[:faults.cut_after[name].pop(0)]
            self.close_connection = True
        held = faults.hold_after.get(name)
        self.reply(status, headers, body[:held])
        if held is not None:
            self.wfile.flush()
            self.hub.holding.set()
            self.hub.released.wait(30)
            self.close_connection = True

    def reply(self, status, headers=None, body=b""):
        self.send_response(status)
        headers = headers or {}
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers and headers.get("Connection") != "close":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
