/// The URL of a file on disk: `file:///directory/movie.mp4`.
package struct FileURL: Hashable, Sendable {
    /// Absolute path.
    package let path: String

    /// Whether a URL has the scheme `file`.
    package static func isOne(_ url: String) -> Bool { URIReference.scheme(of: url) == "file" }

    /// - Returns: nil for another scheme, another host, or an empty path.
    package init?(_ url: String) {
        guard Self.isOne(url), url.dropFirst("file:".count).hasPrefix("///"),
            let path = PercentEncoding.decode(url.dropFirst("file://".count)), path.utf8.count > 1,
            !path.utf8.contains(0)
        else { return nil }
        self.path = path
    }

    /// The URL of an absolute path.
    package static func text(ofPath path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return "file://" + parts.map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
    }
}
