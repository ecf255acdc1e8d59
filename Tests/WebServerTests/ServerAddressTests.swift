import Testing

@testable import HTTP
@testable import WebServer

private let hosts: [(host: String, isValid: Bool)] = [
    ("tv.example", true), ("tv.example:8080", true), ("192.0.2.1:80", true), ("[2001:db8::1]:8080", true),
    ("my_host", true), ("localhost", true),
    ("", false), (":80", false), ("h:", false), ("h:99999", false), ("h:8a", false), ("a b", false), ("[::1", false),
    ("[]", false), ("h\"><script>", false), ("user@h", false), ("h/path", false), ("h,i", false), ("h\\", false),
    ("é.example", false), (String(repeating: "a", count: 300), false),
]

@Test(arguments: hosts) func hostIsJudged(host: String, isValid: Bool) {
    #expect(HostField.isValid(host) == isValid, "\(host)")
}

private let forwardedFields: [(field: String, nodes: [String?]?)] = [
    ("for=192.0.2.43", ["192.0.2.43"]),
    ("For=\"[2001:db8:cafe::17]:4711\";proto=https;by=203.0.113.60", ["[2001:db8:cafe::17]:4711"]),
    ("for=192.0.2.43, for=198.51.100.17;host=a", ["192.0.2.43", "198.51.100.17"]),
    ("proto=https", [nil]), ("for=\"a,b\";proto=http,for=c", ["a,b", "c"]),
    ("for=\"evil, for=192.0.2.1", nil), ("for", nil), ("=x", nil), ("for=\"a\\", nil),
]

@Test(arguments: forwardedFields) func forwardedIsParsed(field: String, nodes: [String?]?) {
    #expect(ForwardedField.parse(field)?.map(\.node) == nodes, "\(field)")
}

/// A request from `peer`, who wrote `fields`, and the URL that documents begin with.
private struct AddressRow: CustomStringConvertible, Sendable {
    let when: String
    var peer = "10.0.0.1"
    var host: String? = "relay:8080"
    var set: @Sendable (inout RequestTarget.Forwarding) -> Void = { _ in }
    var publicURL: String?
    let base: String
    var client: String?

    var description: String { when }
}

private let addressRows: [AddressRow] = [
    AddressRow(when: "no proxy", base: "http://relay:8080"),
    AddressRow(when: "a hostile Host", host: "h\"/><x", base: "http://fallback"),
    AddressRow(when: "no Host", host: nil, base: "http://fallback"),
    AddressRow(
        when: "a public URL", set: { $0.host = "other" }, publicURL: "https://tv.example/live/",
        base: "https://tv.example/live"),
    AddressRow(
        when: "a proxy with TLS",
        set: { ($0.scheme, $0.host, $0.addresses) = ("https", "tv.example", "203.0.113.9") },
        base: "https://tv.example", client: "203.0.113.9"),
    AddressRow(when: "TLS before the Host is kept", set: { $0.scheme = "https" }, base: "https://relay:8080"),
    AddressRow(
        when: "somebody who is not trusted", peer: "192.0.2.9",
        set: { ($0.scheme, $0.host, $0.addresses) = ("https", "evil", "1.1.1.1") }, base: "http://relay:8080",
        client: "192.0.2.9"),
    AddressRow(
        when: "the trusted proxy over IPv6", peer: "::ffff:10.0.0.1", set: { $0.host = "tv.example" },
        base: "http://tv.example", client: "::ffff:10.0.0.1"),
    AddressRow(
        when: "a client's own values before the proxy's",
        set: { ($0.scheme, $0.host, $0.addresses) = ("ftp, https", "evil, tv.example", "1.1.1.1, 203.0.113.9") },
        base: "https://tv.example", client: "203.0.113.9"),
    AddressRow(
        when: "two trusted proxies, TLS at the first",
        set: { ($0.scheme, $0.host, $0.addresses) = ("https, http", "tv.example", "203.0.113.9, 10.0.0.2") },
        base: "https://tv.example", client: "203.0.113.9"),
    AddressRow(
        when: "a port and a prefix",
        set: { ($0.host, $0.port, $0.prefix) = ("tv.example", "8443", "/tv/") }, base: "http://tv.example:8443/tv"),
    AddressRow(
        when: "the usual port", set: { ($0.scheme, $0.host, $0.port) = ("https", "tv.example", "443") },
        base: "https://tv.example"),
    AddressRow(
        when: "a port twice", set: { ($0.scheme, $0.host, $0.port) = ("https", "[::1]:9", "8443") },
        base: "https://[::1]:9"),
    AddressRow(
        when: "a hostile prefix, scheme and host",
        set: { ($0.scheme, $0.host, $0.prefix) = ("javascript", "a b", "//evil.example") }, base: "http://relay:8080"),
    AddressRow(when: "a prefix that leads elsewhere", set: { $0.prefix = "/a/../b" }, base: "http://relay:8080"),
    AddressRow(
        when: "Forwarded", set: { $0.forwarded = "for=203.0.113.9;proto=https;host=\"tv.example:444\"" },
        base: "https://tv.example:444", client: "203.0.113.9"),
    AddressRow(
        when: "Forwarded by two proxies, and a client's own before",
        set: { $0.forwarded = "for=1.1.1.1;host=evil, for=203.0.113.9;proto=https;host=tv.example, for=10.0.0.7" },
        base: "https://tv.example", client: "203.0.113.9"),
    AddressRow(
        when: "a client's own Forwarded past a proxy of the other kind",
        set: { ($0.forwarded, $0.scheme) = ("host=evil", "https") }, base: "https://relay:8080"),
]

