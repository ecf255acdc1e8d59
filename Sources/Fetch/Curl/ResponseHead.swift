/// The header fields of the last answer in a chain of redirects, read line by line.
struct ResponseHead: Equatable, Sendable {
    /// The limit for the header fields of all answers of one transfer.
    static let limitBytes = 256 << 10

    private(set) var headers: [FetchAnswer.Header] = []
    private(set) var receivedBytes = 0

    /// Reads one line. A status line starts a new answer and removes the previous one (a redirect, 103 Early Hints).
    ///
    /// - Parameter line: one line as received, with its line end.
    /// - Returns: false if the limit is exceeded.
    mutating func receive(_ line: String) -> Bool {
        receivedBytes += line.utf8.count
        if line.hasPrefix("HTTP/") {
            headers = []
        } else if let first = line.first, first == " " || first == "\t" {
            fold(line)
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            append(line[..<colon], value.trimmingWhitespace)
        }
        return receivedBytes <= Self.limitBytes
    }

    /// Appends a line that starts with a space or tab to the field before it (RFC 9112 §5.2).
    private mutating func fold(_ line: String) {
        guard let last = headers.popLast() else { return }
        append(last.name[...], last.value + " " + line[...].trimmingWhitespace)
    }

    private mutating func append(_ name: Substring, _ value: some StringProtocol) {
        headers.append(FetchAnswer.Header(name: String(name), value: String(value)))
    }
}

extension Substring {
    /// The text without white space at both ends. The line break that ends a header line is white space too.
    fileprivate var trimmingWhitespace: Substring {
        let start = drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
