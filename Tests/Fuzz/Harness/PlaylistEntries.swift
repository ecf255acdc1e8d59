@testable import Playlist
@testable import Support

/// Entries for RFC 8216 playlists.
enum PlaylistEntries {
    static let all = [playlist, attributeList]

    private static let playlist = FuzzEntry(
        "playlist", "a media or multivariant playlist", largest: 8192, dictionary: words,
        seeds: { seeds in [everyTag, nothingListed] + seeds.playlists.filter { $0.count <= 8192 }.suffix(80) },
        run: { bytes in
            try checkLimits(of: bytes)
            let document: PlaylistDocument
            do throws(PlaylistError) {
                document = try PlaylistParser.parse(bytes, url: "http://a.example/b/c.m3u8?token=1")
            } catch { return }
            switch document {
            case .media(let playlist): try checkRoundTrip(playlist)
            case .multivariant(let playlist): try checkRoundTrip(playlist)
            }
        })

    private static let attributeList = FuzzEntry(
        "attributes", "the attribute list of a tag", largest: 1024, dictionary: ["=", "\"", ",", "0x", "@", "ID="],
        seeds: { seeds in
            seeds.playlists.flatMap { $0.split(separator: UInt8(ascii: "\n")) }.compactMap { line in
                line.firstIndex(of: UInt8(ascii: ":")).map { Array(line[($0 + 1)...]) }
            }.suffix(60)
        },
        run: { bytes in
            let attributes: AttributeList
            do throws(PlaylistError) {
                attributes = try AttributeList(parsing: String(decoding: bytes, as: UTF8.self), line: 1, tag: "EXT-X-A")
            } catch { return }
            let again = try parse(attributes.text)
            try demand(again == attributes, "\(attributes) was written as \(attributes.text), which parses as \(again)")
        })

    /// Checks that nothing exceeds limits of four, which the inputs reach.
    private static func checkLimits(of bytes: [UInt8]) throws {
        var limits = PlaylistLimits()
        for limit in PlaylistLimit.allCases where ![.lineBytes, .lines].contains(limit) { limits[limit] = 4 }
        limits.lineBytes = 200
        guard let playlist = try? MediaPlaylistParser.parse(bytes, limits: limits) else { return }
        let ranges = playlist.dateRanges + playlist.segments.flatMap(\.dateRanges) + playlist.trailingDateRanges
        let lines = playlist.unknownTags.count + playlist.segments.reduce(0) { $0 + $1.unknownTags.count }
        let isBounded =
            playlist.segments.count <= 4 && ranges.count <= 4 && lines <= 4
            && playlist.segments.allSatisfy { $0.keys.count <= 4 && $0.uri.utf8.count <= 600 }
        try demand(isBounded, "more than the limits permit is kept: \(playlist.dropped)")
    }

    private static func parse(_ text: String) throws -> AttributeList {
        do throws(PlaylistError) {
            return try AttributeList(parsing: text, line: 1, tag: "EXT-X-A")
        } catch {
            throw FuzzFinding(description: "written attributes cannot be parsed: \(text): \(error)")
        }
    }

    /// Checks that a written playlist parses to the same, except for decimals that are not written.
    private static func checkRoundTrip(_ playlist: MediaPlaylist) throws {
        let text = PlaylistWriter.write(playlist)
        let again: MediaPlaylist
        do throws(PlaylistError) { again = try MediaPlaylistParser.parse(Array(text.utf8)) } catch {
            throw FuzzFinding(description: "a written playlist cannot be parsed: \(error)\n\(text)")
        }
        try demand(again.segments.count == playlist.segments.count, "different segments are parsed from\n\(text)")
        let second = PlaylistWriter.write(again)
        let kept = playlist.unknownTags + playlist.segments.flatMap(\.unknownTags)
        // Without segments the end of the header is unknown, so lines may change their order.
        let isSame = playlist.segments.isEmpty ? lines(second) == lines(text) : second == text
        try demand(
            isSame || kept.contains(where: isStandard), "writing twice gives different text:\n\(text)\n\(second)")
        for segment in playlist.segments {
            let url = URIReference.resolve(segment.uri, against: "http://a.example/b/c.m3u8?token=1")
            try demand(
                URIReference.resolve(url, against: "http://b.example/") == url, "\(url) is not absolute")
        }
    }

    private static func checkRoundTrip(_ playlist: MultivariantPlaylist) throws {
        let text = PlaylistWriter.write(playlist)
        let again: MultivariantPlaylist
        do throws(PlaylistError) { again = try MultivariantPlaylistParser.parse(Array(text.utf8)) } catch {
            throw FuzzFinding(description: "a written playlist cannot be parsed: \(error)\n\(text)")
        }
        let second = PlaylistWriter.write(again)
        try demand(
            second == text,
            "writing twice gives different text:\n\(text)\n\(second)")
        for choice in [VariantChoice("max"), VariantChoice("min"), VariantChoice("720"), VariantChoice("2500000")] {
            let chosen = choice?.choose(from: playlist) ?? []
            try demand(chosen.isEmpty == playlist.variants.isEmpty, "\(playlist.variants.count) variants, none chosen")
        }
    }

    private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n").sorted() }

    /// Whether `line` is a standard tag, which is kept verbatim if it cannot be parsed. Its meaning depends on its position.
    private static func isStandard(_ line: String) -> Bool {
        var lines = PlaylistLines(Array(line.utf8))
        if case .tag = lines.next()?.content { return true }
        return false
    }

    static let words: [FuzzWord] =
        PlaylistTag.allCases.map { "#\($0.rawValue)" } + [
            "#EXT-X-CUE-OUT:30.5", "#EXT-X-CUE-OUT-CONT:", "#EXT-X-CUE-IN", "#EXT-OATCLS-SCTE35:", "#EXTM3U\n", "\r\n",
            "URI=\"", "METHOD=AES-128", "IV=0x", "BYTERANGE=\"", "18446744073709551615", "9223372036854775807", "1@0",
            "ID=\"", "START-DATE=\"2026-01-01T00:00:00Z\"", "DURATION=", "PLANNED-DURATION=", "{$", "NAME=\"",
            "VALUE=\"", "QUERYPARAM=\"token\"", "BANDWIDTH=", "RESOLUTION=1x1", "CODECS=\"", "TYPE=SUBTITLES",
        ]

    /// A playlist that ends before the first segment's URI.
    private static let nothingListed = Array(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#A\n#EXTINF:1,\n#EXT-X-DATERANGE:ID=\"a\"\n#B".utf8)

    /// Each tag once, with some attributes.
    private static let everyTag = Array(
        ("#EXTM3U\n" + PlaylistTag.allCases.map { "#\($0.rawValue):1,ID=\"a\",URI=\"b\"\n" }.joined() + "a\n").utf8)
}
