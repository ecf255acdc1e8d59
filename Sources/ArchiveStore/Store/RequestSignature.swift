import Support

/// Signs requests in their URL (AWS Signature Version 4, the query form). Viewers may get the same URLs.
///
/// The host, the path and the query are signed. The body is not, because the names of objects contain digests of it.
/// libcurl 7.88 does not sort queries (curl/curl#9717), and no version signs URLs that others may use.
struct RequestSignature: Equatable, Sendable {
    private static let algorithm = "AWS4-HMAC-SHA256"
    /// The time for which a URL is valid.
    static let validity = Duration.seconds(900)

    let store: StoreURL
    let credentials: StoreCredentials

    /// The URL of a request.
    /// - Parameters:
    ///   - key: of the object; empty: the bucket.
    ///   - query: names and values, not encoded.
    ///   - date: by the clock of the store.
    func url(
        _ method: String, _ key: String, query: [(name: String, value: String)] = [],
        validity: Duration = RequestSignature.validity, at date: ProgramDateTime
    ) -> String {
        // 2026-01-02T03:04:05.678Z → 20260102T030405Z
        let stamp = date.text.filter { $0 != "-" && $0 != ":" }.prefix(15) + "Z"
        let scope = "\(stamp.prefix(8))/\(store.region)/s3/aws4_request"
        var items = query
        items += [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.keyID)/\(scope)"),
            ("X-Amz-Date", String(stamp)), ("X-Amz-Expires", String(validity.components.seconds)),
            ("X-Amz-SignedHeaders", "host"),
        ]
        if let token = credentials.sessionToken { items.append(("X-Amz-Security-Token", token.value)) }
        let encoded = items.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
            .sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
        let path = store.path(of: key)
        let request = [method, path, encoded, "host:\(store.host)", "", "host", "UNSIGNED-PAYLOAD"]
            .joined(separator: "\n")
        let text = [Self.algorithm, String(stamp), scope, Self.hex(SHA256.digest(of: Array(request.utf8)))]
            .joined(separator: "\n")
        return "\(store.scheme)://\(store.host)\(path)?\(encoded)&X-Amz-Signature=\(signature(of: text, scope: scope))"
    }

    private func signature(of text: String, scope: String) -> String {
        var key: [UInt8]? = Array("AWS4\(credentials.secretKey.value)".utf8)
        for part in scope.split(separator: "/").map(String.init) + [text] {
            key = key.flatMap { SHA256.authenticationCode(of: part, key: $0) }
        }
        return Self.hex(key)
    }

    /// An empty text without a signature, as from a libcrypto without SHA-256; the store refuses it.
    private static func hex(_ bytes: [UInt8]?) -> String { bytes.map { Hexadecimal.encode($0) } ?? "" }
}
