import LiveRing
import Media
import Playlist
import Splice
import Support

extension RelayStatus {
    package struct Output: Encodable, Equatable, Sendable {
        package internal(set) var firstMediaSequence: UInt64?
        package internal(set) var lastMediaSequence: UInt64?
        package internal(set) var discontinuitySequence: UInt64?
        package internal(set) var segments = 0
        package internal(set) var rewindSeconds = 0.0
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
        lastMediaSequence = snapshot.edge?.mediaSequence
        discontinuitySequence = snapshot.edge?.discontinuitySequence
        segments = index.listed.count
        rewindSeconds = Ticks(index.listedTicks).duration.seconds
        liveEdge = snapshot.edge?.programDateTimeEnd.text
        targetDuration = index.targetDuration
        let attributes = snapshot.variantAttributes
        codecs = attributes?.codecs ?? []
        (bandwidth, averageBandwidth) = (attributes?.peakBitRate, attributes?.averageBitRate)
        rewindEvictionsForDiskFull = snapshot.rewindDrops
        spoolReplacements = snapshot.spoolReplacements
        cleanupError = snapshot.housekeepingError.map { .spool($0) }
    }
}
