# Varnish as it comes: a backend, and nothing else said.

vcl 4.1;

backend edge {
    .host = "127.0.0.1";
    .port = "8080";
    .between_bytes_timeout = 60s;
}
