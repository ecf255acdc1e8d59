@testable import Support
import TestSupport

@testable import Playlist

/// Random playlists with every property that is read and written: a map never ends, and durations have five decimals.
extension SeededGenerator {
    mutating func mediaPlaylist() -> MediaPlaylist {
        var playlist = MediaPlaylist(
            targetDuration: .seconds(Int.random(in: 1...20, using: &self)),
            mediaSequence: .random(in: 0...1_000_000_000_000, using: &self))
        playlist.discontinuitySequence = perhaps { .random(in: 0...1000, using: &$0) }
        playlist.playlistType = perhaps { $0.once(in: 2) ? .vod : .event }
        playlist.hasEndList = once(in: 2)
        playlist.hasIndependentSegments = once(in: 2)
        playlist.dateRanges = some { $0.dateRange() }
        playlist.unknownTags = some { "#EXT-X-OURS:\($0.text())" }
        addSegments(to: &playlist)
        if !playlist.segments.isEmpty { playlist.trailingDateRanges = some { $0.dateRange() } }
        return playlist
    }

    private mutating func addSegments(to playlist: inout MediaPlaylist) {
        var discontinuities = playlist.discontinuitySequence ?? 0
        let first = playlist.mediaSequence
        for index in 0..<UInt64.random(in: 0...12, using: &self) {
            var segment = MediaSegment(uri: uri(), duration: duration(), mediaSequence: first + index)
            inherit(from: playlist.segments.last, into: &segment)
            segment.isDiscontinuous = once(in: 4)
            discontinuities += segment.isDiscontinuous ? 1 : 0
            segment.discontinuitySequence = discontinuities
            segment.byteRange = perhaps { $0.byteRange() }
            segment.programDateTime = perhaps { $0.date() }
            segment.isGap = once(in: 5)
            segment.unknownTags = some { $0.unknownTag() }
            segment.dateRanges = some { $0.dateRange() }
            playlist.segments.append(segment)
        }
    }

    private mutating func inherit(from previous: MediaSegment?, into segment: inout MediaSegment) {
        segment.keys = once(in: 3) ? keys() : previous?.keys ?? []
        segment.map = previous?.map
        if once(in: 4) {
            segment.map = MediaInitialization(uri: uri(), byteRange: perhaps { $0.byteRange() }, keys: keys())
        }
    }

    mutating func multivariantPlaylist() -> MultivariantPlaylist {
        var playlist = MultivariantPlaylist()
        playlist.hasIndependentSegments = once(in: 2)
        playlist.renditions = some { random in
            var rendition = Rendition(
                type: .audio, groupID: random.word(), name: random.text(), uri: random.perhaps { $0.uri() })
            rendition.language = random.perhaps { _ in "de" }
            rendition.isDefault = random.once(in: 2)
            return rendition
        }
        playlist.variants = some { $0.variant() }
        return playlist
    }

    private mutating func variant() -> Variant {
        var variant = Variant(uri: uri(), bandwidth: .random(in: 1...9_000_000, using: &self))
        variant.codecs = once(in: 2) ? ["avc1.64001f", "mp4a.40.2"] : []
        variant.resolution = perhaps { _ in .init(width: 1280, height: 720) }
        variant.frameRate = perhaps { _ in "29.970" }
        variant.audio = perhaps { $0.word() }
        return variant
    }
}

// Parts of playlists.
extension SeededGenerator {
    private mutating func some<Value>(_ make: (inout SeededGenerator) -> Value) -> [Value] {
        guard once(in: 3) else { return [] }
        let count = Int.random(in: 1...3, using: &self)
        var values: [Value] = []
        for _ in 0..<count { values.append(make(&self)) }
        return values
    }

    /// From 10 µs to 1000 s.
    private mutating func duration() -> Duration { .microseconds(10 * Int64.random(in: 1...100_000_000, using: &self)) }

    private mutating func word() -> String {
        var word = ""
        for _ in 0..<Int.random(in: 1...8, using: &self) { word += one(of: "abcXYZ019-_".map { String($0) }) }
        return word
    }

    private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &self) ?? "" }

    /// Commas, equals signs and letters beyond ASCII inside, no white space at its ends.
    private mutating func text() -> String { one(of: ["a", "x,y=1", "Grüße #1", "a  b", "日本", "1"]) }

    private mutating func uri() -> String {
        let path = one(of: ["", "../", "http://h:80/", "//c/"]) + word()
        return once(in: 2) ? path + "?t=" + word() + ",&x" : path
    }

    private mutating func byteRange() -> ByteRange {
        ByteRange(offset: .random(in: 0...1 << 40, using: &self), length: .random(in: 0...1 << 40, using: &self))
    }

    private mutating func date() -> ProgramDateTime {
        ProgramDateTime(millisecondsSince1970: .random(in: 0...4_000_000_000_000, using: &self))
    }

    /// At most one per KEYFORMAT, in any order.
    private mutating func keys() -> [SegmentKey] {
        let formats = [SegmentKey.identityFormat, "com.apple.streamingkeydelivery", "urn:x"].shuffled(using: &self)
        var keys: [SegmentKey] = []
        for format in formats.prefix(.random(in: 0...3, using: &self)) {
            let methods: [SegmentKey.Method] = [.aes128, .sampleAES, .other("SAMPLE-AES-CTR")]
            keys.append(
                SegmentKey(
                    method: methods.randomElement(using: &self) ?? .aes128, uri: word(),
                    initializationVector: perhaps { $0.initializationVector() }, keyFormat: format))
        }
        return keys
    }

    private mutating func initializationVector() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(.random(in: 0...255, using: &self)) }
        return bytes
    }

    private mutating func unknownTag() -> String {
        one(of: [
            "#EXT-X-CUE-OUT:30", "#EXT-X-CUE-IN", "#EXT-OATCLS-SCTE35:/DA=", "#EXT-X-OURS:1,2", "# by hand",
        ])
    }

    private mutating func attributes() -> AttributeList {
        AttributeList([
            .init(name: "URI", value: uri(), isQuoted: true), .init(name: "N", value: word(), isQuoted: false),
        ])
    }

    private mutating func dateRange() -> DateRange { DateRange(id: text(), attributes: attributes()) }
}
