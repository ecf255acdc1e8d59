import Testing

@testable import Support

private let rows: [(when: String, url: String, redacted: String)] = [
    ("nothing to hide", "https://h:81/a/b.m3u8", "https://h:81/a/b.m3u8"),
    ("a password", "http://me:secret@h:81/a", "http://h:81/a"),
    ("a password with an @", "http://me:se@cret@h/a", "http://h/a"),
    ("three slashes", "http:///me:secret@h/a", "http:///h/a"),
    ("four slashes", "http:////me:se@cret@h/a/b@c", "http:////h/a/b@c"),
    ("an IPv6 address", "http://me:secret@[::1]:81/a", "http://[::1]:81/a"),
    ("no path", "http://me@h?t=secret", "http://h?t=…"),
    ("a token", "http://h/a?token=secret&id=7", "http://h/a?token=…&id=…"),
    ("a value with an equals sign", "http://h/a?sig=c2Vj==&e=", "http://h/a?sig=…&e="),
    ("a query without a name", "http://h/a?secret", "http://h/a?…"),
    ("nothing after the question mark", "http://h/a?&", "http://h/a?&"),
    ("a fragment", "http://h/a?b=c#access_token=secret", "http://h/a?b=…"),
    ("no scheme", "me:secret@h/a?t=secret", "h/a?t=…"),
    ("an @ in a path", "http://h/@me/live.m3u8", "http://h/@me/live.m3u8"),
    ("relative", "a/b.ts?t=secret", "a/b.ts?t=…"),
    ("another scheme", "file:///etc/hostname", "file:///etc/hostname"),
    ("a stream of an account", "http://h:8080/live/anna/secret/12.ts", "http://h:8080/live/…/…/12.ts"),
    ("its playlist below a path", "http://h/tv/live/anna/secret/12.m3u8", "http://h/tv/live/…/…/12.m3u8"),
    ("without an extension", "http://h/live/anna/secret/12", "http://h/live/…/…/12"),
    ("in the short form", "http://h:80/anna/secret/12", "http://h:80/…/…/12"),
    ("in the short form with an extension", "http://h:80/anna/secret/12.m3u8", "http://h:80/…/…/12.m3u8"),
    (
        "an archive", "http://h/timeshift/anna/secret/60/2026-01-02:15-04/12.ts",
        "http://h/timeshift/…/…/60/2026-01-02:15-04/12.ts"
    ),
    ("a segment", "http://h/hlsr/token/anna/secret/12/hash/12_3.ts", "http://h/hlsr/…/…/…/12/hash/12_3.ts"),
    ("a film", "http://h/movie/anna/secret/12.mkv", "http://h/movie/…/…/12.mkv"),
    ("a playlist below live", "http://h/live/news/720p/index.m3u8", "http://h/live/news/720p/index.m3u8"),
    (
        "a list of an account", "http://h/get.php?username=anna&password=secret",
        "http://h/get.php?username=…&password=…"
    ),
    (
        "a segment with a rate in its name", "https://h/a-audio=128000-video=2000000-7.ts",
        "https://h/a-audio=128000-video=2000000-7.ts"
    ),
    ("a segment of this program", "https://h/seg-7-0123456789abcdef.m4s", "https://h/seg-7-0123456789abcdef.m4s"),
    ("a file with a resolution", "https://h/BigBuckBunny1080p60fps.m3u8", "https://h/BigBuckBunny1080p60fps.m3u8"),
    ("a host with a port and no scheme", "tv.example:80/anna/secret/12", "tv.example:80/…/…/12"),
    ("a token with an extension", "https://h/0123456789abcdef0123456789abcdef.ts", "https://h/….ts"),
    ("a word", "news", "news"), ("nothing", "", ""),
]

@Test(arguments: rows) func redactsSecrets(when: String, url: String, redacted: String) {
    #expect(URIReference.redacted(url) == redacted, "\(when)")
    #expect(URIReference.redacted(redacted) == redacted, "\(when): redacted twice")
}

/// URIs in URIs, deeper than a thread's stack would bear.
@Test func deepURIsAreHidden() {
    for nested in ["http://h/", "a:"] {
        let redacted = URIReference.redacted(String(repeating: nested, count: 20_000) + "http://anna:secret@h/a")
        #expect(redacted.hasSuffix("…") && redacted.utf8.count < 1000 && !redacted.contains("secret"))
        #expect(URIReference.redacted(redacted) == redacted)
    }
    for text in ["://anna:secret@h/a", "1://anna:secret@h/a", "-x://h"] {
        #expect(!URIReference.redacted(text).contains("secret"), "\(text)")
    }
}
