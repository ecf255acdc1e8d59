import Fetch
import Playlist
import Testing

@testable import Media
@testable import Tracker

/// The variants that are followed beside the leading one.
struct VariantRenditionTests {
    private static let base = "http://origin.example/master.m3u8"

    private static func master(_ variants: [(name: String, height: Int, bandwidth: Int)]) throws -> MultivariantPlaylist
    {
        let lines = variants.flatMap { variant in
            [
                "#EXT-X-STREAM-INF:BANDWIDTH=\(variant.bandwidth),RESOLUTION=\(variant.height * 2)x\(variant.height)",
                "\(variant.name).m3u8",
            ]
        }
        return try MultivariantPlaylistParser.parse(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8))
    }

    private static func locator(_ ladder: LadderChoice) -> PlaylistLocator {
        PlaylistLocator(upstream: base, .init(variant: .highest, ladder: ladder))
    }

    private static func url(_ name: String) -> String { "http://origin.example/\(name).m3u8" }

    /// A later playlist has the nearest variants in the places of those of the first one.
    @Test func laterPlaylistKeepsThePlaces() throws {
        var locator = Self.locator(.all)
        let first = try locator.update(
            from: Self.master([("a", 1080, 5000), ("b", 720, 3000), ("c", 480, 1000)]), base: Self.base)
        #expect(first.main == Self.url("a") && first.furtherVideo == [Self.url("b"), Self.url("c")])
        let reordered = try locator.update(
            from: Self.master([("x", 360, 900), ("y", 1080, 5100), ("z", 540, 1500)]), base: Self.base)
        #expect(reordered.main == Self.url("y") && reordered.furtherVideo == [Self.url("z"), Self.url("x")])
        let fewer = try locator.update(from: Self.master([("y", 1080, 5100), ("z", 540, 1500)]), base: Self.base)
        #expect(fewer.furtherVideo == [nil, Self.url("z")])
    }

    @Test func ninthIsDroppedAndCounted() throws {
        let variants = (0..<12).map { (name: "v\($0)", height: 100 + $0, bandwidth: 100 - $0) }
        var locator = Self.locator(.all)
        let urls = try locator.update(from: Self.master(variants), base: Self.base)
        #expect(urls.main == Self.url("v0") && urls.furtherVideo == (1...8).map { Self.url("v\($0)") })
        #expect(locator.droppedVariants == 3)
    }
}
