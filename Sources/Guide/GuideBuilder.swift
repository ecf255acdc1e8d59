import ChannelList
import Foundation
import Glibc
import Support

/// Merges the fetched guides into the guide that is served, in two passes over each: the first finds its channels, the
/// second copies their programs. Only the channels of a guide are kept in memory.
struct GuideBuilder {
    let channels: [ListedChannel]
    /// Files as they were fetched, in the order of the lists.
    let guides: [String]
    var limits = GuideLimits()
    var past: PastPrograms?
    var isCanceled: @Sendable () -> Bool = { false }

    struct Built: Equatable, Sendable {
        var written = GuideMerge.Counts()
        var byteCount = 0
        var gzipByteCount = 0
        var fingerprint: UInt64 = 0
        /// The positions of the programs in the first file.
        var schedule = GuideSchedule()
        /// For each guide the counts of its content, or the reason why it cannot be used.
        var found: [Result<GuideScanner.Counts, GuideFault>] = []
    }

    /// Writes the guide to a file, and a copy as a gzip member to another file.
    func build(to path: String, gzip gzipPath: String) throws(GuideFault) -> Built {
        var built = Built()
        let matcher = GuideMatcher(channels)
        var selection = GuideSelection()
        for (number, guide) in guides.enumerated() {
            var index = GuideIndex(matcher, limits: limits)
            let found = Result { () throws(GuideFault) in try reader(of: guide).read { index.record($0) } }
            // A guide that is damaged somewhere is not used at all.
            if case .success = found { selection.add(index, guide: number) }
            built.found.append(found)
        }
        if built.found.contains(.failure(.canceled)) { throw .canceled }
        var merge = GuideMerge(matcher, selection, limits: limits)
        guard var output = GuideOutput(path, gzip: gzipPath) else { throw .unreadable(errno: errno) }
        try output.append(merge.head())
        for (number, guide) in guides.enumerated() {
            guard case .success = built.found[number] else { continue }
            merge.beginGuide()
            _ = try reader(of: guide).read { element throws(GuideFault) in
                merge.append(element, of: number, to: &output.buffer)
                try output.flushIfLarge()
            }
        }
        try past?.read(before: merge.schedule) { channel, start, bytes throws(GuideFault) in
            merge.append(bytes, start: start, to: channel, &output.buffer)
            try output.flushIfLarge()
        }
        try output.finish(GuideMerge.tail)
        built.written = merge.counts
        built.schedule = merge.schedule.sorted()
        (built.byteCount, built.gzipByteCount) = (output.byteCount, output.gzipByteCount)
        built.fingerprint = output.fingerprint
        return built
    }

    private func reader(of guide: String) -> GuideReader {
        GuideReader(path: guide, limits: limits, isCanceled: isCanceled)
    }
}

/// The two files of a guide in the making.
private struct GuideOutput: ~Copyable {
    private static let flushByteCount = 256 << 10

    var buffer: [UInt8] = []
    private(set) var byteCount = 0
    private(set) var gzipByteCount = 0
    /// FNV-1a of 64 bits over the written text.
    private(set) var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325
    private let plain: FileHandle
    private let compressed: FileHandle
    private var gzip: GzipStream

    /// - Returns: nil if the files cannot be created.
    init?(_ path: String, gzip gzipPath: String) {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            FileManager.default.createFile(atPath: gzipPath, contents: nil),
            let plain = FileHandle(forWritingAtPath: path), let compressed = FileHandle(forWritingAtPath: gzipPath)
        else { return nil }
        guard let gzip = GzipStream() else { return nil }
        self.plain = plain
        self.compressed = compressed
        self.gzip = gzip
    }

    mutating func append(_ bytes: [UInt8]) throws(GuideFault) {
        buffer += bytes
        try flushIfLarge()
    }

    mutating func flushIfLarge() throws(GuideFault) {
        if buffer.count >= Self.flushByteCount { try flush(isLast: false) }
    }

    mutating func finish(_ tail: [UInt8]) throws(GuideFault) {
        buffer += tail
        try flush(isLast: true)
        try? plain.close()
        try? compressed.close()
    }

    private mutating func flush(isLast: Bool) throws(GuideFault) {
        for byte in buffer { fingerprint = (fingerprint ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let member = gzip.compress(buffer, isLast: isLast)
        byteCount += buffer.count
        gzipByteCount += member.count
        do {
            try plain.write(contentsOf: Data(buffer))
            try compressed.write(contentsOf: Data(member))
        } catch { throw .unreadable(errno: errno) }
        buffer.removeAll(keepingCapacity: true)
    }
}
