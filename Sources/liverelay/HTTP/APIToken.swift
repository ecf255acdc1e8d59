import HTTPSyntax

/// The secret that clients of the API send as a bearer token (RFC 6750 §2.1).
struct APIToken: Equatable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter text: visible ASCII characters, at least one; nil for other text, which no client could send.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    }

    /// Whether a request may use the API.
    /// - Parameter authorization: the value of its `Authorization` field.
    func allows(authorization: String?) -> Bool {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "bearer"
        else { return false }
        return isEqual(to: Array(authorization[space...].drop { $0 == " " }.utf8))
    }

    /// Compares in a time that depends on the length of `other` alone.
    private func isEqual(to other: [UInt8]) -> Bool {
        var difference = UInt8(bytes.count == other.count ? 0 : 1)
        for (index, byte) in other.enumerated() { difference |= byte ^ bytes[index % bytes.count] }
        return difference == 0
    }
}

extension APIToken {
    /// The answer to a request that may not use the API; nil if it may.
    /// - Parameter token: nil: the API is closed.
    static func refusal(of target: RequestTarget, token: APIToken?) -> Response? {
        guard let token else {
            return .text(.forbidden, "The API is closed: start liverelay with --api-token.")
        }
        if token.allows(authorization: target.fields.authorization) { return nil }
        var response = Response.text(.unauthorized, "The API needs the field Authorization: Bearer <token>.")
        let isWrong = target.fields.authorization != nil
        response.extraHeaders = [
            HeaderField(
                name: "WWW-Authenticate",
                value: "Bearer realm=\"liverelay\"" + (isWrong ? ", error=\"invalid_token\"" : ""))
        ]
        return response
    }
}
