import Decrypt
import Media
import Playlist
import Splice
import Tracker

/// Whether a segment could be published, told by a splice that nobody sees.
struct MediaProbe {
    let outcome: DeliveryOutcome

    init(of tracked: TrackedSegment) {
        var engine = SpliceEngine(
            SpliceEngine.Configuration(hasAudioRendition: false, longestSegment: Self.longestSegment, wallClock: 0))
        do throws(DecryptError) {
            let clear = try DecryptedSegment(tracked)
            outcome = Self.outcome(of: SegmentInput(tracked, clear, of: .main), in: &engine, tracked)
        } catch {
            outcome = .refused(.undecryptable)
        }
    }

    private static func outcome(
        of input: SegmentInput, in engine: inout SpliceEngine, _ tracked: TrackedSegment
    ) -> DeliveryOutcome {
        do throws(MediaError) {
            if try !engine.handle(.segment(input)).isEmpty { return .published }
            return engine.isHolding ? .held : .refused(.noVideo)
        } catch {
            return .refused(UnpublishedReason(error, of: tracked))
        }
    }

    /// Longer than any is; nothing of it is cut.
    private static let longestSegment = Ticks.milliseconds(3_600_000)
}

extension UnpublishedReason {
    /// What decrypts to no media was encrypted with another key.
    init(_ error: MediaError, of tracked: TrackedSegment) {
        let isWrongKey = !tracked.segment.keys.isEmpty && error.isUnknownContainer
        self = isWrongKey ? .undecryptable : .unreadable
    }
}

extension SegmentInput {
    init(_ tracked: TrackedSegment, _ clear: DecryptedSegment, of rendition: InputRendition) {
        self.init(
            rendition: rendition, mediaSequence: tracked.segment.mediaSequence,
            discontinuitySequence: tracked.segment.discontinuitySequence,
            isDiscontinuous: tracked.segment.isDiscontinuous, isAfterDiscontinuity: tracked.isAfterDiscontinuity,
            programDateTime: tracked.segment.programDateTime?.millisecondsSince1970,
            initialization: clear.initialization, bytes: clear.bytes)
    }
}
