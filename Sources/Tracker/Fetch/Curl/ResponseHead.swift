/// Header fields of the last answer in a chain of redirects, collected line by line.
struct ResponseHead: Equatable, Sendable {
    /// Of all answers of one transfer; a server that sends more is not answering a question of ours.
    static let limitBytes = 256 << 10

    private(set) var headers: [FetchAnswer.Header] = []
    private(set) var receivedBytes = 0

    /// - Parameter line: one line as received, its line end included. A status line begins a new answer, of which the
    ///   previous one (a redirect, 103 Early Hints) leaves nothing.
    /// - Returns: false when the limit is passed.
    mutating func receive(_ line: String) -> Bool {
        receivedBytes += line.utf8.count
        if line.hasPrefix("HTTP/") {
            headers = []
        } else if let first = line.first, first == " " || first == "\t" {
            fold(line)
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            headers.append(FetchAnswer.Header(name: String(line[..<colon]), value: Self.trimmed(value)))
        }
        return receivedBytes <= Self.limitBytes
    }

    /// A line that starts with a blank continues the field before it (RFC 9112 §5.2).
    private mutating func fold(_ line: String) {
        guard let last = headers.popLast() else { return }
        headers.append(FetchAnswer.Header(name: last.name, value: last.value + " " + Self.trimmed(line[...])))
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
