vcl 4.1;

# An edge of Varnish (6.0 or later) in front of liverelay, for one channel or `serve`:
#     varnishd -f deploy/varnish.vcl -a :80 -s malloc,4G
# docs/install.md says why each rule is there; Tests/Edge/run tests it. Nothing has to be purged.

import std;

backend liverelay {
    .host = "127.0.0.1";
    .port = "8080";
    .connect_timeout = 2s;
    # `serve` holds the first request of a channel until the channel publishes.
    .first_byte_timeout = 60s;
    .between_bytes_timeout = 60s;
}

sub vcl_recv {
    if (req.restarts == 0) {
        # Set only below, by this file.
        unset req.http.X-Stale;
    }
    # Not for viewers.
    if (req.url ~ "^/(api|metrics)(/|\?|$)") {
        return (synth(404));
    }
    # A HEAD starts no channel, so it must not become a GET.
    if (req.method != "GET") {
        return (pass);
    }
    # Endless transport streams, and those of a tuner: passed as they come.
    if (req.url ~ "^/([^/?]+/)?live\.ts(\?|$)" || req.url ~ "^/[^/?]+\.ts(\?|$)" || req.url ~ "^/(auto|tuner\d+)/") {
        return (pipe);
    }
    unset req.http.Cookie;
    # Varnish answers several ranges with 416. Without the field it sends everything, as liverelay does (RFC 9110, 14.2).
    if (req.http.Range ~ ",") {
        unset req.http.Range;
    }
    # Ranges of the past and clips are never stored, and are not read from their beginning for each Range.
    if (req.url ~ "/(?!seg-)[^/?]*\.ts(\?|$)" || req.url ~ "/clip\.mp4(\?|$)") {
        return (pass);
    }
    # Whether a bearer may have it is known to liverelay alone, and the key has no token.
    if (req.http.Authorization) {
        return (pass);
    }
    # While liverelay answers, requests for an expired playlist wait for the one that renews it.
    set req.grace = 0s;
    if (req.http.X-Stale) {
        set req.grace = 1h;
    }
    return (hash);
}

sub vcl_hash {
    # One copy for all host names: URLs in playlists are relative.
    hash_data(req.url);
    return (lookup);
}

sub vcl_pipe {
    # Otherwise the next request of the connection would not be seen.
    set bereq.http.Connection = "close";
}

sub vcl_backend_response {
    # stale-while-revalidate became `grace`. It is replaced by how long a playlist may be shown when liverelay is away.
    set beresp.grace = 0s;
    if (beresp.http.Cache-Control ~ "stale-if-error=\d+") {
        set beresp.grace = std.duration(regsub(beresp.http.Cache-Control, "^.*stale-if-error=(\d+).*$", "\1s"), 0s);
    }
    set beresp.keep = 0s;
    # What may not be stored is not waited for either. A URL whose answers are for one viewer, as playlists under a token,
    # has them each time. The mark of the others is short, because most of them are errors that pass.
    if (beresp.http.Cache-Control ~ "(?i)private|no-store") {
        set beresp.uncacheable = true;
        set beresp.grace = 0s;
        set beresp.ttl = 1s;
        if (beresp.http.Cache-Control ~ "(?i)private") {
            set beresp.ttl = 120s;
        }
    }
    # A relay that has just started and has read nothing yet. `serve` gives a reason with its 503: that one is passed on.
    if (beresp.status >= 500 && !beresp.http.X-Liverelay-Reason
        && bereq.url ~ "\.(m3u8|m4s|mp4|vtt|ts)(\?|$)") {
        return (abandon);
    }
    return (deliver);
}

sub vcl_backend_error {
    # liverelay is away. An answer of any kind, also one that is not stored, would for a moment be the newest for its
    # URL and hide the stored playlist.
    return (abandon);
}

sub vcl_synth {
    # After an abandoned fetch, once more: with the stored playlist, if its time has not passed.
    if (resp.status == 503 && req.restarts == 0) {
        set req.http.X-Stale = "1";
        return (restart);
    }
    set resp.http.Cache-Control = "no-store";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Content-Type = "text/plain; charset=utf-8";
    if (resp.status == 503) {
        set resp.http.Retry-After = "1";
    }
    synthetic(resp.reason);
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    return (deliver);
}

sub vcl_deliver {
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
}
