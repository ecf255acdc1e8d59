import Support

/// The location of the objects of an archive:
/// `s3://bucket/prefix?endpoint=https://host:port&region=…&style=path|virtual`.
package struct StoreURL: Hashable, Sendable {
    package enum Fault: Error, Equatable, Sendable {
        /// The bucket is not 3 to 63 lowercase letters, digits, dots and dashes.
        case bucket
        /// A parameter is unknown, or its value cannot be used.
        case parameter(String)
    }

    /// How requests name the bucket: in the path, or in the name of the host.
    private enum Style: String { case path, virtual }

    package let bucket: String
    /// The beginning of all keys: empty, or with a slash at its end.
    package let prefix: String
    let region: String
    /// `https://host:port`
    let origin: String
    private let style: Style

    package init(parsing text: String) throws(Fault) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard names.count >= 3, names[0] == "s3:", names[1].isEmpty, Self.isBucket(names[2]) else { throw .bucket }
        bucket = String(names[2])
        let folders = names.count > 3 ? names[3].split(separator: "/") : []
        prefix = folders.map { "\($0)/" }.joined()
        var (endpoint, style): (String?, Style?)
        var region = "us-east-1"
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let (name, value) = Self.parameter(item)
            switch name {
            case "endpoint" where Self.isOrigin(value): endpoint = value
            case "region" where Self.isRegion(value): region = value
            case "style" where Style(rawValue: value) != nil: style = Style(rawValue: value)
            default: throw .parameter(name)
            }
        }
        self.region = region
        // Other stores than the default one rarely have DNS names below their endpoint.
        self.style = style ?? (endpoint == nil ? .virtual : .path)
        origin = endpoint ?? "https://s3.\(region).amazonaws.com"
    }

    /// The same location, restricted to the keys of one channel.
    package func folder(_ name: String) -> StoreURL { StoreURL(self, prefix: "\(prefix)\(name)/") }

    private init(_ other: StoreURL, prefix: String) {
        (bucket, region, origin, style) = (other.bucket, other.region, other.origin, other.style)
        self.prefix = prefix
    }

    /// The host of requests, with its port.
    var host: String {
        let authority = String(origin.split(separator: "/").last ?? "")
        // libcurl omits the port that is the scheme's default.
        let port = scheme == "https" ? ":443" : ":80"
        let host = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
        return style == .virtual ? "\(bucket).\(host)" : host
    }

    /// The path of an object below the host, percent-encoded; for an empty key, the path of the bucket.
    func path(of key: String) -> String {
        let names = (style == .path ? [bucket] : []) + key.split(separator: "/").map(String.init)
        return "/" + names.map(PercentEncoding.encode).joined(separator: "/")
    }

    var scheme: String { origin.hasPrefix("https:") ? "https" : "http" }

    private static func parameter(_ item: Substring) -> (name: String, value: String) {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? PercentEncoding.decode(parts[1]) ?? "" : "")
    }

    private static func isBucket(_ name: Substring) -> Bool {
        (3...63).contains(name.utf8.count) && name.utf8.allSatisfy { isLower($0) || ".-".utf8.contains($0) }
    }

    private static func isRegion(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isLower($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLower(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) }

    /// Whether a text is a scheme and an authority, and nothing after it.
    private static func isOrigin(_ text: String) -> Bool {
        guard ["http", "https"].contains(URIReference.scheme(of: text)), let host = URIReference.host(of: text),
            let authority = URIReference.authority(of: text)
        else { return false }
        return !host.isEmpty && !authority.contains("@") && text.hasSuffix("://\(authority)")
    }
}
