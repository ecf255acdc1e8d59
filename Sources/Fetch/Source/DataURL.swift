import Support

/// A resource in its own URL (RFC 2397), such as a key in a playlist.
enum DataURL {
    static func isOne(_ url: String) -> Bool { url.utf8.prefix(5).map { $0 | 0x20 }.elementsEqual("data:".utf8) }

    /// Returns the bytes as an answer. One that is no valid URL is a failure.
    static func answer(_ request: FetchRequest) -> FetchOutcome {
        guard let bytes = bytes(of: request.url) else {
            return .failure(FetchError(.other, url: request.url, message: "a data: URL that cannot be decoded"))
        }
        return .success(FetchAnswer(status: 200, finalURL: request.url, body: bytes))
    }

    /// The bytes after the first comma: in base64 if the part before it ends with that word, else percent-encoded.
    static func bytes(of url: String) -> [UInt8]? {
        guard let comma = url.utf8.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let kind = url[..<comma].lowercased()
        let text = PercentEncoding.bytes(of: url[url.utf8.index(after: comma)...])
        return kind.hasSuffix(";base64") ? text.flatMap { Base64.decodeLoosely($0.filter { $0 > ASCII.space }) } : text
    }
}
