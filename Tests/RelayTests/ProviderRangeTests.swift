import ChannelList
import Foundation
import LiveRing
import Playlist
import Support
import TestSupport
import Testing
import WebTestSupport

@testable import HTTP
@testable import Service
@testable import WebServer

/// A range that the archive of a provider has is a channel that exists while somebody watches it.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct ProviderRangeTests {
    private static let names: [(name: String, slug: String?)] = [
        ("news~1767355200-3600", "news"), ("news~0-1", "news"), ("news~1767355200-21600", "news"),
        ("news", nil), ("news~", nil), ("news~1-2-3", nil), ("news~-1-2", nil), ("news~+1-2", nil),
        ("news~1767355200-0", nil), ("news~1767355200-21601", nil), ("news~12345678901234-1", nil), ("news~01-2", nil),
        ("a~b~1-2", nil),
    ]

    @Test(arguments: names.indices) func nameIsRead(row: Int) {
        let (name, slug) = Self.names[row]
        let range = ProviderRange(name: name)
        #expect(range?.slug == slug, "\(name)")
        #expect(range.map { $0.name == name } ?? true)
    }

    /// The list of a provider with an archive of two days.
    private static func channel(
        _ url: String, archive: String = "http://tv.example/{utc}-{duration}?token=secret"
    ) throws -> ListedChannel {
        let attributes = "tvg-id=\"news\" catchup=\"default\" catchup-source=\"\(archive)\" catchup-days=\"2\""
        let list = try M3UChannelListParser.parse(Array("#EXTM3U\n#EXTINF:-1 \(attributes),News\n\(url)\n".utf8))
        return try #require(list.channels.first)
    }

    /// A channel whose live stream cannot be had.
    private static func channel(withArchiveAt url: String) throws -> ListedChannel {
        try channel("http://127.0.0.1:9/news.m3u8", archive: url)
    }

    private static var now: Int64 { WallClock.milliseconds / 1000 }

    private static let moments: [(when: String, age: Int64, duration: Int64, isThere: Bool)] = [
        ("an hour of yesterday", 86_400, 3600, true), ("its last hour", 3600, 3600, true),
        ("an hour that is not over", 1800, 3600, false), ("before the archive", 3 * 86_400, 3600, false),
        ("in the future", -3600, 60, false),
    ]

    @Test(arguments: moments.indices) func directoryHasTheRangesOfTheArchive(row: Int) throws {
        let (when, age, duration, isThere) = Self.moments[row]
        let directory = ChannelDirectory([try Self.channel("http://tv.example/news.m3u8")])
        let name = "news~\(Self.now - age)-\(duration)"
        let channel = directory[name]
        #expect((channel != nil) == isThere, "\(when)")
        guard let channel else { return }
        #expect(channel.slug == name && channel.sources.count == 1 && !channel.options.runsAlways)
        #expect(channel.sources.first?.url.hasSuffix("-\(duration)?token=secret") == true)
        #expect(directory["other~\(Self.now - age)-\(duration)"] == nil, "of no other channel")
    }

    /// A channel that nobody watches has no archive of its own, so the provider's is asked.
    @Test func rangeIsFetchedFromTheProvider() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([try Self.channel(withArchiveAt: origin.url)])
        let start = Self.now - 7200
        let name = "news~\(start)-3600"
        let answer = try scene.get("/news/archive-\(start)-3600.m3u8")
        #expect(answer.status == 200 && answer["Location"] == nil)
        let playlist = try MediaPlaylistParser.parse(answer.body)
        let segment = try #require(playlist.segments.first)
        #expect(segment.uri.hasPrefix("../\(name)/"), "URIs lead to the range: \(segment.uri)")
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("127.0.0.1"))
        #expect(try scene.get(String(segment.uri.dropFirst(2))).status == 200)
        #expect(scene.host.overview.channels.keys.contains(name) && scene.host.running("news") == nil)
        // One run for all clients of the range, in whatever form.
        #expect(try scene.get("/news/live.m3u8?playseek=\(start)-\(start + 3600)").status == 200)
        #expect(try scene.get("/news/ts/archive-\(start)-3600.m3u8").status == 200)
        #expect(scene.host.overview.startCount == 1)
        scene.clock.advance(by: .seconds(120))
        await scene.reaches("idle", name)
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// The clients of ranges of an hour that run, with 1 GB on the disk each; who asks for another; and what is free.
    private static let admissions:
        [(when: String, clients: [Int], client: Int, freeGigabytes: UInt64, isAdmitted: Bool)] = [
            ("nothing runs", [], 1, 5, true), ("the disk would be full", [], 1, 4, false),
            ("a client has four", [1, 1, 1, 1], 1, 100, false),
            ("another client has four", [1, 1, 1, 1], 2, 100, true),
            ("eight run", [1, 1, 1, 2, 2, 2, 3, 3], 4, 100, false),
            ("others still need the room", [1, 2], 3, 9, false), ("all have room", [1, 2], 3, 10, true),
        ]

    @Test(arguments: admissions.indices) func rangesAreAdmitted(row: Int) {
        let (when, clients, client, free, isAdmitted) = Self.admissions[row]
        var runs = ProviderRangeRuns()
        var running: [String: UInt64] = [:]
        func admit(_ name: String, _ client: Int, _ free: UInt64) -> Bool {
            runs.admit(
                name, for: ClientNetwork("192.0.2.\(client)"), running: running,
                space: FileSystemSpace(freeBytes: free * 1_000_000_000, byteCount: 1 << 41)) == nil
        }
        for (number, client) in clients.enumerated() {
            #expect(admit("news~\(number)-3600", client, 1000), "\(when)")
            running["news~\(number)-3600"] = 1_000_000_000
        }
        #expect(admit("news~100-3600", client, free) == isAdmitted, "\(when)")
        #expect(admit("news", client, 0), "a channel")
        if let name = running.keys.first { #expect(admit(name, client, 0), "one that runs") }
        running = [:]
        #expect(admit("news~100-3600", client, 100), "ranges that ended are forgotten")
    }

    @Test func rangesHaveALimit() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([try Self.channel(withArchiveAt: origin.url)])
        let start = Self.now - 7200
        for n in 0..<ProviderRangeRuns.limitPerClient {
            #expect(try scene.get("/news/archive-\(start - Int64(n))-60.m3u8").status == 200)
        }
        #expect(try scene.get("/news/archive-\(start - 100)-60.m3u8").status == 503)
        #expect(try scene.get("/news/archive-\(start)-60.m3u8").status == 200, "one that runs")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}
