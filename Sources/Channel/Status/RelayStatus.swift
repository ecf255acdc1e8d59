package import LiveRing
import Media
import Playlist
package import Splice
package import Support
package import Tracker

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

    /// The name for people; nil for a channel of a list, whose list has it.
    package var name: String?
    package internal(set) var state = State.opening
    /// nil while the state needs no explanation.
    package internal(set) var reason: StatusReason?
    /// The failure of the run before this one; nil if this one has published, or nothing failed.
    package var lastFailure: Failure?
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
    /// nil if stills are switched off.
    package var stills: Stills?
    /// nil without a store.
    package var archiveStore: ArchiveStore?
    package var clients = ClientCounts()
    /// Log lines that were dropped because the console did not accept them, or because there were too many at once.
    package var logLinesDropped = 0

    package init(upstream: String) { self.upstream = Upstream(url: URIReference.redacted(upstream)) }

    mutating func update(from status: UpstreamStatus, at now: Duration) {
        upstream.update(from: status, at: now)
        guard let main = status.renditions.first else { return }
        adMarkers.lateCueTags = main.counts[.lateCueTags]
    }

    /// - Parameter counts: the splice's counts over all sources of `pipeline`.
    mutating func update(from pipeline: ChannelPipeline, _ counts: SpliceCounts) {
        let publisher = pipeline.publisher
        splice.counts = counts
        let tracks = pipeline.furtherAudioCounts.map { AudioTrack($0.track, $0.counts) }
        splice.audioTracks = tracks.isEmpty ? nil : tracks
        let variants = pipeline.furtherVideoCounts.enumerated().map { index, found in
            VariantTrack(
                found.track, found.counts, unwrittenSegments: publisher.unwrittenVideo[index] ?? 0)
        }
        splice.variants = variants.isEmpty ? nil : variants
        splice.segmentsSkipped = pipeline.skippedSegments
        splice.segmentsNotWritten = publisher.unwrittenSegments
        subtitles.tracks = publisher.subtitles.tracks.map(SubtitleTrack.init)
        subtitles.closedCaptions = publisher.ring.snapshot.captions.compactMap { $0.attributes["INSTREAM-ID"] }
        subtitles.undecryptableSegments = publisher.subtitles.undecryptableSegments
        subtitles.filesNotWritten = publisher.subtitles.unwrittenFiles
        subtitles.excessCaptions = publisher.subtitles.excessSources.count
        adMarkers.counts = publisher.markerCounts
        adMarkers.splice = counts
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

extension RelayStatus {
    package struct Failure: Encodable, Sendable {
        package let reason: FailureText
        package let secondsAgo: Double

        package init(reason: FailureText, secondsAgo: Double) { (self.reason, self.secondsAgo) = (reason, secondsAgo) }
    }

    package struct Output: Encodable, Equatable, Sendable {
        package internal(set) var firstMediaSequence: UInt64?
        package internal(set) var lastMediaSequence: UInt64?
        package internal(set) var discontinuitySequence: UInt64?
        package internal(set) var segments = 0
        /// The media that is listed.
        package internal(set) var rewindSeconds = 0.0
        /// The date of the oldest media that is listed.
        package internal(set) var rewindStart: String?
        /// The bytes of the spool, and how long the disk lasts; nil before the first segment.
        package internal(set) var storage: StorageUse?
        package internal(set) var liveEdge: String?
        /// Seconds since a segment was last published; nil before the first.
        package internal(set) var secondsSincePublish: Double?
        package internal(set) var targetDuration: Int?
        package internal(set) var codecs: [String] = []
        /// Bits per second of what is listed: the highest and the mean, as in the multivariant playlist.
        package internal(set) var bandwidth: Int?
        package internal(set) var averageBandwidth: Int?
        package internal(set) var rewindEvictionsForDiskFull = 0
        /// How often the spool's directory was removed or replaced; the segments that were in it are gaps.
        package internal(set) var spoolReplacements = 0
        /// nil while the spool accepts segments.
        package internal(set) var writeFailure: WriteFailure?
        /// The last error while removing old files or shortening a journal; nil since the last success.
        package internal(set) var cleanupError: StatusReason?
        /// Requests for parts of the rewind that were refused because too many were pending.
        package var rangesRefused = 0
        /// Segments listed as EXT-X-GAP, because media is missing or could not be written.
        package internal(set) var gapSegments = 0
        /// Segments of the slate, published because media is missing.
        package internal(set) var slateSegments = 0
        /// Rules that the output breaks, if it is checked.
        package internal(set) var brokenRules: [BrokenRule] = []
    }

    /// Answers to requests for stills.
    package struct Stills: Encodable, Equatable, Sendable {
        /// Stills and sheets that were decoded.
        package var made = 0
        /// Stills that were there already.
        package var cached = 0
        /// Requests that were refused because too many were pending.
        package var refused = 0
        /// Stills whose segment could not be read or decoded.
        package var failed = 0

        package init() {}
    }

    package struct ArchiveStore: Encodable, Equatable, Sendable {
        package var segments = 0
        package var bytes: UInt64 = 0
        /// Segments that the store does not have yet.
        package var pendingSegments = 0
        /// Segments whose files left the spool before the store took them.
        package var lostSegments = 0
        /// Requests that write, that list, that read, and that remove.
        package var puts = 0
        package var lists = 0
        package var gets = 0
        package var deletes = 0
        package var failures = 0
        /// Objects that were read and are not used, because they have other bytes than their names say.
        package var damaged = 0
        /// Hours that are older than the archive and wait for the next sweep.
        package var expiredHours = 0
        /// Why the store takes nothing; nil while it does.
        package var error: FailureText?

        package init() {}
    }

    /// A spool that refuses segments. Each new segment is tried all the same.
    package struct WriteFailure: Encodable, Equatable, Sendable {
        package internal(set) var reason: StatusReason
        /// Segments that were refused in a row.
        package internal(set) var segments: Int
        package internal(set) var seconds = 0.0

        /// - Returns: nil if the spool accepts segments.
        init?(_ failure: SpoolFailure) {
            guard let error = failure.error else { return nil }
            (reason, segments) = (.spool(error), failure.segments)
        }
    }
}

extension RelayStatus.Output {
    mutating func update(from snapshot: RingSnapshot) {
        let index = snapshot.index
        firstMediaSequence = index.listed.first?.mediaSequence
        lastMediaSequence = snapshot.newest?.mediaSequence
        discontinuitySequence = snapshot.newest?.discontinuitySequence
        segments = index.listed.count
        rewindSeconds = Ticks(index.listedTicks).duration.seconds
        rewindStart = snapshot.dates?.first.text
        storage = snapshot.hasSegments ? snapshot.storage : nil
        liveEdge = snapshot.newest?.programDateTimeEnd.text
        targetDuration = index.targetDuration
        let attributes = index.variantAttributes
        codecs = attributes?.codecs ?? []
        (bandwidth, averageBandwidth) = (attributes?.peakBitRate, attributes?.averageBitRate)
        rewindEvictionsForDiskFull = snapshot.rewindDrops
        spoolReplacements = snapshot.spoolReplacements
        cleanupError = snapshot.housekeepingError.map { .spool($0) }
    }
}

extension RelayStatus {
    /// The counts of all WebVTT renditions of the channel.
    package struct Subtitles: Encodable, Equatable, Sendable {
        package internal(set) var tracks: [SubtitleTrack] = []
        /// The INSTREAM-IDs of the closed captions that the master playlist declares.
        package internal(set) var closedCaptions: [String] = []
        package internal(set) var undecryptableSegments = 0
        package internal(set) var filesNotWritten = 0
        /// Captions and teletext pages without a rendition, because there are too many.
        package internal(set) var excessCaptions = 0

        /// The sum over all renditions.
        package var counts: Counts<SubtitleCount> { tracks.reduce(into: Counts()) { $0 += $1.counts } }

        private enum CodingKeys: String, CodingKey {
            case tracks, closedCaptions, undecryptableSegments, filesNotWritten, excessCaptions
        }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(tracks, forKey: .tracks)
            try container.encode(closedCaptions, forKey: .closedCaptions)
            try container.encode(undecryptableSegments, forKey: .undecryptableSegments)
            try container.encode(filesNotWritten, forKey: .filesNotWritten)
            try container.encode(excessCaptions, forKey: .excessCaptions)
        }
    }

    package struct SubtitleTrack: Encodable, Equatable, Sendable {
        /// The number of its playlist, `subs-<number>.m3u8`.
        package let number: Int
        package let name: String
        /// BCP 47.
        package let language: String?
        /// The captions or the teletext page that it is made of; nil if it is the upstream's.
        package let source: String?
        package let counts: Counts<SubtitleCount>

        init(_ track: SubtitleRendition, _ counts: Counts<SubtitleCount>) {
            number = track.number
            name = track.rendition.name
            language = track.rendition.language
            source = track.source
            self.counts = counts
        }
    }

    /// The counts of ad markers and of timed metadata.
    package struct AdMarkers: Encodable, Equatable, Sendable {
        package internal(set) var counts = Counts<AdMarkerCount>()
        /// The counts of the splice, of which those of dates and of timed metadata are published here.
        package internal(set) var splice = SpliceCounts()
        /// Cue tags that a playlist added to segments which had been fetched already.
        package internal(set) var lateCueTags = 0

        private enum CodingKeys: String, CodingKey { case lateCueTags }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            try splice.encodeMetadata(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(lateCueTags, forKey: .lateCueTags)
        }
    }
}

