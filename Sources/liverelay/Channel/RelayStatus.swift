import Demux
import Foundation
import LiveRing
import Media
import Playlist
import Splice
import Synchronization
import Tracker

/// What `/status.json` says of one channel. Times are seconds; nothing that was dropped is missing here.
struct RelayStatus: Encodable, Sendable {
    enum State: String, Encodable, Sendable {
        case opening, live, late, outage, ended, failed

        /// Nothing follows.
        var isFinal: Bool { self == .ended || self == .failed }

        /// Of a channel that is followed: live once something of it was published, for as long as it goes on in time.
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

    struct Upstream: Encodable, Equatable, Sendable {
        /// Both as anybody may read them (`URIReference.shown`).
        var url: String
        var playlistURL: String?
        var bandwidth: Int?
        var resolution: String?
        var audioRendition: String?
        var targetDuration: Double?
        /// Since a playlist last listed something new.
        var secondsSinceNewSegment: Double?
        var nextMediaSequence: UInt64?
        var segmentsInFlight = 0
        var segmentsDelivered = 0
        var segmentsLost: UInt64 = 0
        var discontinuities = 0
        var stalePlaylists = 0
        var sequenceResets = 0
        var failedPlaylistLoads = 0
        var failedAttempts = 0
        /// Which source is published: 0 is the channel's own upstream, backups count from 1.
        var activeSource = 0
        /// Opened beside it in an outage, and not yet seen to be alive.
        var candidateSource: Int?
        var failovers = 0
        /// The last step taken because nothing new is listed, or nothing of it can be published; nil while all is on time.
        var stallStep: String?
        /// In outages, in all.
        var outageSeconds = 0.0
        var requests = Requests()
    }

    struct Output: Encodable, Equatable, Sendable {
        var firstMediaSequence: UInt64?
        var lastMediaSequence: UInt64?
        var discontinuitySequence: UInt64?
        var segments = 0
        var rewindSeconds = 0.0
        var liveEdge: String?
        var targetDuration: Int?
        var codecs: [String] = []
        var rewindEvictionsForDiskFull = 0
        /// The spool was removed or replaced under us: what was in it are gaps.
        var spoolReplacements = 0
        /// As long as the spool takes nothing.
        var writeFailure: WriteFailure?
        /// What went wrong last while old files were removed or a journal was shortened; nil when it went well since.
        var cleanupError: String?
        /// Segments listed as EXT-X-GAP, because nothing came or nothing could be written.
        var gapSegments = 0
        /// Segments of the slate, published because nothing came.
        var slateSegments = 0
    }

    /// Every segment is tried all the same.
    struct WriteFailure: Encodable, Equatable, Sendable {
        var reason: String
        /// Left out one after the other, up to now.
        var segments: Int
        var seconds = 0.0

        /// nil when there is none.
        init?(_ trouble: SpoolFailure) {
            guard let error = trouble.error else { return nil }
            (reason, segments) = (error.words, trouble.segments)
        }
    }

    struct Splice: Encodable, Equatable, Sendable {
        var periods = 0
        var currentPeriod: Period?
        /// Of the main rendition, when it is a transport stream.
        var program: ProgramStatus?
        /// Of the audio rendition beside it.
        var companionProgram: ProgramStatus?
        var adjustedTimestamps = 0
        var segmentsSkipped = 0
        var segmentsNotWritten = 0
        var framesBeforeSync = 0
        var segmentsWithoutSync = 0
        var unsupportedFrames = 0
        var leadingPictures = 0
        var duplicateFrames = 0
        var duplicateAudioFrames = 0
        var stillFrames = 0
        var inferredTimestamps = 0
        /// Where time lacks on the upstream's own clock, and nobody told: of pictures, or of sound alone.
        var timestampGaps = 0
        var timestampGapSeconds = 0.0
        var periodsBeyondCompositionDelay = 0
        var transcodedAudioFrames = 0
        var undecodableAudioFrames = 0
        var overlappingAudioFrames = 0
        var trimmedAudioFrames = 0
        var unmatchedAudioFrames = 0
        var damagedAudioFrames = 0
        var untimedAudioFrames = 0
        var silentAudioFrames = 0
        var audioGapsAndOverlaps = 0
        var demux = Demux()
    }

    /// Of the channel's WebVTT renditions together.
    struct Subtitles: Encodable, Equatable, Sendable {
        var renditions: [String] = []
        var segments = 0
        var undecryptableSegments = 0
        var malformedSegments = 0
        var filesNotWritten = 0
        /// Published.
        var cues = 0
        /// Placed by date or number, not by X-TIMESTAMP-MAP.
        var retimedCues = 0
        var lateCues = 0
        var malformedCues = 0
        var unplacedCues = 0
    }

    struct Period: Encodable, Equatable, Sendable {
        /// This and the next three are missing from a run of sound alone.
        var video: String?
        var audio: String?
        var width: Int?
        var height: Int?
        var frameRate: String?
    }

