package import Playlist

/// What a master playlist says of everything that is listed (RFC 8216 §4.3.4.2).
package struct VariantAttributes: Equatable, Sendable {
    /// Every codec string in the list once, video before audio, in the order of their first appearance.
    package var codecs: [String]
    /// The largest picture.
    package var resolution: Variant.Resolution?
    /// The highest, as written by the publisher.
    package var frameRate: String?
    /// The widest: video of a narrower one may be mixed into it. Nil for SDR, which needs no words.
    package var videoRange: String?
    /// Bits per second of the largest stretch of 0.5 to 1.5 TARGETDURATIONs (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package var peakBitRate: Int
    package var averageBitRate: Int
    /// Every segment can be decoded without another.
    package var isIndependent: Bool

    /// nil without entries.
    init?(entries: ArraySlice<RingEntry>, targetDuration: Int) {
        let entries = entries.filter { !$0.isGap }
        guard !entries.isEmpty else { return nil }
        let formats = entries.map(\.format)
        codecs = Self.unique(formats.compactMap(\.videoCodec)) + Self.unique(formats.compactMap(\.audioCodec))
        resolution = formats.compactMap(\.resolution).max { $0.width * $0.height < $1.width * $1.height }
        frameRate = formats.compactMap(\.frameRate).max { Self.thousandths($0) < Self.thousandths($1) }
        let ranges = Set(formats.compactMap(\.videoRange))
        videoRange = ["PQ", "HLG"].first(where: ranges.contains)
        isIndependent = entries.allSatisfy(\.isIndependent)
        averageBitRate = Self.bitRate(
            bytes: entries.reduce(0) { $0 + $1.segment.byteCount }, ticks: entries.reduce(0) { $0 + $1.duration })
        peakBitRate = max(averageBitRate, Self.peak(of: entries, targetDuration: targetDuration))
    }

    /// - Parameters:
    ///   - uri: of the media playlist, relative to the master playlist.
    ///   - subtitles: renditions of the one group that there is.
    package func masterPlaylist(uri: String, subtitles: [Rendition] = []) -> MultivariantPlaylist {
        var variant = Variant(uri: uri, bandwidth: peakBitRate)
        variant.averageBandwidth = averageBitRate
        variant.codecs = codecs
        variant.resolution = resolution
        variant.frameRate = frameRate
        variant.videoRange = videoRange
        variant.subtitles = subtitles.first?.groupID
        var playlist = MultivariantPlaylist(variants: [variant], renditions: subtitles)
        playlist.hasIndependentSegments = isIndependent
        return playlist
    }

    /// A list shorter than half a TARGETDURATION has no such stretch; its own rate is the peak then.
    private static func peak(of entries: [RingEntry], targetDuration: Int) -> Int {
        let target = Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        var highest = 0
        for first in entries.indices {
            var (bytes, ticks) = (0, Int64(0))
            for entry in entries[first...] {
                bytes += entry.segment.byteCount
                ticks += entry.duration
                if ticks * 2 > target * 3 { break }
                if ticks * 2 >= target { highest = max(highest, bitRate(bytes: bytes, ticks: ticks)) }
            }
        }
        return highest
    }

    /// Bits per second, rounded up; there are media, and less than 2⁵⁸ bytes of them.
    private static func bitRate(bytes: Int, ticks: Int64) -> Int {
        let (high, low) = (UInt64(bytes) * 8).multipliedFullWidth(by: UInt64(PlaylistTicks.ticksPerSecond))
        guard high < UInt64(ticks) else { return .max }
        let (quotient, remainder) = UInt64(ticks).dividingFullWidth((high, low))
        return Int(clamping: quotient + (remainder > 0 ? 1 : 0))
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    /// "29.97" is 29970; 0 for what is not a number.
    private static func thousandths(_ text: String) -> Int {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = (parts.count == 2 ? String(parts[1]) : "") + "000"
        return (parts.first.flatMap { Int($0) } ?? 0) * 1000 + (Int(fraction.prefix(3)) ?? 0)
    }
}
