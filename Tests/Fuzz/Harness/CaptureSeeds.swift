import Foundation
import TestSupport

@testable import Demux

/// Seeds from the captures, so that no seed is committed separately.
package struct CaptureSeeds: Sendable {
    /// Complete playlists and subtitle files.
    let playlists: [[UInt8]]
    let subtitles: [[UInt8]]
    /// The smallest unencrypted segment of each program in each capture, in order of names.
    let segments: [[UInt8]]
    /// Init sections followed by a media segment.
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

    /// Returns the segments in one container format.
    func segments(in container: SegmentContainer) -> [[UInt8]] {
        segments.filter { (try? LocatedMedia.find(in: $0))?.container == container }
    }

    /// Returns the distinct text responses in the index of a capture.
    private static func texts(of capture: CaptureFixture) throws -> [(url: String, text: String)] {
        struct Index: Decodable {
            struct Exchange: Decodable {
                /// nil for a demand, which stands in the place of a request.
                let url: String?
                let text: String?
            }
            let exchanges: [Exchange]
        }
        let data = try Data(contentsOf: capture.file("index.json"))
        var seen: Set<String> = []
        return try JSONDecoder().decode(Index.self, from: data).exchanges.compactMap { exchange in
            guard let url = exchange.url, let text = exchange.text else { return nil }
            return seen.insert(text).inserted ? (url, text) : nil
        }
    }

    /// Returns the smallest unencrypted body of each `…-<program>.<suffix>` or `<program>-….<suffix>`.
    private static func smallest(_ bodies: [(name: String, bytes: [UInt8])]) -> [[UInt8]] {
        let kinds = Dictionary(grouping: bodies) { $0.name.filter { !$0.isNumber } }
        return kinds.sorted { $0.key < $1.key }.compactMap { kind in
            let clear = kind.value.map(\.bytes).filter { (try? LocatedMedia.find(in: $0)) != nil }
            return clear.min { $0.count < $1.count }
        }
    }

    private static func movies(_ bodies: [(name: String, bytes: [UInt8])]) -> [[UInt8]] {
        bodies.filter { $0.name.hasPrefix("init-") }.compactMap { section in
            let program = section.name.dropFirst("init-".count).dropLast(".mp4".count)
            let media = bodies.filter { $0.name.hasSuffix("-\(program).m4s") }.map(\.bytes)
            return media.min { $0.count < $1.count }.map { section.bytes + $0 }
        }
    }
}
