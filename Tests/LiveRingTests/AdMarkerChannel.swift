import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A channel whose upstream segments of 6 s begin with the published segments.
struct AdMarkerChannel {
    var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
    /// Milliseconds from the upstream's dates to the published dates; nil if the upstream has none.
    var distance: Int64? = 0
    var tags: [Int: [String]] = [:]
    var cues: [Int: [String]] = [:]
    var splices: [Int: [String]] = [:]
    private var next = 0

    /// Publishes segment `next` with the lines that precede it in the upstream's playlist, however many they are.
    mutating func publish(_ lines: String..., splices: [PublishedSpliceCommand] = []) throws {
        let playlist = try MediaPlaylistParser.parse(
            Array("#EXTM3U\n#EXTINF:6,\n\(lines.joined(separator: "\n"))\na".utf8), limits: .none)
        try publish(playlist.segments[0], from: at(6 * Int64(next)), splices: splices)
    }

    private mutating func publish(
        _ segment: MediaSegment, from date: ProgramDateTime, splices: [PublishedSpliceCommand]
    ) throws {
        timeline.append(
            UpstreamAdMarkers(
                mediaSequence: UInt64(next), cueTags: segment.cueTags, dateRanges: segment.dateRanges,
                otherTags: segment.unknownTags.count - segment.cueTags.count))
        let placement = AdMarkerPlacement(
            mediaSequence: UInt64(next), date: date, upstreamDate: distance.map { date.advanced(byMilliseconds: -$0) })
        let markers = timeline.dequeueMarkers(
            for: AdMarkerTarget(date: date, placements: [placement], splices: splices))
        if !markers.dateRanges.isEmpty { tags[next] = markers.dateRanges.map(\.attributes.text) }
        if !markers.splices.isEmpty { self.splices[next] = markers.splices.map(\.text) }
        if !markers.cueTags.isEmpty { cues[next] = markers.cueTags.map(\.line) }
        next += 1
    }
}

/// The time `seconds` after noon as text.
func time(_ seconds: Int64) -> String { at(seconds).text }

let cueOut = "#EXT-X-CUE-OUT:30"
let cueID = "cue-1767355206000"

func splice(
    _ kind: PublishedSpliceCommand.Kind, event: UInt32? = 7, at seconds: Int64, lasting duration: Int64? = nil,
    _ section: UInt8 = 1
) -> PublishedSpliceCommand {
    PublishedSpliceCommand(
        kind, eventID: event, date: at(seconds), duration: duration.map { .seconds($0) }, section: [0xFC, section])
}