    /// What a transport stream lists, and what of it is followed.
    struct ProgramStatus: Encodable, Equatable, Sendable {
        struct Stream: Encodable, Equatable, Sendable {
            var pid: UInt16
            /// "0x1b".
            var streamType: String
            var name: String?
            var language: String?
            var isFollowed: Bool
        }

        var number: UInt16
        var otherPrograms: [UInt16]
        var streams: [Stream]
    }

    struct Demux: Encodable, Equatable, Sendable {
        var bytesOutOfSync = 0
        var transportErrors = 0
        var duplicatePackets = 0
        var scrambledPackets = 0
        var badSections = 0
        var undecodableUnits = 0
        var abandonedUnits = 0
        var otherPackets = 0
        var incompleteSamples = 0
        var badBoxes = 0
        var excessEventMessages = 0
    }

    /// What the upstream's hosts are asked, and how they answer.
    struct Requests: Encodable, Equatable, Sendable {
        /// A host that asked for fewer requests by 429 or 509.
        struct ThrottledHost: Encodable, Equatable, Sendable {
            var host: String
            var responses: Int
            /// Until it is asked again, one thing at a time; 0 when it is.
            var pauseSeconds: Double
        }

        var total = 0
        /// By what was wrong: `http404`, `timedOut`, `shortBody`, …
        var errors: [String: Int] = [:]
        /// As asked for; absent without a limit.
        var maxConnections: Int?
        var throttledResponses = 0
        var throttledHosts: [ThrottledHost] = []
    }

    var state = State.opening
    /// Why the state is what it is, in words; nil while there is nothing to say.
    var reason: String?
    /// How long the state has been what it is.
    var secondsInState = 0.0
    var uptime = 0.0
    var upstream: Upstream
    var output = Output()
    var splice = Splice()
    var subtitles = Subtitles()
    var adMarkers = AdMarkers()
    /// Lines of the log that nobody took.
    var logLinesDropped = 0

    init(upstream: String) { self.upstream = Upstream(url: URIReference.redacted(upstream)) }

    /// As `/status.json`: sorted keys, so that two of them can be compared line by line.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Every field is a number, a text or an object of them: encoding cannot fail.
        guard let data = try? encoder.encode(self) else { return Array("{}".utf8) }
        return Array(data) + [UInt8(ascii: "\n")]
    }
}

extension UpstreamStatus {
    /// Nothing comes, for so long that the last step before giving up was taken.
    var isOutage: Bool { stall.map { $0.step >= .outage } ?? false }
}

extension RelayStatus {
    mutating func update(from status: UpstreamStatus, at now: Duration) {
        updateRequests(from: status, at: now)
        guard let main = status.renditions.first else { return }
        upstream.playlistURL = URIReference.redacted(main.url)
        upstream.bandwidth = status.variant?.bandwidth
        upstream.resolution = status.variant?.resolution.map { "\($0.width)x\($0.height)" }
        upstream.audioRendition = status.audio?.name
        subtitles.renditions = status.subtitles.map(\.name)
        upstream.targetDuration = main.targetDuration?.seconds
        upstream.secondsSinceNewSegment = main.grewAt.map { (now - $0).seconds }
        upstream.nextMediaSequence = main.nextMediaSequence
        let all = status.renditions
        upstream.segmentsInFlight = all.reduce(0) { $0 + $1.inFlight }
        upstream.segmentsDelivered = all.reduce(0) { $0 + $1.counts.delivered }
        upstream.segmentsLost = all.reduce(0) { $0 + $1.counts.lost }
        upstream.discontinuities = all.reduce(0) { $0 + $1.counts.discontinuities }
        upstream.stalePlaylists = all.reduce(0) { $0 + $1.counts.stalePlaylists }
        upstream.sequenceResets = all.reduce(0) { $0 + $1.counts.resets }
        upstream.failedPlaylistLoads = all.reduce(0) { $0 + $1.counts.failedLoads }
        adMarkers.lateCueTags = main.counts.lateCueTags
        upstream.failedAttempts = all.reduce(status.failedResourceTries) { $0 + $1.counts.failedTries }
        upstream.stallStep = status.stall.map { "\($0.step)" }
        guard let redundancy = status.failover else { return }
        upstream.activeSource = redundancy.source
        upstream.candidateSource = redundancy.trialSource
        upstream.failovers = redundancy.switches
        upstream.outageSeconds = redundancy.gapDuration.seconds
    }

    private mutating func updateRequests(from status: UpstreamStatus, at now: Duration) {
        upstream.requests = Requests(
            total: status.requests,
            errors: Dictionary(status.faults.map { ($0.key.name, $0.value) }, uniquingKeysWith: +),
            maxConnections: status.maxConnections, throttledResponses: status.meteredAnswers,
            throttledHosts: status.rateLimitedHosts.map { host in
                Requests.ThrottledHost(
                    host: host.name, responses: host.answers, pauseSeconds: max(.zero, host.pauseEnd - now).seconds)
            })
    }

