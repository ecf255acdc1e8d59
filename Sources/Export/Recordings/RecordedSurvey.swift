package import Media

/// A first pass over a recording: its tracks, which configuration of each lasts longest, and where it can be cut.
package struct RecordedSurvey: Sendable {
    /// How long the samples of each configuration last.
    private struct Lengths<Configuration: Equatable & Sendable>: Sendable {
        private var lengths: [(configuration: Configuration, length: Int64)] = []

        mutating func add(_ configuration: Configuration, _ frames: [RecordedMedia.Frame]) {
            let length = frames.reduce(Int64(0)) { $0 + Int64($1.duration) }
            if let index = lengths.firstIndex(where: { $0.configuration == configuration }) {
                lengths[index].length += length
            } else {
                lengths.append((configuration, length))
            }
        }

        var longest: Configuration? { lengths.max { $0.length < $1.length }?.configuration }
    }

    /// The edges of a range that is to be cut, as far as they are known.
    private struct Edge: Sendable {
        let range: Range<Ticks>
        /// The first frame of the range, and the end of the last frame that is needed before the range.
        var first, keptEnd: Ticks?
        /// The last random access point in the range or at its end, and the first frame after the range.
        var entry, next: Ticks?
    }

    /// Frames are less than this before or after their place in the order of decoding.
    private static let reordering = Ticks.milliseconds(10_000)

    private var edges: [Edge]
    /// The ranges before it are passed.
    private var firstEdge = 0
    /// The end of the latest frame.
    private var end: Ticks?
    private var video = Lengths<VideoConfiguration>()
    /// The services of DVB subtitles that were announced.
    package var subtitleServices: [SubtitlingService] = []
    private var audio: [Int: (lengths: Lengths<AudioConfiguration>, track: AudioTrackIdentity?)] = [:]

    /// - Parameter ranges: to be cut, on the timeline of the recording, in order; none touches another.
    package init(cutting ranges: [Range<Ticks>] = []) { edges = ranges.map { Edge(range: $0) } }

    package mutating func read(_ part: RecordedMedia.Part) {
        if let configuration = part.videoConfiguration { video.add(configuration, part.video) }
        for track in part.audio {
            var known = audio[track.number] ?? (Lengths(), track.track)
            known.lengths.add(track.configuration, track.frames)
            audio[track.number] = known
        }
        for frame in part.video { read(frame) }
    }

    private mutating func read(_ frame: RecordedMedia.Frame) {
        let time = Ticks(frame.decodeTime + Int64(frame.compositionOffset))
        end = max(end ?? time, time + Ticks(Int64(frame.duration)))
        while firstEdge < edges.count, edges[firstEdge].range.upperBound + Self.reordering < time { firstEdge += 1 }
        let late = time + RecordedCuts.tolerance
        for index in firstEdge..<edges.count {
            guard edges[index].range.lowerBound < time + Self.reordering else { break }
            let range = edges[index].range
            if late < range.lowerBound {
                edges[index].keptEnd = end
            } else {
                edges[index].first = min(edges[index].first ?? time, time)
                if frame.isRandomAccessPoint, time <= range.upperBound + RecordedCuts.tolerance {
                    edges[index].entry = max(edges[index].entry ?? time, time)
                }
                if late >= range.upperBound { edges[index].next = min(edges[index].next ?? time, time) }
            }
        }
    }

    /// nil if there is no video.
    package var mainVideo: VideoConfiguration? { video.longest }

    /// The tracks of audio by their numbers.
    package var mainAudio: [Int: (configuration: AudioConfiguration, track: AudioTrackIdentity?)] {
        audio.compactMapValues { known in known.lengths.longest.map { ($0, known.track) } }
    }

    package var cuts: RecordedCuts {
        RecordedCuts(
            edges.compactMap { edge in
                let start = edge.keptEnd ?? edge.range.lowerBound
                let end = edge.next ?? edge.range.upperBound
                // Without a random access point nothing can be removed, and without a next frame everything can.
                let entry = edge.next == nil ? end : max(start, edge.entry ?? start)
                let hidden = min(edge.first ?? start, start)
                return hidden < end ? RecordedCuts.Cut(hidden: hidden..<max(end, entry), removed: start..<entry) : nil
            })
    }
}
