/// Checks the numbers that documents quote from constants. `docs/pins.txt` has a row for each, of four fields between
/// tabs: the document, words of it, the name of a file of Sources, and an expression in that file:
///
///     docs/timeline.md	longest gap is 10 s	DiscontinuityDetector.swift	longestGap = Ticks.seconds(10)
///
/// A row holds if the document has the words exactly once, the file has the expression, and the words show the
/// expression's first number.
struct PinRule {
    static let path = "docs/pins.txt"

    private let files: [String: SourceFile]
    /// The sources of each name.
    private let sources: [Substring: [SourceFile]]

    init(files: [SourceFile]) {
        self.files = Dictionary(files.map { ($0.path, $0) }) { first, _ in first }
        let sources = files.filter { $0.module != nil && $0.path.hasSuffix(".swift") }
        self.sources = Dictionary(grouping: sources) { $0.path.split(separator: "/").last ?? "" }
    }

    func findings(in pins: SourceFile) -> [String] {
        guard pins.path == Self.path else { return [] }
        let lines = pins.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().filter { !$1.isEmpty && !$1.hasPrefix("#") }.compactMap { index, line in
            complaint(about: line).map { pins.finding(index + 1, $0) }
        }
    }

    private func complaint(about row: Substring) -> String? {
        let fields = row.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 4 else { return "a row has four fields between tabs" }
        let (path, words, name, text) = (String(fields[0]), fields[1], fields[2], String(fields[3]))
        guard let document = files[path] else { return "\(path) is not there" }
        let count = document.text.ranges(of: words).count
        guard count == 1 else { return "\(path) has “\(words)” \(count) times" }
        guard let source = sources[name]?.first, sources[name]?.count == 1 else {
            return "\(name) is not the name of one file of Sources"
        }
        let expression = SwiftTokens.of(text).map(\.text)
        guard !source.lines(with: expression).isEmpty else { return "\(name) does not say \(text)" }
        guard let number = expression.first(where: { $0.first?.isNumber == true }) else {
            return "\(text) has no number"
        }
        return Self.shows(number.replacing("_", with: ""), in: words) ? nil : "“\(words)” does not show \(number)"
    }

    /// Whether `words` have `number` as a number of its own: not the 10 of 100.
    private static func shows(_ number: String, in words: Substring) -> Bool {
        words.split { !($0.isNumber || $0 == ".") }.contains { $0 == number || $0 == number + "." }
    }
}
