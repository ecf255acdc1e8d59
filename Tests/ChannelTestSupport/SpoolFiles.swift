package import Foundation
import Testing

/// A spool that no process uses, and the damage that a kill, a disk or a power cut does to it.
package struct SpoolFiles {
    package let directory: URL

    package init(directory: URL) { self.directory = directory }

    private var journal: URL { directory.appending(path: "ring.m3u8") }

    /// Names of the segments in the journal, oldest first.
    package var segments: [String] {
        get throws { try lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.map(String.init) }
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(at: file(name)) }

    /// Truncates a file to its first half.
    package func truncate(_ name: String) throws {
        let bytes = try Data(contentsOf: file(name))
        try bytes.prefix(bytes.count / 2).write(to: file(name))
    }

    /// Adds the file of a segment after the newest one that the journal does not record, whole or in part.
    package func leaveUnrecorded(whole: Bool) throws {
        let newest = try #require(segments.last)
        let parts = newest.split(separator: "-")
        let number = try #require(parts.count == 3 ? UInt64(parts[1]) : nil)
        let bytes = try Data(contentsOf: file(newest))
        let name = "seg-\(number + 1)-0badcafe.m4s"
        try (whole ? bytes : bytes.prefix(bytes.count / 2)).write(to: file(whole ? name : name + ".part"))
    }

    /// Appends half a record to the journal.
    package func tearRecord() throws {
        let last = try #require(lines.dropLast().lastIndex { !$0.hasPrefix("#") })
        let before = try lines[..<last].lastIndex { !$0.hasPrefix("#") } ?? 0
        let record = try lines[(before + 1)...last].joined(separator: "\n")
        try append(Data(record.utf8.prefix(record.utf8.count / 2)))
    }

    /// Appends zeros to the journal, as if its size was written to disk and its bytes were not.
    package func appendZeros() throws { try append(Data(count: 400)) }

    /// Overwrites the middle of a segment's record with zeros.
    package func zero(recordOf name: String) throws {
        var bytes = try Data(contentsOf: journal)
        let end = try #require(bytes.range(of: Data((name + "\n").utf8))).lowerBound
        bytes.replaceSubrange(end - 100..<end, with: Data(count: 100))
        try bytes.write(to: journal)
    }

    /// Overwrites all records after a segment's with zeros.
    package func zero(after name: String) throws {
        var bytes = try Data(contentsOf: journal)
        let end = try #require(bytes.range(of: Data((name + "\n").utf8))).upperBound
        bytes.replaceSubrange(end..., with: Data(count: bytes.count - end))
        try bytes.write(to: journal)
    }

    private var lines: [Substring] {
        get throws {
            try String(contentsOf: journal, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        }
    }

    private func file(_ name: String) -> URL { directory.appending(path: name) }

    private func append(_ data: Data) throws {
        try (Data(contentsOf: journal) + data).write(to: journal)
    }
}