extension Duration {
    /// The duration in seconds, rounded to milliseconds; for people and graphs, never for a decision.
    package var seconds: Double { (inSeconds * 1000).rounded() / 1000 }
}

/// The reason of a channel's state or of a spool's failure, as a typed value.
///
/// Its text is made by the function that the encoder's `userInfo` holds under `textKey`: this module makes no text for
/// operators. Without such a function only the name of the case is encoded.
package enum StatusReason: Encodable, Equatable, Sendable {
    /// `at` is the session time of the status.
    case stalled(UpstreamStatus.Stall, at: Duration)
    case failed(ChannelError)
    case spool(RingError)

    /// A function from a reason to its text.
    package struct Text: Sendable {
        package let text: @Sendable (StatusReason) -> String

        package init(_ text: @escaping @Sendable (StatusReason) -> String) { self.text = text }
    }

    package static let textKey = CodingUserInfoKey(rawValue: "liverelay.StatusReason.text")

    package func encode(to encoder: any Encoder) throws {
        let text = Self.textKey.flatMap { encoder.userInfo[$0] as? Text }
        var container = encoder.singleValueContainer()
        try container.encode(text?.text(self) ?? name)
    }

    private var name: String {
        switch self {
        case .stalled: "stalled"
        case .failed: "failed"
        case .spool: "spool"
        }
    }
}
