package import Foundation
package import Testing

/// Fails unless `file` equals `actual`, byte for byte, and prints the first lines that differ.
///
/// With GOLDEN=write in the environment the file is written instead. The diff is reviewed.
package func expectGolden(_ actual: String, at file: URL, sourceLocation: SourceLocation = #_sourceLocation) throws {
    if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return try Data(actual.utf8).write(to: file, options: .atomic)
    }
    let expected = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
    guard let difference = goldenDifference(expected: expected, actual: actual) else { return }
    let name = file.pathComponents.suffix(4).joined(separator: "/")
    Issue.record("\(name) \(difference)\nGOLDEN=write takes the actual text over.", sourceLocation: sourceLocation)
}

/// A message with the line before the first difference and up to four lines of each text.
/// - Parameter expected: nil if the file does not exist.
/// - Returns: nil if both texts are equal.
package func goldenDifference(expected: String?, actual: String) -> String? {
    guard let expected else { return "is not there." }
    guard Array(expected.utf8) != Array(actual.utf8) else { return nil }
    let old = lines(of: expected)
    let new = lines(of: actual)
    let same = zip(old, new).prefix { $0 == $1 }.count
    var message = ["differs from line \(same + 1) on (- the file, \(old.count) lines; + actual, \(new.count) lines):"]
    if same > 0 { message.append("  \(old[same - 1])") }
    message += old.dropFirst(same).prefix(4).map { "- \($0)" }
    message += new.dropFirst(same).prefix(4).map { "+ \($0)" }
    return message.joined(separator: "\n")
}

/// The lines of a text, split at line feeds only, so that a carriage return is a difference.
private func lines(of text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self).replacing("\r", with: "␍") }
}
