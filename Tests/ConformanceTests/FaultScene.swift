import Capture
import Foundation
import Inspect
import Support
import TestSupport

@testable import Conformance

/// The answers of a clean channel, in which a fault is planted.
struct FaultScene {
    var answers: [CheckedAnswer]
    let url: String
    /// Chooses where the fault is planted.
    var seed: SeededGenerator

    init(_ capture: String, seed: UInt64) throws {
        let directory = try CaptureDirectory(CaptureFixture(capture).directory)
        answers = try CaptureFeed.answers(of: directory)
        url = directory.index.upstream
        self.seed = SeededGenerator(seed: seed)
    }

    /// Each finding with its number of occurrences left out: `26/clock`.
    func findings(excluded: Set<Rule> = []) -> [Finding] {
        CaptureFeed.check(answers, of: url, excluded: excluded).report.findings
    }

    // MARK: - Text

    private func isPlaylist(_ index: Int) -> Bool { answers[index].body.starts(with: "#EXTM3U".utf8) }

    /// Indices of the versions of a playlist.
    func versions(_ name: String) -> [Int] {
        answers.indices.filter { isPlaylist($0) && answers[$0].url.hasSuffix("/\(name)") }
    }

    /// Edits the versions of a playlist.
    mutating func edit(
        _ name: String = "main.m3u8", from first: Int = 0, to end: Int = .max, _ body: (String) -> String
    ) {
        for (number, index) in versions(name).enumerated() where number >= first && number < end {
            answers[index].body = Array(body(String(decoding: answers[index].body, as: UTF8.self)).utf8)
        }
    }

    mutating func replace(
        _ old: String, _ new: String, in name: String = "main.m3u8", from first: Int = 0, to end: Int = .max
    ) { edit(name, from: first, to: end) { $0.replacing(old, with: new) } }

    /// Writes a line before the line of a segment's EXTINF or date.
    mutating func insert(_ line: String, before segment: String, in name: String = "main.m3u8", from first: Int = 0) {
        edit(name, from: first) { text in
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard let uri = lines.firstIndex(of: segment) else { return text }
            var place = uri
            while place > 0, lines[place - 1].hasPrefix("#EXTINF") || lines[place - 1].hasPrefix("#EXT-X-PROGRAM") {
                place -= 1
            }
            lines.insert(line, at: place)
            return lines.joined(separator: "\n")
        }
    }

    /// Writes a line after #EXTM3U.
    mutating func head(_ line: String, in name: String = "main.m3u8") {
        replace("#EXTM3U\n", "#EXTM3U\n\(line)\n", in: name)
    }

    // MARK: - Answers

    /// Changes the answers for a resource.
    mutating func change(_ name: String, _ body: (inout CheckedAnswer) -> Void) {
        for index in answers.indices where answers[index].url.hasSuffix("/\(name)") { body(&answers[index]) }
    }

    mutating func header(_ name: String, _ value: String, of resource: String) {
        change(resource) { answer in
            answer.headers.removeAll { $0.name.lowercased() == name.lowercased() }
            answer.headers.append((name, value))
        }
    }

    // MARK: - Transport streams

    /// Adds `ticks` to the timestamps of PES packets of a PID, or of all, in the segments with these names.
    mutating func shift(_ names: [String], by ticks: Int64, pid: UInt16? = nil, from first: Int = 0) {
        for name in names {
            change(name) { $0.body = Self.shifted($0.body, by: ticks, pid: pid, from: first) }
        }
    }

    static func shifted(_ bytes: [UInt8], by ticks: Int64, pid: UInt16?, from first: Int, count: Int = .max) -> [UInt8]
    {
        var bytes = bytes
        var seen = 0
        forEachPacket(of: bytes) { start, packetPID, payload in
            guard pid == nil || packetPID == pid, bytes[start + 1] & 0x40 != 0, payload + 14 < start + 188,
                bytes[payload..<payload + 3].elementsEqual([0, 0, 1]), bytes[payload + 3] >= 0xC0
            else { return }
            seen += 1
            guard seen > first, seen <= first &+ count || count == .max else { return }
            let flags = bytes[payload + 7] >> 6
            if flags & 2 != 0 { add(ticks, to: &bytes, at: payload + 9) }
            if flags == 3 { add(ticks, to: &bytes, at: payload + 14) }
        }
        return bytes
    }

