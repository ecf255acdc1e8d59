import Media

/// The parts and segments that the variants beside the leading one adopted lately. A variant that begins on demand begins
/// with them, so that its playlist has as many segments as players want at the live edge.
struct LadderHistory: Sendable {
    enum Event: Sendable {
        case part(AudioVideoMatcher.VideoSpan, frameDuration: Ticks)
        case cut(FurtherVideoTrack.Cut)
    }

    /// The segments that are remembered: those of a live window, or of a minute if they are longer.
    private static let segmentLimit = 12

    private(set) var events: [Event] = []
    private var cuts = 0

    mutating func append(_ event: Event) {
        events.append(event)
        if case .cut = event { cuts += 1 }
        while cuts > Self.segmentLimit || events.count > Self.segmentLimit * 8 {
            if case .cut = events.removeFirst() { cuts -= 1 }
        }
    }

    mutating func removeFirst(_ count: Int = 1) {
        for event in events[..<count] { if case .cut = event { cuts -= 1 } }
        events.removeFirst(count)
    }

    var isEmpty: Bool { events.isEmpty }

    var hasCuts: Bool { cuts > 0 }

    func firstPart(where condition: (AudioVideoMatcher.VideoSpan) -> Bool) -> Int? {
        events.firstIndex { if case .part(let span, _) = $0 { condition(span) } else { false } }
    }

    /// Removes and returns the first segment if it ends before a time of its source, and in the period of the first part.
    mutating func dequeueCut(endingBefore end: Ticks?) -> FurtherVideoTrack.Cut? {
        for (index, event) in events.enumerated() {
            switch event {
            case .part(let span, _) where span.beginsPeriod: return nil
            case .part: continue
            case .cut(let cut):
                guard let end, cut.timeline.presentation(of: end) >= cut.end else { return nil }
                events.remove(at: index)
                cuts -= 1
                return cut
            }
        }
        return nil
    }
}

/// The part of an earlier segment in a track that began after it.
package struct LateVideo: Sendable {
    package let track: Int
    package let sequenceNumber: UInt32
    package let media: SplicedVideoTrack
}
