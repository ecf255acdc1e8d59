/// Checks the rows of ARCHITECTURE.md that name a file below Sources: the file is there and declares the symbol in the
/// row's last cell.
///
///     | where to join a live playlist | `Tracker/Cursor/JoinPoint.swift` | `JoinPoint` |
struct MapRule {
    private static let kinds: Set = ["func", "struct", "class", "enum", "actor", "extension", "let", "var"]

    private let sources: [String: SourceFile]

    init(files: [SourceFile]) { sources = Dictionary(files.map { ($0.path, $0) }) { first, _ in first } }

    func findings(in map: SourceFile) -> [String] {
        map.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            guard line.hasPrefix("|"), let path = line.firstMatch(of: /`([A-Za-z]+\/[^` ]+)`/)?.1 else { return nil }
            guard let file = sources["Sources/\(path)"] else {
                return map.finding(index + 1, "\(path) is not in Sources")
            }
            guard let symbol = line.firstMatch(of: /`([^`]+)` \|$/)?.1, symbol != path else {
                return map.finding(index + 1, "\(path) has no symbol")
            }
            return Self.declares(symbol, in: file) ? nil : map.finding(index + 1, "\(path) does not declare \(symbol)")
        }
    }

    private static func declares(_ symbol: Substring, in file: SourceFile) -> Bool {
        let tokens = file.tokens
        return tokens.indices.dropFirst().contains { tokens[$0].text == symbol && kinds.contains(tokens[$0 - 1].text) }
    }
}
