# Varnish that compresses everything, and caches nothing.

vcl 4.1;

backend edge {
    .host = "127.0.0.1";
    .port = "8080";
    .between_bytes_timeout = 60s;
}

sub vcl_recv {
    return (pass);
}

sub vcl_backend_response {
    set beresp.do_gzip = true;
}
