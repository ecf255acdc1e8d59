import Decrypt
import Media
import Playlist
import Splice
import Tracker

/// A trial splice that finds out whether a segment could be published.
struct MediaProbe {
    /// Longer than any segment, so that none is cut.
    private static let longestSegment = Ticks.milliseconds(3_600_000)

    let outcome: DeliveryOutcome

    /// - Parameters:
    ///   - requiresVideo: whether media without video counts as unusable.
    ///   - isVariantTrial: whether another variant can be followed if the video is foreign.
    init(of tracked: TrackedSegment, requiresVideo: Bool = false, isVariantTrial: Bool = false) {
        var configuration = SpliceConfiguration(
            hasAudioRendition: false, longestSegment: Self.longestSegment, wallClock: 0)
        configuration.requiresVideo = requiresVideo
        var engine = SpliceEngine(configuration)
        do throws(DecryptError) {
            var input = try SegmentInput(decrypting: tracked, of: .main)
            input.isVariantTrial = isVariantTrial
            outcome = Self.outcome(of: input, in: &engine, tracked)
        } catch {
            outcome = error.reason == .canceled ? .held : .refused(.undecryptable)
        }
    }

    private static func outcome(
        of input: SegmentInput, in engine: inout SpliceEngine, _ tracked: TrackedSegment
    ) -> DeliveryOutcome {
        do throws(MediaError) {
            if try !engine.handle(.segment(input)).isEmpty { return .published }
            return engine.outcomeOfUnpublished
        } catch {
            if input.isVariantTrial, let codecs = error.foreignCodecs { return .refused(.foreignVideo(codecs)) }
            return error.reason == .canceled ? .held : .refused(UnpublishedReason(error, of: tracked))
        }
    }
}

extension SpliceEngine {
    /// The outcome of a segment of which nothing was published.
    var outcomeOfUnpublished: DeliveryOutcome {
        if awaitsTrack { return .awaitingTrack }
        return isHolding ? .held : .refused(awaitsRandomAccess ? .noRandomAccess : .noVideo)
    }
}

extension UnpublishedReason {
    /// `undecryptable` if an encrypted segment decrypts to no media: by all appearances it was encrypted with another key.
    init(_ error: MediaError, of tracked: TrackedSegment) {
        let isWrongKey = !tracked.segment.keys.isEmpty && error.isUnknownContainer
        self = isWrongKey ? .undecryptable : error.reason == .scrambled ? .scrambled : .unreadable
    }
}

extension MediaError {
    /// Whether the bytes were recognized as no media container.
    var isUnknownContainer: Bool { if case .unknownContainer = reason { true } else { false } }

    /// The codecs of media that can be read but not republished; nil for other errors.
    var foreignCodecs: [String]? {
        switch reason {
        case .noUsableVideo(let streams): streams
        case .noSupportedTrack(let entries): entries
        case .noSupportedStream(_, let names): names
        default: nil
        }
    }

    /// Whether the media is protected by more than AES-128: no later segment of it can be republished either.
    var isProtected: Bool {
        switch reason {
        case .sampleEncryption, .protectedTrack: true
        default: false
        }
    }
}
