import Testing

@testable import Playlist

/// The ranges of numbers, where they are read. `PlaylistNumber` holds them.
struct PlaylistNumberTests {
    /// Texts at the ends of types and of ranges.
    static let extremes = [
        "0", "1", "-1", "+1", "2147483647", "2147483648", "4294967296", "9999999999", "10000000000", "1000000000000",
        "1000000000001", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744069414584320",
        "18446744069414584321", "18446744073709551615", "18446744073709551616", "0.000000000000000001",
        "9999999999.999999999999999999", "1e400", "", "x",
    ]

    static let bandwidths: [(text: String, bitRate: Int, isRegular: Bool)] = [
        ("0", 0, true), ("2500000", 2_500_000, true), ("2500000.9", 2_500_000, false), ("2500000.", 2_500_000, false),
        ("1000000000000", 1_000_000_000_000, true), ("1000000000001", 0, false), ("9223372036854775807", 0, false),
        ("-9223372036854775808", 0, false), ("-1", 0, false), ("+1", 0, false), ("18446744073709551616", 0, false),
        ("1e6", 0, false), ("1.5.5", 0, false), ("", 0, false),
    ]

    @Test(arguments: bandwidths)
    func bandwidthOutOfRangeIsNone(text: String, bitRate: Int, isRegular: Bool) throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(text),AVERAGE-BANDWIDTH=\(text)\na\n"
        let playlist = try MultivariantPlaylistParser.parse(Array(master.utf8))
        #expect(playlist.variants[0].bandwidth == bitRate)
        #expect(playlist.variants[0].averageBandwidth == (bitRate > 0 || isRegular ? bitRate : nil))
        #expect(playlist.irregularities.isEmpty == isRegular)
    }

    static let resolutions: [(text: String, area: Int?)] = [
        ("1280x720", 921_600), ("1280X720", 921_600), ("65536x65536", 1 << 32), ("65537x1", nil), ("0x0", nil),
        ("-1x-1", nil), ("9223372036854775807x9223372036854775807", nil), ("1280", nil), ("1280x720x1", nil),
    ]

    @Test(arguments: resolutions)
    func resolutionOutOfRangeIsNone(text: String, area: Int?) {
        let variant = Variant(
            uri: "a", attributes: AttributeList([.init(name: "RESOLUTION", value: text, isQuoted: false)]))
        #expect(variant.resolution?.area == area)
    }

    @Test(arguments: [VariantChoice.highest, .lowest, .height(720), .bandwidth(1), .bandwidth(.max)])
    func everyChoiceAmongExtremesIsOneOfThem(choice: VariantChoice) throws {
        let master = Self.extremes.map { number in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(number),AVERAGE-BANDWIDTH=\(number),FRAME-RATE=\(number),"
                + "RESOLUTION=\(number)x\(number)\n\(number)/\n"
        }
        let playlist = try MultivariantPlaylistParser.parse(Array(("#EXTM3U\n" + master.joined()).utf8))
        let chosen = try #require(choice.choose(from: playlist).first)
        #expect(playlist.variants.contains(chosen))
    }

    static let targetDurations: [(head: String, seconds: Int64?)] = [
        ("#EXT-X-TARGETDURATION:36000", 36_000), ("#EXT-X-TARGETDURATION:36000.1", 36_000),
        ("#EXT-X-TARGETDURATION:36001", 36_000), ("#EXT-X-TARGETDURATION:9999999999", 36_000),
        ("#EXT-X-TARGETDURATION:9999999999.5", 36_000), ("#EXT-X-TARGETDURATION:10000000000", nil),
        ("#EXTINF:9999999999.5,\na", 36_000), ("#EXTINF:0.5,\na", 1),
    ]

    @Test(arguments: targetDurations)
    func targetDurationHasALongest(head: String, seconds: Int64?) {
        let playlist = try? MediaPlaylistParser.parse(Array("#EXTM3U\n\(head)\n".utf8))
        #expect(playlist?.targetDuration == seconds.map { .seconds($0) })
    }

    static let sequences: [(tag: String, text: String, isAccepted: Bool)] = [
        ("EXT-X-MEDIA-SEQUENCE", "9223372036854775808", true), ("EXT-X-MEDIA-SEQUENCE", "18446744069414584320", true),
        ("EXT-X-MEDIA-SEQUENCE", "18446744069414584321", false),
        ("EXT-X-DISCONTINUITY-SEQUENCE", "18446744069414584320", true),
        ("EXT-X-DISCONTINUITY-SEQUENCE", "18446744069414584321", false),
    ]

    /// Numbers count on from the largest accepted one: with all segments, those that are skipped, and all discontinuities.
    @Test(arguments: sequences)
    func numbersCountOnFromTheLargest(tag: String, text: String, isAccepted: Bool) throws {
        let head = "#EXTM3U\n#\(tag):\(text)\n#EXT-X-SKIP:SKIPPED-SEGMENTS=2147483647\n"
        let segments = String(repeating: "#EXT-X-DISCONTINUITY\n#EXTINF:6,\na\n", count: 100)
        let playlist = try? MediaPlaylistParser.parse(Array((head + segments).utf8))
        let last = try #require(playlist?.segments.last)
        let read = try #require(UInt64(text))
        #expect(playlist?.irregularities.isEmpty == isAccepted)
        let first = isAccepted ? read : 0
        let number = tag == "EXT-X-MEDIA-SEQUENCE" ? last.mediaSequence : last.discontinuitySequence
        #expect(number == first + (tag == "EXT-X-MEDIA-SEQUENCE" ? 2_147_483_647 + 99 : 100))
    }
}
