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
        } else if let first = line.utf8.first, first == 0x20 || first == 0x09 {
            fold(line)
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.utf8.index(after: colon)...]
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
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let start = utf8.drop(while: isSpace)
        return start.lastIndex { !isSpace($0) }.map { Substring(start[...$0]) } ?? ""
    }
}
