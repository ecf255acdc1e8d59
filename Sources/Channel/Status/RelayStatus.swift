import Playlist
import Splice
package import Support
import Tracker

/// The content of `/status.json` for one channel. The names of its properties are the JSON keys; times are seconds.
///
/// Counts are held as the values in which they were counted, and encoded by these under their published names.
package struct RelayStatus: Encodable, Sendable {
    package enum State: String, Encodable, Sendable {
        case opening, live, late, outage, ended, failed

        /// Whether no other state follows.
        var isFinal: Bool { self == .ended || self == .failed }

        /// The state of a channel that is followed: live once anything was published, for as long as the upstream is on
        /// time.
        init(_ upstream: UpstreamStatus) {
            if upstream.isOutage {
                self = .outage
            } else if !upstream.hasPublished {
                self = .opening
            } else {
                self = upstream.stall == nil ? .live : .late
            }
        }
    }

    package internal(set) var state = State.opening
    /// nil while the state needs no explanation.
    package internal(set) var reason: StatusReason?
    /// Seconds since the state changed.
    package internal(set) var secondsInState = 0.0
    /// Seconds since the channel was started.
    package internal(set) var uptime = 0.0
    package internal(set) var upstream: Upstream
    package var output = Output()
    package internal(set) var splice = Splice()
    package internal(set) var subtitles = Subtitles()
    package var transportStream = TransportStream()
    package internal(set) var adMarkers = AdMarkers()
    package var clients = ClientCounts()
    /// Log lines that were dropped because the console did not accept them, or because there were too many at once.
    package var logLinesDropped = 0

    package init(upstream: String) { self.upstream = Upstream(url: URIReference.redacted(upstream)) }

    mutating func update(from status: UpstreamStatus, at now: Duration) {
        upstream.update(from: status, at: now)
        guard let main = status.renditions.first else { return }
        subtitles.renditions = status.subtitles.map(\.name)
        adMarkers.lateCueTags = main.counts.lateCueTags
    }

    /// - Parameter counts: the splice's counts over all sources of `pipeline`.
    mutating func update(from pipeline: ChannelPipeline, _ counts: SpliceCounts) {
        let publisher = pipeline.publisher
        splice.counts = counts
        splice.segmentsSkipped = pipeline.skippedSegments
        splice.segmentsNotWritten = publisher.unwrittenSegments
        subtitles.counts = publisher.subtitles.counts
        subtitles.undecryptableSegments = publisher.subtitles.undecryptableSegments
        subtitles.filesNotWritten = publisher.subtitles.unwrittenFiles
        adMarkers.counts = publisher.markerCounts
        adMarkers.timedMetadata = TimedMetadata(counts)
        transportStream.update(from: publisher.transportStream)
        output.gapSegments = publisher.gapSegments
        output.slateSegments = pipeline.outageFiller.slateSegments
        output.writeFailure = WriteFailure(publisher.spoolFailure)
    }
}

extension UpstreamStatus {
    /// Whether nothing has come for so long that the last escalation step before giving up was taken.
    var isOutage: Bool { stall.map { $0.step >= .outage } ?? false }
}
