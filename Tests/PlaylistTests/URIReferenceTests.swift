import Testing

@testable import Support

/// RFC 3986 §5.4, all of it; the base is `http://a/b/c/d;p?q`.
private let rfc3986: [(reference: String, target: String)] = [
    // §5.4.1, normal
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
    // §5.4.2, abnormal
    ("../../../g", "http://a/g"),
    ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"),
    ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("http:g", "http:g"),
]

@Test(arguments: rfc3986)
func resolvesEveryRFC3986Example(reference: String, target: String) {
    #expect(URIReference.resolve(reference, against: "http://a/b/c/d;p?q") == target)
}

private let fieldRows: [(when: String, reference: String, base: String, target: String)] = [
    ("a slash in the base's query", "seg.ts", "https://h/live/a.m3u8?u=x/y/z", "https://h/live/seg.ts"),
    ("a base with no path", "seg.ts", "https://h", "https://h/seg.ts"),
    ("a base with no path but a query", "seg.ts?t=1", "https://h?q", "https://h/seg.ts?t=1"),
    ("a port", "/k", "http://h:8080/a/b", "http://h:8080/k"),
    ("empty segments are segments", "../s.ts", "http://h/a//b/c", "http://h/a//s.ts"),
    ("a colon that makes no scheme", "1_10:00:00.ts", "http://h/a/b", "http://h/a/1_10:00:00.ts"),
    ("a URL in the query", "s.ts?u=http://x/y", "http://h/a/b", "http://h/a/s.ts?u=http://x/y"),
    ("an absolute URL, dots removed", "https://c/x/../y.ts", "http://h/a", "https://c/y.ts"),
    ("another host, same scheme", "//cdn.example/p/s.ts", "https://h/a", "https://cdn.example/p/s.ts"),
    ("letters beyond ASCII stay as they are", "é/ü.ts", "http://h/a/b", "http://h/a/é/ü.ts"),
]

@Test(arguments: fieldRows)
func referencesSeenInPractice(when: String, reference: String, base: String, target: String) {
    #expect(URIReference.resolve(reference, against: base) == target, "\(when)")
}

private let partRows: [(reference: String, scheme: String?, host: String?, withoutQuery: String)] = [
    ("HTTPS://User:pw@CDN.Example:8443/a?b#c", "https", "cdn.example", "HTTPS://User:pw@CDN.Example:8443/a"),
    ("http://[2001:DB8::1]:80/a", "http", "[2001:db8::1]", "http://[2001:DB8::1]:80/a"),
    ("//h/a?x?y", nil, "h", "//h/a"),
    ("seg.ts?token=1", nil, nil, "seg.ts"),
    ("seg.ts#f?x", nil, nil, "seg.ts"),
    ("file:///etc/passwd", "file", "", "file:///etc/passwd"),
    ("data:text/plain,x", "data", nil, "data:text/plain,x"),
]

@Test(arguments: partRows)
func componentsOfReference(reference: String, scheme: String?, host: String?, withoutQuery: String) {
    #expect(URIReference.scheme(of: reference) == scheme)
    #expect(URIReference.host(of: reference) == host)
    #expect(URIReference.withoutQuery(reference) == withoutQuery)
}

private let queryRows: [(reference: String, name: String, value: String?)] = [
    ("http://h/a?x=1&token=a%26b=c", "token", "a%26b=c"),
    ("http://h/a?xtoken=1&token=2&token=3", "token", "2"),
    ("http://h/a?token", "token", ""),
    ("http://h/a#?token=1", "token", nil),
    ("http://h/token=1", "token", nil),
]

@Test(arguments: queryRows)
func oneQueryParameter(reference: String, name: String, value: String?) {
    #expect(URIReference.queryParameter(name, of: reference) == value)
}
