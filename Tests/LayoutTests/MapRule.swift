import Foundation
import TestSupport

/// Finds paths in the tables of ARCHITECTURE.md that name no file or folder of Sources.
enum MapRule {
    static func findings(in map: SourceFile) -> [String] {
        map.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            guard line.hasPrefix("|") else { return [String]() }
            return line.matches(of: /`([A-Za-z]+\/[^` ]+)`/).map { String($0.1) }.filter { !exists($0) }
                .map { map.finding(index + 1, "\($0) is not below Sources") }
        }
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: PackageRoot.url.appending(path: "Sources/\(path)").path)
    }
}
