import Foundation
import Testing

/// A spool that no process holds, and what a kill, a disk or a power cut does to it.
struct SpoolFiles {
    let directory: URL

    var journal: URL { directory.appending(path: "ring.m3u8") }

    /// Names of the segments in the journal, oldest first.
    var segments: [String] {
        get throws { try lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.map(String.init) }
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(at: file(name)) }

    /// Leaves the first half of a file.
    func truncate(_ name: String) throws {
        let bytes = try Data(contentsOf: file(name))
        try bytes.prefix(bytes.count / 2).write(to: file(name))
    }

    /// A segment behind the newest, whole or in part, that no record tells of yet.
    func leaveUnrecorded(whole: Bool) throws {
        let newest = try #require(segments.last)
        let parts = newest.split(separator: "-")
        let number = try #require(parts.count == 3 ? UInt64(parts[1]) : nil)
        let bytes = try Data(contentsOf: file(newest))
        let name = "seg-\(number + 1)-0badcafe.m4s"
        try (whole ? bytes : bytes.prefix(bytes.count / 2)).write(to: file(whole ? name : name + ".part"))
    }

    /// Half a record behind the others.
    func tearRecord() throws {
        let last = try #require(lines.dropLast().lastIndex { !$0.hasPrefix("#") })
        let before = try lines[..<last].lastIndex { !$0.hasPrefix("#") } ?? 0
        let record = try lines[(before + 1)...last].joined(separator: "\n")
        try append(Data(record.utf8.prefix(record.utf8.count / 2)))
    }

    /// Zeros behind the records: a file was made longer, and its bytes never came.
    func appendZeros() throws { try append(Data(count: 400)) }

    /// Zeros in the middle of that segment's record.
    func zero(recordOf name: String) throws {
        var bytes = try Data(contentsOf: journal)
        let end = try #require(bytes.range(of: Data((name + "\n").utf8))).lowerBound
        bytes.replaceSubrange(end - 100..<end, with: Data(count: 100))
        try bytes.write(to: journal)
    }

    /// Zeros from behind the record of that segment to the journal's end.
    func zero(behind name: String) throws {
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
