# A cache as CDNs are often set up: it keeps every GET for a minute and compresses everything.

vcl 4.1;

backend edge {
    .host = "127.0.0.1";
    .port = "8080";
    .between_bytes_timeout = 60s;
}

sub vcl_recv {
    if (req.method == "GET") {
        return (hash);
    }
}

sub vcl_backend_response {
    set beresp.ttl = 1m;
    set beresp.do_gzip = true;
    return (deliver);
}
