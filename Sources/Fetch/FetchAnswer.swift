/// A whole HTTP response of any status.
package struct FetchAnswer: Equatable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let status: Int
    /// The URL after redirects, against which relative URIs in the body are resolved.
    package let finalURL: String
    package let headers: [Header]
    package let body: [UInt8]
    /// Whether only the end of the connection ended the body (RFC 9112 §6.3, rule 8).
    ///
    /// Neither a length nor a last chunk says that such a body is complete, and a broken connection looks the same.
    package let endsAtClose: Bool

    package init(
        status: Int, finalURL: String, headers: [Header] = [], body: [UInt8], endsAtClose: Bool = false
    ) {
        self.status = status
        self.finalURL = finalURL
        self.headers = headers
        self.body = body
        self.endsAtClose = endsAtClose
    }

    /// Whether the status is 2xx (RFC 9110 §15.3).
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// The first header with that name, compared without case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
