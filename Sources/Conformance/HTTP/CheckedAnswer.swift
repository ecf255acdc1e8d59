package import Support

/// An answer to a request for a resource of the checked channel.
package struct CheckedAnswer: Sendable {
    package enum Failure: Equatable, Sendable {
        /// The connection ended before the body did.
        case short
        case tooManyRedirects
        /// There is no file of this name.
        case noFile
        /// Anything else, which may be the client's or the network's fault.
        case other(String)
    }

    package var url: String
    package var finalURL: String
    package var byteRange: ByteRange?
    /// nil for a file.
    package var status: Int?
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]
    package var time: AnswerTime
    package var failure: Failure?

    package init(
        url: String, finalURL: String? = nil, byteRange: ByteRange? = nil, status: Int? = 200,
        headers: [(name: String, value: String)] = [], body: [UInt8], time: AnswerTime, failure: Failure? = nil
    ) {
        self.url = url
        self.finalURL = finalURL ?? url
        self.byteRange = byteRange
        self.status = status
        self.headers = headers
        self.body = body
        self.time = time
        self.failure = failure
    }

    package var isSuccess: Bool { failure == nil && status.map { (200..<300).contains($0) } ?? true }

    /// A predicate for a request to which the server or the directory has no content: `is answered with status 404`; nil
    /// for content, and for a failure that may be the client's.
    var refusal: String? {
        switch failure {
        case .noFile: "does not exist"
        case nil where !isSuccess: status.map { "is answered with status \($0)" }
        default: nil
        }
    }

    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// The media type without parameters, in lower case.
    package var mediaType: String? {
        header("content-type").map { $0.prefix { $0 != ";" }.trimmingBlanks.lowercased() }
    }

    /// How old the answer was in a cache.
    package var age: Duration { header("age").flatMap { Int64($0) }.map { .seconds(max(0, $0)) } ?? .zero }

    /// A directive of Cache-Control with a number of seconds.
    package func cacheSeconds(_ directive: String) -> Int64? {
        for part in (header("cache-control") ?? "").split(separator: ",") {
            let pair = part.trimmingBlanks.split(separator: "=", maxSplits: 1)
            if pair.count == 2, pair[0].lowercased() == directive {
                return Int64(pair[1].filter { $0 != "\"" })
            }
        }
        return nil
    }

    package var forbidsCaching: Bool {
        let text = (header("cache-control") ?? "").lowercased()
        return text.contains("no-store") || text.contains("no-cache")
    }
}
