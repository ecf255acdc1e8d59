import ChannelTestSupport
import Foundation
import Media
import Mux
import Playlist
import TestSupport
import Testing
import WebTestSupport

@testable import Capture
@testable import Channel
@testable import Export
@testable import HTTP
@testable import LiveRing
@testable import Service
@testable import Support
@testable import WebServer
@testable import liverelay

/// Ranges of the rewind as transport stream files, which are never whole anywhere.
@Suite(.ownThreads) struct TransportFileTests {
    /// The archive of everything that a channel published before its last segment.
    private static func path(of state: ChannelState) throws -> String {
        let entries = try #require(state.snapshot).index.listed
        return path(from: try #require(entries.first), before: try #require(entries.last))
    }

    private static func path(from first: RingEntry, before last: RingEntry) -> String {
        let (start, end) = (first.programDateTime, last.programDateTime)
        return "/clip.ts?start=\(start.text)&end=\(end.text)"
    }

    private static func file(_ path: String, of state: ChannelState) async throws -> (file: MadeFile, tag: String?) {
        let request = try RequestTarget(method: .get, uri: path)
        let response = await ChannelResponder(state).answer(to: request).response()
        guard case .made(let file) = response.body else {
            Issue.record("\(response)")
            throw CancellationError()
        }
        return (file, response.etag)
    }

    private static func read(_ file: MadeFile, _ range: Range<Int>) async -> [UInt8] {
        let stream = file.read(range)
        var bytes: [UInt8] = []
        while let next = await stream.next() { bytes += next }
        return bytes
    }

    @Test(arguments: ["ssai_tagged", "outage", "audio_changes", "audio_only", "video_codecs", "wrap"])
    func everyRangeIsAPartOfTheFile(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let path = try Self.path(of: state)
        let (file, tag) = try await Self.file(path, of: state)
        let whole = await Self.read(file, 0..<file.byteCount)
        #expect(whole.count == file.byteCount && whole.count > 100 * 188)
        var random = SeededGenerator(seed: 26)
        for number in 0..<2000 {
            let start = Int.random(in: 0..<whole.count, using: &random)
            let length = Int.random(in: 1...(number.isMultiple(of: 400) ? whole.count : 4000), using: &random)
            let range = start..<min(whole.count, start + length)
            let part = await Self.read(try await Self.file(path, of: state).file, range)
            guard part.elementsEqual(whole[range]) else {
                Issue.record("\(range) of \(whole.count)")
                return
            }
        }
        let isAudioOnly = state.status.transportStream.videoCodec == nil
        let scan = try #require(TransportStreamScan(whole))
        // In place of missing media there is only PCR, for 200 ms.
        #expect(scan.faults(clockPID: isAudioOnly ? 0x101 : 0x100).filter { !$0.contains("table") } == [])
        // Another process on the spool.
        let again = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let copy = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: channel.spool, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        again.setRing(try DVRRing(directory: copy.path, policy: RetentionPolicy(rewind: nil), targetDuration: 1))
        let restarted = try await Self.file(path, of: again)
        #expect(restarted.tag == tag)
        #expect(await Self.read(restarted.file, 0..<restarted.file.byteCount) == whole)
    }

    /// Upstreams cut audio and video by their places in a file, so segments begin and end with audio of others.
    @Test(arguments: ["ssai_tagged", "audio_changes", "wrap"])
    func audioBeginsAndEndsWithVideo(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let entries = Array(try #require(state.snapshot).index.listed)
        var all: [TransportStreamScan] = []
        for entry in entries {
            let segment = try await state.transportStreams.segment(of: entry, in: try #require(state.snapshot))
            all.append(try #require(TransportStreamScan(segment.bytes)))
        }
        let starts = all.map { $0.packetizedElements(of: 0x100).map(\.pts).min() ?? 0 }
        let audio = all.flatMap(\.audioFrames)
        var early = 0
        for first in entries.indices.dropLast(3) {
            let (file, _) = try await Self.file(Self.path(from: entries[first], before: entries[first + 2]), of: state)
            let bytes = await Self.read(file, 0..<file.byteCount)
            let scan = try #require(TransportStreamScan(bytes))
            #expect(bytes.count == file.byteCount && scan.faults(clockPID: 0x100) == [])
            let expected = audio.filter { starts[first] < $0.time + $0.duration && $0.time < starts[first + 2] }
            #expect(scan.audioFrames == expected, "\(entries[first].segment.name)")
            early += all[first].audioFrames.count { $0.time + $0.duration <= starts[first] }
        }
        #expect(early > 0 || name != "ssai_tagged")
    }

    /// The audio at the end is in the segment after it.
    @Test func aFileHasTheSegmentAfterItPublished() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let index = try #require(try await channel.relay().snapshot).index
        let range = index.listed.startIndex..<index.listed.endIndex
        #expect(TransportStreamFile(range, of: index, hasEnded: false) == nil)
        #expect(TransportStreamFile(range.dropLast(), of: index, hasEnded: false) != nil)
        #expect(TransportStreamFile(range, of: index, hasEnded: true) != nil)
    }

    /// A client that learned the size may be anywhere in the file.
    @Test func lostSegmentsKeepTheirPlaces() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay()
        let path = try Self.path(of: state)
        let file = try await Self.file(path, of: state).file
        let whole = await Self.read(file, 0..<file.byteCount)
        let entry = try #require(state.snapshot).index.listed[4]
        try FileManager.default.removeItem(at: channel.spool.appending(path: entry.segment.name))
        let other = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let copy = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: channel.spool, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        other.setRing(try DVRRing(directory: copy.path, policy: RetentionPolicy(rewind: nil), targetDuration: 1))
        let damaged = try await Self.file(path, of: other).file
        let rest = await Self.read(damaged, 0..<damaged.byteCount)
        #expect(rest.count == whole.count)
        let lost = zip(rest, whole).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        let size = try #require(entry.transportStream?.extent).byteCount
        #expect((lost.last ?? 0) - (lost.first ?? 0) < size && lost.count > size / 2)
        #expect(other.status.transportStream.unreadableSegments == 1)
    }

    @Test func fileHasALengthAndRanges() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay()
        let path = try Self.path(of: state)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: ChannelResponder(state))
        var client = try RawClient(port: server.port)
        try client.send(request("HEAD", path))
        let head = try client.response(toHead: true)
        #expect(state.transportStreams.counts.segments == 0, "HEAD makes nothing")
        let size = try #require(head["Content-Length"].flatMap { Int($0) })
        #expect(head.status == 200 && head["Accept-Ranges"] == "bytes" && head["Content-Type"] == "video/mp2t")
        let tag = try #require(head["ETag"])
        try client.send(request("GET", path))
        let whole = try client.response()
        #expect(whole.status == 200 && whole.body.count == size && whole["ETag"] == tag)
        let rows: [(range: String, bytes: Range<Int>)] = [
            ("bytes=0-", 0..<size), ("bytes=-1880", size - 1880..<size), ("bytes=1000-1999", 1000..<2000),
        ]
        for row in rows {
            try client.send(request("GET", path, ["Range: \(row.range)"]))
            let part = try client.response()
            #expect(part.status == 206 && part.body.elementsEqual(whole.body[row.bytes]), "\(row.range)")
            #expect(part["Content-Range"] == "bytes \(row.bytes.lowerBound)-\(row.bytes.upperBound - 1)/\(size)")
        }
        try client.send(request("GET", path, ["Range: bytes=\(size)-"]))
        #expect(try client.response().status == 416)
        try client.send(request("GET", path, ["Range: bytes=188-375", "If-Range: \"another\""]))
        #expect(try client.response().status == 200)
        try client.send(request("GET", path, ["If-None-Match: \(tag)"]))
        #expect(try client.response().status == 304)
        await server.shutdown(within: .zero)
    }
}

private struct ScannedAudioFrame: Equatable {
    let time: Int64
    let duration: Int64
    let bytes: [UInt8]
}

extension TransportStreamScan {
    private static let sampleRates: [Int64] = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050]

    /// The ADTS frames of the leading audio (ISO/IEC 13818-7 §6.2).
    fileprivate var audioFrames: [ScannedAudioFrame] {
        packetizedElements(of: 0x101).flatMap { element in
            var (frames, rest, samples) = ([ScannedAudioFrame](), Array(element.payload)[...], Int64(0))
            while rest.count > 7 {
                let header = Array(rest.prefix(7))
                let size = Int(header[3] & 3) << 11 | Int(header[4]) << 3 | Int(header[5]) >> 5
                let rate = Self.sampleRates[Int(header[2] >> 2 & 0xF)]
                frames.append(
                    ScannedAudioFrame(
                        time: element.pts + samples * 90_000 / rate, duration: 1024 * 90_000 / rate,
                        bytes: Array(rest.prefix(size))))
                rest = rest.dropFirst(max(7, size))
                samples += 1024
            }
            return frames
        }
    }
}
