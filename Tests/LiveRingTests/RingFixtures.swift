import Foundation
import Playlist
import Synchronization
import TestSupport

@testable import LiveRing
@testable import Support

/// A temporary directory that is removed with the object.
final class ScratchDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("ring-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }

    func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
}

let noon = ProgramDateTime(millisecondsSince1970: 1_767_355_200_000)  // 2026-01-02T12:00:00Z
let plentiful = RetentionPolicy(rewind: .seconds(7200), freeReserve: 0)

func at(_ seconds: Int64) -> ProgramDateTime {
    ProgramDateTime(millisecondsSince1970: noon.millisecondsSince1970 + seconds * 1000)
}

extension NewSegment {
    /// Segment `n` of a channel of 6 s segments. Its bytes depend on `n`.
    static func numbered(
        _ n: Int, duration: Int64 = 540_000, isDiscontinuous: Bool = false, isIndependent: Bool = true,
        initialization: String = "init-a.mp4", format: SegmentFormat = SegmentFormat(videoCodec: "avc1.640028"),
        payloadBytes: Int = 40, at date: ProgramDateTime? = nil
    ) -> NewSegment {
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: payloadBytes)
        return NewSegment(
            initialization: InitializationFile(name: initialization, bytes: Array(initialization.utf8)),
            header: Array("header of \(n);".utf8),
            payload: [payload[..<(payloadBytes / 2)], payload[(payloadBytes / 2)...]],
            duration: duration, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent,
            programDateTime: date ?? LiveRingTests.at(6 * Int64(n)), resumePoint: .after(n), format: format)
    }
}

extension DateRange {
    static func numbered(
        _ n: Int, from start: ProgramDateTime, lasting duration: Duration? = nil, planned: Duration? = nil
    ) -> DateRange {
        var range = DateRange(id: "range-\(n)")
        range.startDate = start
        range.plannedDuration = planned
        range.duration = duration
        return range
    }

    /// A random date range that begins near segment `n` of 6 s, with or without an end.
    static func random(at n: Int, using random: inout SeededGenerator) -> DateRange {
        var range = DateRange.numbered(n, from: LiveRingTests.at(6 * Int64(n) + .random(in: -8...20, using: &random)))
        if Bool.random(using: &random) { range.duration = .milliseconds(.random(in: 1...90_000, using: &random)) }
        if Bool.random(using: &random) { range.plannedDuration = .seconds(30) }
        if Bool.random(using: &random) { range[splice: .out] = [0xFC, UInt8(truncatingIfNeeded: n)] }
        return range
    }
}

extension ResumePoint {
    static func after(_ n: Int) -> ResumePoint {
        ResumePoint(
            videoDecodeTime: UInt64(n + 1) * 540_000, audioDecodeTime: UInt64(n + 1) * 84_672_000,
            fragmentSequenceNumber: UInt64(n) + 2, presentationEnd: Int64(n + 1) * 540_000, compositionOffset: 18_000)
    }
}

extension UpstreamPosition {
    static func random(using random: inout SeededGenerator) -> UpstreamPosition {
        UpstreamPosition(
            sourceIndex: .random(in: 0...3, using: &random), mediaSequence: .random(in: 0..<1 << 62, using: &random),
            programDateTime: Bool.random(using: &random) ? at(.random(in: 0...9999, using: &random)) : nil,
            publishedFrames: Bool.random(using: &random) ? "1/-2/3/4" : nil)
    }
}

extension RingIndex {
    /// Publishes a segment as `DVRRing` does, without files.
    @discardableResult
    mutating func publish(_ segment: NewSegment, afterInterruption: Bool = false) -> [SpoolFile] {
        publish(entry(for: segment, afterInterruption: afterInterruption))
    }

    /// An index with `count` segments of 6 s.
    static func filled(_ count: Int, policy: RetentionPolicy = plentiful) -> RingIndex {
        var index = RingIndex(policy: policy, targetDuration: 6)
        for n in 0..<count { index.publish(.numbered(n)) }
        return index
    }
}

extension DVRRing {
    static func open(
        _ directory: ScratchDirectory, policy: RetentionPolicy = plentiful, targetDuration: Int = 6,
        firstMediaSequence: UInt64 = 0
    ) throws(RingError) -> DVRRing {
        try DVRRing(
            directory: directory.path, policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence)
    }
}

func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

func text(_ playlist: MediaPlaylist?) -> String { playlist.map { PlaylistWriter.write($0) } ?? "" }
