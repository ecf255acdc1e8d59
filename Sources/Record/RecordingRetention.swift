import Foundation
import Glibc
package import Support

/// How long finished recordings are kept.
package struct RecordingRetention: Hashable, Sendable {
    /// The longest age in seconds since the end of a recording.
    package var longest: Int64?
    /// The most bytes of all recordings of the channel.
    package var byteLimit: UInt64?

    package init(longest: Int64? = nil, byteLimit: UInt64? = nil) {
        (self.longest, self.byteLimit) = (longest, byteLimit)
    }

    /// A finished recording, identified by its document.
    struct Item: Equatable, Sendable {
        /// The path without a suffix.
        let base: String
        let byteCount: UInt64
        /// When the document was last written, in seconds since 1970.
        let time: Int64
    }

    /// The suffixes of a recording's files. A file `NAME.keep` beside them marks the recording as kept.
    static let suffixes = ["ts", "m3u8", "mp4", "mkv", "cut.mp4", "cut.mkv", "edl", "ffmeta", "json"]

    private static let markSuffix = "keep"

    /// The recordings to be removed, the oldest first.
    /// - Parameter isKept: whether a recording must stay regardless of limits: it is marked, or a process reads it.
    func expired(_ items: [Item], at now: Int64, isKept: (Item) -> Bool) -> [Item] {
        var total = items.reduce(UInt64(0)) { $0 + $1.byteCount }
        var expired: [Item] = []
        for item in items.sorted(by: { ($0.time, $0.base) < ($1.time, $1.base) }) {
            let isOld = longest.map { now - item.time > $0 } ?? false
            let isTooMuch = byteLimit.map { total > $0 } ?? false
            guard isOld || isTooMuch, !isKept(item) else { continue }
            total -= item.byteCount
            expired.append(item)
        }
        return expired
    }

    /// Removes the expired recordings of a channel.
    /// - Parameter forget: called with the result before anything is removed, unless that is nothing.
    /// - Returns: the paths of the removed recordings, without a suffix.
    package func sweep(
        _ pattern: RecordingPattern, channel: String?, forget: (_ paths: [String]) -> Void = { _ in }
    ) -> [String] {
        guard longest != nil || byteLimit != nil else { return [] }
        let items = Self.items(of: channel, in: pattern)
        let gone = expired(items, at: WallClock.milliseconds / 1000, isKept: Self.isKept).map(\.base)
        if !gone.isEmpty { forget(gone) }
        for base in gone { Self.remove(base) }
        return gone
    }

    /// Removes the files of a recording.
    /// - Parameter base: their path without a suffix.
    package static func remove(_ base: String) {
        for suffix in suffixes + [markSuffix] { _ = unsafe unlink("\(base).\(suffix)") }
    }

    /// Marks a recording as kept, or removes the mark.
    package static func mark(_ base: String, isKept: Bool) throws(RecordingFile.Failure) {
        let path = "\(base).\(markSuffix)"
        if isKept {
            _ = try Descriptor(path, O_WRONLY | O_CREAT)
        } else if unsafe unlink(path) != 0, errno != ENOENT {
            throw .system(code: errno, path: path)
        }
    }

    /// The suffixes of the existing files of a recording, and their total size in bytes.
    package static func files(_ base: String) -> (suffixes: [String], byteCount: UInt64) {
        let present = suffixes.filter { unsafe access("\(base).\($0)", F_OK) == 0 }
        return (present, item(base)?.byteCount ?? 0)
    }

    /// The recordings of a channel, in the folders that match the pattern.
    static func items(of channel: String?, in pattern: RecordingPattern) -> [Item] {
        let (prefix, folder, depth) = pattern.place(of: channel)
        guard let files = FileManager.default.enumerator(atPath: folder.isEmpty ? "." : folder) else { return [] }
        var items: [Item] = []
        while let name = files.nextObject() as? String {
            if files.level > depth { files.skipDescendants() }
            let base = folder + name.dropLast(5)
            guard name.hasSuffix(".json"), base.hasPrefix(prefix), isDocument(base, of: channel),
                let item = item(base)
            else { continue }
            items.append(item)
        }
        return items
    }

    /// Whether a file is the document of a recording of the channel. Other programs may write similar files there.
    private static func isDocument(_ base: String, of channel: String?) -> Bool {
        guard let file = try? Descriptor(base + ".json", O_RDONLY), let count = try? file.byteCount(),
            let bytes = try? file.read(0..<min(count, 2048))
        else { return false }
        let head = String(decoding: bytes, as: UTF8.self)
        let name = base.split(separator: "/").last ?? ""
        let isRecording = suffixes.contains { suffix in
            head.hasPrefix(String(JSONObject(["file": "\(name).\(suffix)"]).text.dropLast()))
        }
        let mark = channel.map { String(JSONObject(["channel": $0]).text.dropFirst().dropLast()) }
        return isRecording && (mark.map { head.contains($0) } ?? !head.contains("\"channel\":"))
    }

    private static func item(_ base: String) -> Item? {
        var (bytes, time): (UInt64, Int64?) = (0, nil)
        for suffix in suffixes {
            var status = stat()
            guard unsafe stat("\(base).\(suffix)", &status) == 0 else { continue }
            bytes += UInt64(status.st_size)
            time = max(time ?? 0, Int64(status.st_mtim.tv_sec))
        }
        return time.map { Item(base: base, byteCount: bytes, time: $0) }
    }

    static func isMarked(_ base: String) -> Bool { unsafe access("\(base).\(markSuffix)", F_OK) == 0 }

    private static func isKept(_ item: Item) -> Bool {
        isMarked(item.base) || suffixes.contains { isOpen("\(item.base).\($0)") }
    }

    /// Whether a process has the file open.
    private static func isOpen(_ path: String) -> Bool {
        do throws(WriteLease.Refusal) { _ = try WriteLease(path) } catch { return error == .isOpen }
        return false
    }
}
