package import Playlist

/// The attributes of the variant in the master playlist, computed from all listed segments (RFC 8216 §4.3.4.2).
package struct VariantAttributes: Equatable, Sendable {
    /// Each codec of the listed segments once, video before audio, in the order of first appearance.
    package var codecs: [String]
    /// The largest frame size.
    package var resolution: Variant.Resolution?
    /// The highest frame rate, as written by the publisher.
    package var frameRate: String?
    /// The widest video range; nil for SDR, which is the default. Segments may have a narrower range.
    package var videoRange: String?
    /// The highest bits per second of 0.5 to 1.5 TARGETDURATIONs (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package var peakBitRate: Int
    package var averageBitRate: Int
    /// Whether every segment can be decoded without another.
    package var isIndependent: Bool

    /// nil without entries that have media.
    /// - Parameters:
    ///   - format: returns the format of a segment as listed.
    ///   - byteCount: returns the size of a segment as listed.
    init?(
        entries: ArraySlice<RingEntry>, targetDuration: Int, format: (RingEntry) -> SegmentFormat = \.format,
        byteCount: (RingEntry) -> Int = \.segment.byteCount
    ) {
        let entries = entries.filter { !$0.isGap }
        guard !entries.isEmpty else { return nil }
        let formats = entries.map(format)
        codecs = Self.unique(formats.compactMap(\.videoCodec)) + Self.unique(formats.compactMap(\.audioCodec))
        resolution = formats.compactMap(\.resolution).max { $0.width * $0.height < $1.width * $1.height }
        frameRate = formats.compactMap(\.frameRate).max { Self.thousandths($0) < Self.thousandths($1) }
        let ranges = Set(formats.compactMap(\.videoRange))
        videoRange = ["PQ", "HLG"].first(where: ranges.contains)
        isIndependent = entries.allSatisfy(\.isIndependent)
        let sizes = entries.map { (bytes: byteCount($0), ticks: $0.duration) }
        averageBitRate = Self.bitRate(
            bytes: sizes.reduce(0) { $0 + $1.bytes }, ticks: sizes.reduce(0) { $0 + $1.ticks })
        peakBitRate = max(averageBitRate, Self.peak(of: sizes, targetDuration: targetDuration))
    }

    /// A master playlist with one variant.
    /// - Parameters:
    ///   - uri: the URI of the media playlist, relative to the master playlist.
    ///   - subtitles: the subtitle renditions, which have one group.
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

    /// The highest bit rate of any 0.5 to 1.5 TARGETDURATIONs; 0 if the playlist is shorter than that.
    private static func peak(of entries: [(bytes: Int, ticks: Int64)], targetDuration: Int) -> Int {
        let target = Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        var highest = 0
        for first in entries.indices {
            var (bytes, ticks) = (0, Int64(0))
            for entry in entries[first...] {
                bytes += entry.bytes
                ticks += entry.ticks
                if ticks * 2 > target * 3 { break }
                if ticks * 2 >= target { highest = max(highest, bitRate(bytes: bytes, ticks: ticks)) }
            }
        }
        return highest
    }

    /// Bits per second, rounded up. `ticks` is positive, and `bytes` is less than 2⁵⁸.
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

    /// The thousandths of a decimal number: 29970 for "29.97"; 0 for text that is not a number.
    private static func thousandths(_ text: String) -> Int {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = (parts.count == 2 ? String(parts[1]) : "") + "000"
        return (parts.first.flatMap { Int($0) } ?? 0) * 1000 + (Int(fraction.prefix(3)) ?? 0)
    }
}