    mutating func update(from counts: SpliceCounts, skipped: Int, unwritten: Int) {
        splice.periods = counts.periods
        splice.adjustedTimestamps = counts.timestampsSanitized
        splice.segmentsSkipped = skipped
        splice.segmentsNotWritten = unwritten
        splice.framesBeforeSync = counts.framesBeforeSync
        splice.segmentsWithoutSync = counts.segmentsWithoutSync
        splice.unsupportedFrames = counts.unsupportedFrames
        splice.leadingPictures = counts.leadingPictures
        splice.duplicateFrames = counts.duplicateFrames
        splice.duplicateAudioFrames = counts.duplicateAudioFrames
        splice.stillFrames = counts.stillFrames
        splice.inferredTimestamps = counts.inferredTimestamps
        splice.timestampGaps = counts.timestampGaps
        splice.timestampGapSeconds = Ticks(Int64(counts.timestampGapTicks)).duration.seconds
        splice.periodsBeyondCompositionDelay = counts.periodsBeyondCompositionDelay
        splice.transcodedAudioFrames = counts.audioTranscoded
        splice.undecodableAudioFrames = counts.audioUndecodable
        splice.overlappingAudioFrames = counts.audioOverlapping
        splice.trimmedAudioFrames = counts.audioTrimmed
        splice.unmatchedAudioFrames = counts.audioDiscarded
        splice.damagedAudioFrames = counts.audioDamaged
        splice.untimedAudioFrames = counts.audioUntimed
        splice.silentAudioFrames = counts.audioSilence
        splice.audioGapsAndOverlaps = counts.audioDriftCorrections
        splice.demux = Demux(counts.demux)
    }

    mutating func update(from line: SubtitlePipeline) {
        let counts = line.counts
        subtitles.segments = counts.segments
        subtitles.undecryptableSegments = line.undecryptableSegments
        subtitles.malformedSegments = counts.unreadable
        subtitles.filesNotWritten = line.unwrittenFiles
        subtitles.cues = counts.cues
        subtitles.retimedCues = counts.corrected
        subtitles.lateCues = counts.late
        subtitles.malformedCues = counts.malformed
        subtitles.unplacedCues = counts.unplaced
    }

    mutating func update(from run: PeriodDescription) {
        splice.currentPeriod = Period(
            video: run.video?.codec, audio: run.audioCodec, width: run.video?.width, height: run.video?.height,
            frameRate: run.video?.frameRate)
    }

    mutating func setProgram(_ programme: ProgramSelection, of rendition: InputRendition) {
        let noted = ProgramStatus(programme)
        if rendition == .main { splice.program = noted } else { splice.companionProgram = noted }
    }

    mutating func update(from snapshot: RingSnapshot) {
        let index = snapshot.index
        output.firstMediaSequence = index.listed.first?.mediaSequence
        output.lastMediaSequence = snapshot.edge?.mediaSequence
        output.discontinuitySequence = snapshot.edge?.discontinuitySequence
        output.segments = index.listed.count
        output.rewindSeconds = Ticks(index.listedTicks).duration.seconds
        output.liveEdge = snapshot.edge?.programDateTimeEnd.text
        output.targetDuration = index.targetDuration
        output.codecs = snapshot.variantAttributes?.codecs ?? []
        output.rewindEvictionsForDiskFull = snapshot.rewindDrops
        output.spoolReplacements = snapshot.spoolReplacements
        output.cleanupError = snapshot.housekeepingError?.words
    }
}

extension RelayStatus.ProgramStatus {
    fileprivate init(_ programme: ProgramSelection) {
        number = programme.programNumber
        otherPrograms = programme.otherPrograms
        streams = programme.listed.map { stream in
            Stream(
                pid: stream.pid, streamType: stream.hexStreamType, name: stream.name, language: stream.language,
                isFollowed: stream.isFollowed)
        }
    }
}

extension RelayStatus.Demux {
    fileprivate init(_ counts: DemuxCounts) {
        bytesOutOfSync = counts.bytesOutOfSync
        transportErrors = counts.transportErrors
        duplicatePackets = counts.duplicatePackets
        scrambledPackets = counts.scrambledPackets
        badSections = counts.badSections
        undecodableUnits = counts.undecodable
        abandonedUnits = counts.abandoned
        otherPackets = counts.otherPackets
        incompleteSamples = counts.incompleteSamples
        badBoxes = counts.badBoxes
        excessEventMessages = counts.excessMessages
    }
}

extension Duration {
    /// For a person or a graph; never for a decision.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return (Double(seconds) + Double(attoseconds) * 1e-18).rounded(toThousandths: ())
    }
}

extension Double {
    fileprivate func rounded(toThousandths: Void) -> Double { (self * 1000).rounded() / 1000 }
}
