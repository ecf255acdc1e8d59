import LiveRing
import Media
import Playlist
import Support

/// The playlist beside the transport stream of a recording, which plays it from its start while it grows: byte ranges of the
/// file, as an EVENT.
enum RecordingPlaylist {
    /// The version that EXT-X-BYTERANGE needs (RFC 8216 §7).
    private static let version = 4
    static let end = Array("#EXT-X-ENDLIST\n".utf8)

    /// The whole text for a new file: the playlist of what is in a recording.
    /// - Parameters:
    ///   - file: the name of the transport stream.
    ///   - targetDuration: of the channel, in seconds.
    ///   - written: as an earlier process left the playlist; nil: there is none. It says where discontinuities are.
    static func text(
        _ journal: RecordingJournal, of file: String, targetDuration: Int, after written: [UInt8]?
    ) -> [UInt8] {
        let known = written.flatMap { try? MediaPlaylistParser.parse($0, limits: .none) }
        var segments: [MediaSegment] = []
        var start = 0
        for recorded in journal.segments {
            var segment = segment(recorded, from: start, of: file, isDiscontinuous: false)
            if let known, known.segments.indices.contains(segments.count) {
                segment.isDiscontinuous = known.segments[segments.count].isDiscontinuous
            }
            segments.append(segment)
            start = recorded.end
        }
        // EXTINF rounds to the target duration at most (§4.3.3.1).
        let longest = segments.map { Int(($0.duration + .milliseconds(500)).components.seconds) }.max() ?? 1
        let seconds = max(targetDuration, longest, Int(known?.targetDuration.components.seconds ?? 1))
        var playlist = MediaPlaylist(targetDuration: .seconds(seconds), mediaSequence: 0, segments: segments)
        playlist.playlistType = .event
        let lines = segments.map { PlaylistWriter.entryLines(for: $0, previous: nil) }
        return Array((PlaylistWriter.head(of: playlist, version: version) + lines.joined()).utf8)
    }

    /// The lines of a segment that is appended.
    static func lines(
        _ segment: RecordedSegment, from start: Int, of file: String, isDiscontinuous: Bool
    ) -> [UInt8] {
        let segment = self.segment(segment, from: start, of: file, isDiscontinuous: isDiscontinuous)
        return Array(PlaylistWriter.entryLines(for: segment, previous: nil).utf8)
    }

    private static func segment(
        _ recorded: RecordedSegment, from start: Int, of file: String, isDiscontinuous: Bool
    ) -> MediaSegment {
        var segment = MediaSegment(
            uri: PercentEncoding.encode(file), duration: recorded.duration.duration)
        segment.byteRange = ByteRange(offset: UInt64(start), length: UInt64(recorded.end - start))
        segment.programDateTime = recorded.date
        segment.isDiscontinuous = isDiscontinuous
        return segment
    }
}
