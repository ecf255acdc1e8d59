import Foundation

/// Finds links between the documents that lead nowhere: to a file that is not there, or to a heading that its document
/// does not have.
struct LinkRule {
    private let root: URL
    /// The anchors of each document's headings.
    private let anchors: [String: Set<String>]

    init(files: [SourceFile], root: URL) {
        self.root = root
        let documents = files.filter { $0.path.hasSuffix(".md") }
        anchors = Dictionary(documents.map { ($0.path, Self.anchors(of: $0.text)) }) { first, _ in first }
    }

    func findings(in document: SourceFile) -> [String] {
        guard anchors[document.path] != nil else { return [] }
        let lines = document.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().flatMap { index, line in
            line.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !leadsSomewhere($0, from: document.path) }
                .map { document.finding(index + 1, "\($0) leads nowhere") }
        }
    }

    private func leadsSomewhere(_ link: String, from path: String) -> Bool {
        if link.contains("://") || link.hasPrefix("mailto:") { return true }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0].isEmpty ? path : Self.resolve(String(parts[0]), from: path)
        guard FileManager.default.fileExists(atPath: root.appending(path: target).path) else { return false }
        guard parts.count == 2 else { return true }
        return anchors[target]?.contains(String(parts[1])) ?? false
    }

    /// The path from the package's root on.
    private static func resolve(_ link: String, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast()
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// As GitHub makes them: lower case, spaces as dashes, neither punctuation nor the marks of code.
    private static func anchors(of text: String) -> Set<String> {
        var isCode = false
        let headings = text.split(separator: "\n").filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode && line.hasPrefix("#")
        }
        return Set(
            headings.map { heading in
                let title = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                return String(
                    title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
            })
    }
}
