# Varnish in front of the streaming edge. `python -m bench.proxies` runs with this very file (docs/delivery.md).

vcl 4.1;

backend edge {
    .host = "127.0.0.1";
    .port = "8080";

    # More than twice the heartbeat, which is 10 s: one may be lost.
    .between_bytes_timeout = 60s;
}

sub vcl_recv {
    # Every answer under /v1 is one account's own. A cursor is a header, and no part of what a cache looks up: an answer
    # from the cache would begin where somebody else's began.
    if (req.url ~ "^/v1/") {
        return (pass);
    }
}

sub vcl_backend_response {
    if (beresp.http.Content-Type ~ "^text/event-stream") {
        # A compressor keeps small frames until it has enough of them.
        set beresp.do_gzip = false;
        set beresp.do_stream = true;
    } else {
        set beresp.do_gzip = true;
    }
}
