package import Playlist

/// One segment of the ring: what a playlist says of it and what its files are.
package struct RingEntry: Equatable, Sendable {
    package var mediaSequence: UInt64
    /// RFC 8216 §6.2.1: a DISCONTINUITY before this very segment is counted in.
    package var discontinuitySequence: UInt64
    package var isDiscontinuous: Bool
    /// It can be decoded without any other segment.
    package var isIndependent: Bool
    package var initialization: SpoolFile
    package var segment: SpoolFile
    /// 90 kHz ticks, as written.
    package var duration: Int64
    package var programDateTime: ProgramDateTime
    package var resumePoint: ResumePoint
    package var format: SegmentFormat
    package var adMarkers: SegmentAdMarkers
    /// Its file was lost or cut short under us. Its number was seen by viewers and cannot be given again, so it
    /// stays listed under EXT-X-GAP (draft-pantos-hls-rfc8216bis §4.4.4.7).
    package var isGap: Bool
    /// The first media sequence number in the list that brought this entry. Read in order, these say when each
    /// older entry left the list.
    package var listedFrom: UInt64
    /// Bytes of the files that its subtitles have, of all renditions.
    var subtitleBytes: UInt64 = 0

    /// When its last sample ends.
    package var programDateTimeEnd: ProgramDateTime {
        ProgramDateTime(
            millisecondsSince1970: programDateTime.millisecondsSince1970 + PlaylistTicks.milliseconds(ticks: duration))
    }

    /// Bytes of its files in the spool, without the init section, which it shares.
    var storedBytes: UInt64 { (isGap ? 0 : UInt64(segment.byteCount)) + subtitleBytes }

    /// As a playlist shows it; the map and the date are on every value, the writer knows where they are needed.
    var mediaSegment: MediaSegment {
        var value = MediaSegment(
            uri: segment.name, duration: PlaylistTicks.duration(ticks: duration), mediaSequence: mediaSequence,
            discontinuitySequence: discontinuitySequence)
        value.isDiscontinuous = isDiscontinuous
        value.map = MediaInitialization(uri: initialization.name)
        value.programDateTime = programDateTime
        value.isGap = isGap
        value.unknownTags = adMarkers.cueTags.map(\.line)
        value.dateRanges = adMarkers.dateRanges
        return value
    }
}