    private static func add(_ ticks: Int64, to bytes: inout [UInt8], at offset: Int) {
        let field = bytes[offset..<offset + 5].map { Int64($0) }
        var time = (field[0] >> 1 & 7) << 30 | field[1] << 22 | (field[2] >> 1) << 15 | field[3] << 7 | field[4] >> 1
        time = (time + ticks) & (1 << 33 - 1)
        bytes[offset] = bytes[offset] & 0xF0 | UInt8(time >> 30 & 7) << 1 | 1
        bytes[offset + 1] = UInt8(time >> 22 & 0xFF)
        bytes[offset + 2] = UInt8(time >> 15 & 0x7F) << 1 | 1
        bytes[offset + 3] = UInt8(time >> 7 & 0xFF)
        bytes[offset + 4] = UInt8(time & 0x7F) << 1 | 1
    }

    /// Removes the packets of some PES packets of a PID.
    mutating func dropPackets(_ name: String, pid: UInt16, units: Range<Int>) {
        change(name) { answer in
            var kept: [UInt8] = []
            var unit = -1
            let bytes = answer.body
            Self.forEachPacket(of: bytes) { start, packetPID, _ in
                if packetPID == pid, bytes[start + 1] & 0x40 != 0 { unit += 1 }
                if packetPID != pid || !units.contains(unit) { kept += bytes[start..<start + 188] }
            }
            answer.body = kept
        }
    }

    static func forEachPacket(of bytes: [UInt8], _ body: (_ start: Int, _ pid: UInt16, _ payload: Int) -> Void) {
        for start in stride(from: 0, to: bytes.count - 187, by: 188) {
            let pid = UInt16(bytes[start + 1] & 0x1F) << 8 | UInt16(bytes[start + 2])
            let hasField = bytes[start + 3] & 0x20 != 0
            body(start, pid, start + 4 + (hasField ? 1 + Int(bytes[start + 4]) : 0))
        }
    }

    // MARK: - Fragmented MP4

    /// Adds units to the decode times of a segment's tracks: the first one alone, or all.
    mutating func shiftDecodeTimes(_ name: String, by units: UInt32, all: Bool) {
        change(name) { answer in
            var position = 0
            while let found = answer.body[position...].firstRange(of: Array("tfdt".utf8)) {
                let version = answer.body[found.upperBound]
                let low = found.upperBound + 4 + (version == 1 ? 4 : 0)
                let value = answer.body[low..<low + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } &+ units
                for index in 0..<4 { answer.body[low + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
                position = found.upperBound
                if !all { return }
            }
        }
    }

    /// An init section whose tracks count twice as many units per second.
    static func doubledTimescales(_ bytes: [UInt8]) -> [UInt8] { changed(bytes, "mdhd", at: 12) { $0 * 2 } }

    /// An init section whose tracks have other IDs.
    static func renumberedTracks(_ bytes: [UInt8]) -> [UInt8] {
        changed(changed(bytes, "tkhd", at: 12) { $0 + 8 }, "trex", at: 4) { $0 + 8 }
    }

    /// Changes a number of 32 bits in each box of a type, at an offset after the type.
    private static func changed(
        _ bytes: [UInt8], _ type: String, at offset: Int, _ change: (UInt32) -> UInt32
    ) -> [UInt8] {
        var (bytes, position) = (bytes, 0)
        while let found = bytes[position...].firstRange(of: Array(type.utf8)) {
            let start = found.upperBound + offset
            let value = change(bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
            position = found.upperBound
        }
        return bytes
    }
}
