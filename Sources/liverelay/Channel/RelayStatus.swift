import Foundation
import LiveRing
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
                self = upstream.trouble == nil ? .live : .late
            }
        }
    }

    struct Upstream: Encodable, Equatable, Sendable {
        /// Both as anybody may read them (`URIReference.shown`).
        var url: String
        var playlist: String?
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
        var seams = 0
        var staleLists = 0
        var resets = 0
        var failedLoads = 0
        var failedTries = 0
        /// Which source is published: 0 is the channel's own upstream, backups count from 1.
        var source = 0
        /// Opened beside it in an outage, and not yet seen to be alive.
        var sourceTried: Int?
        var sourceSwitches = 0
        /// The last step taken because nothing new is listed, or nothing of it can be published; nil while all is on time.
        var stall: String?
        /// In outages, in all.
        var secondsMissing = 0.0
        var fetches = Fetches()
    }

    struct Output: Encodable, Equatable, Sendable {
        var firstMediaSequence: UInt64?
        var lastMediaSequence: UInt64?
        var discontinuitySequence: UInt64?
        var segments = 0
        var rewindSeconds = 0.0
        var edge: String?
        var targetDuration: Int?
        var codecs: [String] = []
        var rewindDropsForFullDisk = 0
        /// The spool was removed or replaced under us: what was in it are gaps.
        var spoolReplacements = 0
        /// As long as the spool takes nothing.
        var notWriting: NotWriting?
        /// What went wrong last while old files were removed or a journal was shortened; nil when it went well since.
        var housekeepingFault: String?
        /// Segments listed as EXT-X-GAP, because nothing came or nothing could be written.
        var gaps = 0
        /// Segments of the slate, published because nothing came.
        var slateSegments = 0
    }

    /// Every segment is tried all the same.
    struct NotWriting: Encodable, Equatable, Sendable {
        var why: String
        /// Left out one after the other, up to now.
        var segments: Int
        var seconds = 0.0

        /// nil when there is none.
        init?(_ trouble: SpoolTrouble) {
            guard let error = trouble.error else { return nil }
            (why, segments) = (error.words, trouble.segments)
        }
    }

    struct Splice: Encodable, Equatable, Sendable {
        var runs = 0
        var currentRun: Run?
        /// Of the main rendition, when it is a transport stream.
        var programme: Programme?
        /// Of the audio rendition beside it.
        var audioProgramme: Programme?
        var sanitized = 0
        var segmentsSkipped = 0
        var segmentsNotPublished = 0
        var picturesBeforeSync = 0
        var segmentsWithoutSync = 0
        var picturesRefused = 0
        var leadingPictures = 0
        var picturesRepeated = 0
        var audioFramesRepeated = 0
        var stillPictures = 0
        var timesFilled = 0
        /// Where time lacks on the upstream's own clock, and nobody told: of pictures, or of sound alone.
        var holes = 0
        var secondsInHoles = 0.0
        var runsBeyondCompositionDelay = 0
        var audioFramesBridged = 0
        var audioFramesUndecodable = 0
        var audioFramesOverlapping = 0
        var audioFramesTrimmed = 0
        var audioFramesDiscarded = 0
        var audioFramesDamaged = 0
        var audioFramesUntimed = 0
        var audioFramesOfSilence = 0
        var audioDepartures = 0
        var demux = Demux()
    }

    /// Of the channel's WebVTT renditions together.
    struct Subtitles: Encodable, Equatable, Sendable {
        var renditions: [String] = []
        var segments = 0
        var segmentsSkipped = 0
        var segmentsUnreadable = 0
        var filesNotPublished = 0
        /// Published.
        var cues = 0
        /// Placed by date or number, not by X-TIMESTAMP-MAP.
        var cuesCorrected = 0
        var cuesLate = 0
        var cuesMalformed = 0
        var cuesWithoutPicture = 0
    }

    struct Run: Encodable, Equatable, Sendable {
        /// This and the next three are missing from a run of sound alone.
        var video: String?
        var audio: String?
        var width: Int?
        var height: Int?
        var frameRate: String?
    }

    /// What a transport stream lists, and what of it is followed.
    struct Programme: Encodable, Equatable, Sendable {
        struct Stream: Encodable, Equatable, Sendable {
            var pid: UInt16
            /// "0x1b".
            var streamType: String
            var name: String?
            var language: String?
            var isFollowed: Bool
        }

        var number: UInt16
        var otherProgrammes: [UInt16]
        var streams: [Stream]
    }

    struct Demux: Encodable, Equatable, Sendable {
        var bytesOutOfSync = 0
        var transportErrors = 0
        var duplicatePackets = 0
        var scrambledPackets = 0
        var badSections = 0
        var undecodable = 0
        var abandoned = 0
        var otherPackets = 0
        var incompleteSamples = 0
        var badBoxes = 0
        var excessMessages = 0
    }

    /// What the upstream's hosts are asked, and how they answer.
    struct Fetches: Encodable, Equatable, Sendable {
        /// A host that asked for fewer requests by 429 or 509.
        struct MeteredHost: Encodable, Equatable, Sendable {
            var host: String
            var answers: Int
            /// Until it is asked again, one thing at a time; 0 when it is.
            var secondsPaused: Double
        }

        var requests = 0
        /// By what was wrong: `http404`, `timedOut`, `shortBody`, …
        var faults: [String: Int] = [:]
        /// As asked for; absent without a limit.
        var maxConnections: Int?
        var meteredAnswers = 0
        var meteredHosts: [MeteredHost] = []
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
    var marks = Marks()
    /// Lines of the log that nobody took.
    var logLinesDropped = 0

    init(upstream: String) { self.upstream = Upstream(url: URIReference.shown(upstream)) }

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
    var isOutage: Bool { trouble.map { $0.step >= .outage } ?? false }
}

