import Decrypt
import Playlist
import Splice
import Tracker

/// Whether a segment could be published, told by a splice that nobody sees.
struct MediaExamination {
    let reception: Reception

    init(of tracked: TrackedSegment) {
        var engine = SpliceEngine(
            SpliceEngine.Configuration(hasAudioRendition: false, longestSegment: Self.longestSegment, wallClock: 0))
        do throws(DecryptError) {
            let clear = try ClearSegment(tracked)
            reception = Self.reception(of: SegmentInput(tracked, clear, of: .main), in: &engine, tracked)
        } catch {
            reception = .refused(.undecryptable)
        }
    }

    private static func reception(
        of input: SegmentInput, in engine: inout SpliceEngine, _ tracked: TrackedSegment
    ) -> Reception {
        do throws(SpliceError) {
            if try !engine.handle(.segment(input)).isEmpty { return .published }
            return engine.isHolding ? .held : .refused(.withoutPicture)
        } catch {
            return .refused(MediaTrouble(error, of: tracked))
        }
    }

    /// Longer than any is; nothing of it is cut.
    private static let longestSegment = Ticks.milliseconds(3_600_000)
}

extension MediaTrouble {
    /// What decrypts to no media was encrypted with another key.
    init(_ error: SpliceError, of tracked: TrackedSegment) {
        let isWrongKey = !tracked.segment.keys.isEmpty && error.isOfContainer
        self = isWrongKey ? .undecryptable : .unreadable
    }
}

extension SegmentInput {
    init(_ tracked: TrackedSegment, _ clear: ClearSegment, of rendition: SourceRendition) {
        self.init(
            rendition: rendition, mediaSequence: tracked.segment.mediaSequence,
            discontinuitySequence: tracked.segment.discontinuitySequence,
            isDiscontinuous: tracked.segment.isDiscontinuous, isAfterSeam: tracked.isAfterSeam,
            programDateTime: tracked.segment.programDateTime?.millisecondsSince1970,
            initialization: clear.initialization, bytes: clear.bytes)
    }
}
