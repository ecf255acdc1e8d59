import ChannelTestSupport
import Foundation
import LiveRing
import Media
import Playlist
import TestSupport
import Testing

@testable import Capture
@testable import Channel
@testable import Service
@testable import Support
@testable import WebServer
@testable import liverelay

/// Ranges of the rewind as transport stream files, which are never whole anywhere.
@Suite(.ownThreads) struct TransportFileTests {
    /// The archive of everything that a channel published.
    private static func path(of state: ChannelState) throws -> String {
        let entries = try #require(state.snapshot).index.listed
        let start = try #require(entries.first).programDateTime.millisecondsSince1970 / 1000
        let end = try #require(entries.last).programDateTimeEnd.millisecondsSince1970 / 1000
        return "/archive-\(start)-\(end - start).ts"
    }

    private static func file(_ path: String, of state: ChannelState) async throws -> (file: MadeFile, tag: String?) {
        let request = try RequestTarget(method: .get, uri: path)
        let response = await RelayResponder(channel: ChannelResponder(state)).answer(to: request).response()
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
            responder: RelayResponder(channel: ChannelResponder(state)))
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