extension RelayStatus {
    mutating func note(_ status: UpstreamStatus, at now: Duration) {
        noteFetches(status, at: now)
        guard let main = status.renditions.first else { return }
        upstream.playlist = URIReference.shown(main.url)
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
        upstream.seams = all.reduce(0) { $0 + $1.counts.seams }
        upstream.staleLists = all.reduce(0) { $0 + $1.counts.staleLists }
        upstream.resets = all.reduce(0) { $0 + $1.counts.resets }
        upstream.failedLoads = all.reduce(0) { $0 + $1.counts.failedLoads }
        marks.cueLinesLate = main.counts.lateCueTags
        upstream.failedTries = all.reduce(status.failedResourceTries) { $0 + $1.counts.failedTries }
        upstream.stall = status.trouble.map { "\($0.step)" }
        guard let redundancy = status.redundancy else { return }
        upstream.source = redundancy.source
        upstream.sourceTried = redundancy.tried
        upstream.sourceSwitches = redundancy.switches
        upstream.secondsMissing = redundancy.missing.seconds
    }

    private mutating func noteFetches(_ status: UpstreamStatus, at now: Duration) {
        upstream.fetches = Fetches(
            requests: status.requests,
            faults: Dictionary(status.faults.map { ($0.key.name, $0.value) }, uniquingKeysWith: +),
            maxConnections: status.maxConnections, meteredAnswers: status.meteredAnswers,
            meteredHosts: status.meteredHosts.map { host in
                Fetches.MeteredHost(
                    host: host.name, answers: host.answers, secondsPaused: max(.zero, host.pauseEnd - now).seconds)
            })
    }

    mutating func note(_ counts: SpliceCounts, skipped: Int, notPublished: Int) {
        splice.runs = counts.runs
        splice.sanitized = counts.sanitized
        splice.segmentsSkipped = skipped
        splice.segmentsNotPublished = notPublished
        splice.picturesBeforeSync = counts.picturesBeforeSync
        splice.segmentsWithoutSync = counts.segmentsWithoutSync
        splice.picturesRefused = counts.picturesRefused
        splice.leadingPictures = counts.leadingPictures
        splice.picturesRepeated = counts.picturesRepeated
        splice.audioFramesRepeated = counts.audioRepeated
        splice.stillPictures = counts.stillPictures
        splice.timesFilled = counts.timesFilled
        splice.holes = counts.holes
        splice.secondsInHoles = Ticks(Int64(counts.ticksInHoles)).duration.seconds
        splice.runsBeyondCompositionDelay = counts.runsBeyondDelay
        splice.audioFramesBridged = counts.audioBridged
        splice.audioFramesUndecodable = counts.audioUndecodable
        splice.audioFramesOverlapping = counts.audioOverlapping
        splice.audioFramesTrimmed = counts.audioTrimmed
        splice.audioFramesDiscarded = counts.audioDiscarded
        splice.audioFramesDamaged = counts.audioDamaged
        splice.audioFramesUntimed = counts.audioUntimed
        splice.audioFramesOfSilence = counts.audioSilence
        splice.audioDepartures = counts.audioDepartures
        splice.demux = Demux(counts.demux)
    }

    mutating func note(_ line: SubtitleLine) {
        let counts = line.counts
        subtitles.segments = counts.segments
        subtitles.segmentsSkipped = line.skipped
        subtitles.segmentsUnreadable = counts.unreadable
        subtitles.filesNotPublished = line.notPublished
        subtitles.cues = counts.cues
        subtitles.cuesCorrected = counts.corrected
        subtitles.cuesLate = counts.late
        subtitles.cuesMalformed = counts.malformed
        subtitles.cuesWithoutPicture = counts.unplaced
    }

    mutating func note(_ run: RunDescription) {
        splice.currentRun = Run(
            video: run.picture?.codec, audio: run.audioCodec, width: run.picture?.width, height: run.picture?.height,
            frameRate: run.picture?.frameRate)
    }

    mutating func note(_ programme: ProgramSelection, of rendition: SourceRendition) {
        let noted = Programme(programme)
        if rendition == .main { splice.programme = noted } else { splice.audioProgramme = noted }
    }

    mutating func note(_ snapshot: RingSnapshot) {
        let index = snapshot.index
        output.firstMediaSequence = index.listed.first?.mediaSequence
        output.lastMediaSequence = snapshot.edge?.mediaSequence
        output.discontinuitySequence = snapshot.edge?.discontinuitySequence
        output.segments = index.listed.count
        output.rewindSeconds = Ticks(index.listedTicks).duration.seconds
        output.edge = snapshot.edge?.programDateTimeEnd.text
        output.targetDuration = index.targetDuration
        output.codecs = snapshot.masterInputs?.codecs ?? []
        output.rewindDropsForFullDisk = snapshot.rewindDrops
        output.spoolReplacements = snapshot.spoolReplacements
        output.housekeepingFault = snapshot.housekeepingError?.words
    }
}

extension RelayStatus.Programme {
    fileprivate init(_ programme: ProgramSelection) {
        number = programme.programNumber
        otherProgrammes = programme.otherPrograms
        streams = programme.listed.map { stream in
            Stream(
                pid: stream.pid, streamType: stream.typeText, name: stream.name, language: stream.language,
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
        undecodable = counts.undecodable
        abandoned = counts.abandoned
        otherPackets = counts.otherPackets
        incompleteSamples = counts.incompleteSamples
        badBoxes = counts.badBoxes
        excessMessages = counts.excessMessages
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
