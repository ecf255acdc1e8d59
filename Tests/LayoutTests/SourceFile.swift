import Foundation
import TestSupport

/// One text file of the package.
struct SourceFile {
    /// From the package's root on, such as `Sources/Playlist/PlaylistLine.swift`.
    let path: String
    let text: String
    /// Empty for what is not Swift.
    let tokens: [SwiftToken]
    /// Where each word or sign stands in `tokens`.
    private let places: [String: [Int]]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        tokens = path.hasSuffix(".swift") ? SwiftTokens.of(text) : []
        places = Dictionary(grouping: tokens.indices) { [tokens] in tokens[$0].text }
    }

    /// For `Sources/<module>/…`; nil elsewhere.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// Every place where `words` stand one after the other.
    func lines(with words: [String]) -> [Int] {
        places[words[0], default: []]
            .filter { tokens[$0...].prefix(words.count).map(\.text) == words }
            .map { tokens[$0].line }
    }

    func finding(_ line: Int, _ message: String) -> String { "\(path):\(line): \(message)" }
}

extension [SourceFile] {
    /// What `git` would track as text; nothing that is built or downloaded.
    static let package: [SourceFile] = {
        let suffixes = ["swift", "h", "modulemap", "md", "json", "m3u8", "txt", "html", "js", "css", "yaml", "yml"]
        let scripts = [
            "run", "test", ".ci/run", ".ci/prepare", "Captures/make", "Tests/Fuzz/run", "Tests/Kill/run",
            "Tests/Histories/run",
        ]
        let tree = FileManager.default.enumerator(atPath: PackageRoot.url.path)
        var files: [SourceFile] = []
        while let path = tree?.nextObject() as? String {
            if path.hasPrefix(".build") || path == ".git" || path == "spool" { tree?.skipDescendants() }
            let isText = suffixes.contains { path.hasSuffix(".\($0)") } || scripts.contains(path)
            guard isText, let data = try? Data(contentsOf: PackageRoot.url.appending(path: path)) else { continue }
            files.append(SourceFile(path: path, text: String(decoding: data, as: UTF8.self)))
        }
        return files.sorted { $0.path < $1.path }
    }()
}
