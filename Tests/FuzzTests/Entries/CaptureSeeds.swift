import Foundation
import Splice
import TestSupport

@testable import Demux

/// What the captures hold for seeds: nothing of them is committed twice.
package struct CaptureSeeds: Sendable {
    /// Playlists and subtitles, whole.
    let playlists: [[UInt8]]
    let subtitles: [[UInt8]]
    /// For each capture the smallest clear segment of each programme, in the order of their names.
    let segments: [[UInt8]]
    /// Init section and media segment, one behind the other.
    let movies: [[UInt8]]

    package init() throws {
        var texts: [(url: String, text: String)] = []
        var segments: [[UInt8]] = []
        var movies: [[UInt8]] = []
        for capture in try CaptureFixture.all() {
            texts += try Self.texts(of: capture)
            let names = try FileManager.default.contentsOfDirectory(atPath: capture.file("body").path).sorted()
            let bodies = try names.map { (name: $0, bytes: try capture.bytes("body/\($0)")) }
            movies += Self.movies(bodies)
            segments += Self.smallest(bodies.filter { !$0.name.hasSuffix(".mp4") })
        }
        playlists = texts.filter { $0.text.hasPrefix("#EXTM3U") }.map { Array($0.text.utf8) }
        subtitles = texts.filter { $0.text.hasPrefix("WEBVTT") }.map { Array($0.text.utf8) }
        self.segments = segments
        self.movies = movies
    }

    /// Those of one container.
    func segments(in container: SegmentContainer) -> [[UInt8]] {
        segments.filter { SegmentContainer.sniff($0) == container }
    }

    /// Answers that stand in the index, each once.
    private static func texts(of capture: CaptureFixture) throws -> [(url: String, text: String)] {
        struct Index: Decodable {
            struct Exchange: Decodable {
                let url: String
                let text: String?
            }
            let exchanges: [Exchange]
        }
        let data = try Data(contentsOf: capture.file("index.json"))
        var seen: Set<String> = []
        return try JSONDecoder().decode(Index.self, from: data).exchanges.compactMap { exchange in
            exchange.text.flatMap { seen.insert($0).inserted ? (exchange.url, $0) : nil }
        }
    }

    /// One of each `…-<programme>.<suffix>` or `<programme>-….<suffix>`.
    private static func smallest(_ bodies: [(name: String, bytes: [UInt8])]) -> [[UInt8]] {
        let kinds = Dictionary(grouping: bodies) { $0.name.filter { !$0.isNumber } }
        return kinds.sorted { $0.key < $1.key }.compactMap { kind in
            let clear = kind.value.map(\.bytes).filter { SegmentContainer.sniff($0) != nil }
            return clear.min { $0.count < $1.count }
        }
    }

    private static func movies(_ bodies: [(name: String, bytes: [UInt8])]) -> [[UInt8]] {
        bodies.filter { $0.name.hasPrefix("init-") }.compactMap { section in
            let programme = section.name.dropFirst("init-".count).dropLast(".mp4".count)
            let media = bodies.filter { $0.name.hasSuffix("-\(programme).m4s") }.map(\.bytes)
            return media.min { $0.count < $1.count }.map { section.bytes + $0 }
        }
    }
}