@Test(arguments: addressRows) private func baseURL(row: AddressRow) throws {
    var fields = RequestTarget.Fields(host: row.host)
    fields.peer = row.peer
    row.set(&fields.forwarding)
    let addresses = ForwardedAddresses(
        publicURL: try row.publicURL.map { try PublicURL($0) },
        trustedProxies: try #require(TrustedProxies("10.0.0.0/8, ::1")), fallback: "fallback")
    #expect(addresses.baseURL(of: fields) == row.base)
    if let client = row.client { #expect(addresses.clientAddress(of: fields) == client) }
}

@Test func nobodyIsTrustedByDefault() {
    var fields = RequestTarget.Fields(host: "relay")
    fields.peer = "127.0.0.1"
    fields.forwarding.host = "evil"
    #expect(ForwardedAddresses().baseURL(of: fields) == "http://relay")
}

private let publicURLs: [(text: String, url: String?)] = [
    ("http://tv.example", "http://tv.example"), ("HTTPS://TV.example:8443/Live/", "https://tv.example:8443/Live"),
    ("http://[::1]:80/", "http://[::1]:80"), ("https://h/a/b%20c", "https://h/a/b%20c"),
    ("tv.example", nil), ("ftp://h", nil), ("http://", nil), ("http://u:p@h", nil), ("http://h/?a=b", nil),
    ("http://h/#x", nil), ("http://h/../x", nil), ("http://h//x", nil), ("http://h/\"", nil), ("http://h y", nil),
]

@Test(arguments: publicURLs) func publicURLIsJudged(text: String, url: String?) {
    #expect((try? PublicURL(text))?.text == url)
}

private let proxies: [(text: String, contains: [String], not: [String])] = [
    ("loopback", ["127.0.0.1", "127.9.9.9", "::1"], ["10.0.0.1", "::2", "name", ""]),
    (
        "private", ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "fd00::1", "fe80::1"],
        ["172.32.0.1", "1.1.1.1"]
    ),
    ("192.0.2.1, 2001:db8::/32", ["192.0.2.1", "2001:db8:1::1", "::ffff:192.0.2.1"], ["192.0.2.2", "2001:db9::"]),
    ("0.0.0.0/0", ["8.8.8.8"], ["2001:db8::1"]),
]

@Test(arguments: proxies) func proxiesAreTrusted(text: String, contains: [String], not: [String]) throws {
    let trusted = try #require(TrustedProxies(text))
    for address in contains { #expect(trusted.contains(address), "\(address)") }
    for address in not { #expect(!trusted.contains(address), "\(address)") }
}

@Test(arguments: ["", "x", "10.0.0.0/33", "10.0.0.0/-1", "::1/129", "localhost", "10.0.0.1/"])
func wordsThatAreNoProxies(text: String) { #expect(TrustedProxies(text) == nil) }
