/// A number in a document is pinned to its constant by a comment in the same line, which no renderer shows:
///
///     A hole of up to 10 s … <!-- pinned: Sources/Splice/Switch/Detector.swift forwardJump = .seconds(10) -->
///
/// It holds when the source says exactly that and the line shows the expression's first number.
struct PinRule {
    /// Documents that quote numbers, and folders of such documents.
    static let documents = ["README.md", "ARCHITECTURE.md", "docs/"]

    private let sources: [String: SourceFile]

    init(sources: [SourceFile]) {
        self.sources = Dictionary(sources.map { ($0.path, $0) }) { first, _ in first }
    }

    func findings(in document: SourceFile) -> [String] {
        guard document.path.hasSuffix(".md"), Self.documents.contains(where: { document.path.hasPrefix($0) }) else {
            return []
        }
        let lines = document.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().flatMap { index, line in
            Self.pins(in: line).compactMap { complaint(about: $0, in: line) }.map { document.finding(index + 1, $0) }
        }
    }

    private func complaint(about pin: Substring, in line: Substring) -> String? {
        let parts = pin.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return "a pin is a source's path and an expression" }
        guard let source = sources[String(parts[0])] else { return "pinned to \(parts[0]), which is not there" }
        let expression = SwiftTokens.of(String(parts[1])).map(\.text)
        guard !source.lines(with: expression).isEmpty else { return "\(parts[0]) does not say \(parts[1])" }
        guard let number = expression.first(where: { $0.first?.isNumber == true }) else {
            return "\(pin) has no number"
        }
        return Self.shows(number.replacing("_", with: ""), in: line) ? nil : "the line does not show \(number)"
    }

    /// As a number of its own in what a reader sees: not the 10 of 100, not what stands in a comment.
    private static func shows(_ number: String, in line: Substring) -> Bool {
        var seen = String(line)
        while let start = seen.firstRange(of: "<!--"), let end = seen.firstRange(of: "-->") {
            guard start.lowerBound < end.upperBound else { break }
            seen.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return seen.split { !($0.isNumber || $0 == ".") }.contains { $0.trimmingSuffix(".") == number }
    }

    /// What stands between `pinned: ` and the end of the comment, or of the line where the comment has no end.
    private static func pins(in line: Substring) -> [Substring] {
        line.ranges(of: "<!-- pinned: ").map { opening in
            let rest = line[opening.upperBound...]
            guard let closing = rest.firstRange(of: " -->") else { return rest }
            return rest[..<closing.lowerBound]
        }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ character: Character) -> Substring { last == character ? dropLast() : self }
}
