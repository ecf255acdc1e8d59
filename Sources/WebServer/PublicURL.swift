/// The URL of the server as its clients see it, which may have a path: `https://tv.example/live`.
package struct PublicURL: Equatable, Sendable {
    /// Why a text is no such URL.
    package enum Malformed: String, Error {
        case scheme = "it has to begin with http:// or https://"
        case host = "its host is no name and no address; a user name is not possible"
        case path = "its path may only have letters, digits, -._~ and percent codes, and no query"
    }

    /// Without a slash at its end.
    package let text: String

    package init(_ text: String) throws(Malformed) {
        let (lower, schemes) = (text.lowercased(), ["http://", "https://"])
        guard let scheme = schemes.first(where: { lower.hasPrefix($0) }) else { throw .scheme }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard HostField.isValid(host) else { throw .host }
        var path = rest[host.endIndex...]
        while path.hasSuffix("/") { path.removeLast() }
        guard path.isEmpty || Self.isPath(path) else { throw .path }
        self.text = scheme + host.lowercased() + path
    }

    /// Whether the text is an absolute path that stays in its place and needs no coding in a document.
    static func isPath(_ text: some StringProtocol) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count <= 1024 else { return false }
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~%/".utf8.contains(byte)
        }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        return isPlain && !segments.contains { $0.isEmpty || $0 == "." || $0 == ".." }
    }
}
