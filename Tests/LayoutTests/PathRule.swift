/// Nothing in the tree names a place on one machine: it would be wrong on every other.
enum PathRule {
    static let foreign = ["/work/", "/tmp/", "/home/", "/root/", "/Users/", "/private/", "../shared/"]

    static func findings(in file: SourceFile) -> [String] {
        // The rows that prove this rule name such places.
        guard !file.path.hasPrefix("Tests/LayoutTests/") else { return [] }
        let suspects = foreign.filter { file.text.contains($0) }
        guard !suspects.isEmpty else { return [] }
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().flatMap { index, line in
            suspects.filter { begins($0, in: line) }.map {
                file.finding(index + 1, "names \($0)…, a place of one machine")
            }
        }
    }

    /// As the beginning of a path: not in `Sources/work/`, not in `http://host/tmp/`.
    private static func begins(_ path: String, in line: Substring) -> Bool {
        line.ranges(of: path).contains { range in
            guard range.lowerBound > line.startIndex else { return true }
            let before = line[line.index(before: range.lowerBound)]
            return !(before.isLetter || before.isNumber || "._-}".contains(before))
        }
    }
}
