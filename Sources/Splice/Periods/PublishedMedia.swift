import Demux
import Media
import Support

/// Key frames and end times of lately published media, for recognizing duplicates.
package struct PublishedMedia: Sendable {
    /// Bytes of a key frame that are compared, besides its size: parameter sets, headers and much of the frame.
    private static let comparedByteCount = 4096
    /// The longest segment assumed of an earlier process. A key frame later than that is on another clock.
    private static let longestSegment = Ticks.seconds(60)
    /// Number of key frames kept: some minutes.
    package static let maxKeyFrames = 128

    /// Spans in the order of publication, the newest last; never empty. Each but the last has a key frame.
    private var mediaSpans = [MediaSpan()]
    /// Number of spans evicted. The number of a span is the count of spans before it.
    private var evictedCount = 0
    /// The segment in which an earlier process stopped, until later media is published; nil if it is not known.
    private(set) var lastSegment: UpstreamSegment?

    /// End of a span: decode time of its newest video frame and presentation time of its newest audio frame, as 33-bit
    /// values.
    struct SpanEnd: Equatable, Sendable {
        var video: Ticks?
        var audio: Ticks?
    }

    /// The place of a key frame in what was published.
    struct Position: Comparable, Sendable {
        /// The count of spans before its span, evicted ones included.
        let span: Int
        /// The count of key frames before it in its span, evicted ones included.
        let keyFrame: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.span, left.keyFrame) < (right.span, right.keyFrame)
        }
    }

    /// Media published on one clock without a break.
    private struct MediaSpan: Sendable {
        var keyFrames: [KeyFrame] = []
        /// Key frames removed from the front.
        var evictedCount = 0
        var end = SpanEnd()

        /// The time from a key frame of the span to its end.
        func duration(from keyFrame: KeyFrame) -> Ticks {
            guard let last = end.video else { return .zero }
            return max(.zero, Ticks(wire: last, near: keyFrame.time) - keyFrame.time)
        }

        /// Whether a frame with decode time `time` continues the span.
        func isContinued(by time: Ticks) -> Bool {
            guard let last = end.video else { return true }
            let step = Ticks(wire: time, near: last) - last
            return step > .zero && step <= DiscontinuityDetector.longestGap
        }
    }

    init() {}

    /// Restores what an earlier process published, oldest first.
    /// - Parameter lastSegment: the segment in which that process stopped.
    package init(_ frames: [PublishedFrames], until lastSegment: UpstreamSegment? = nil) {
        self.lastSegment = lastSegment
        for segment in frames {
            // Only the last key frame of each segment was stored.
            if let key = segment.keyFrame?.time, let last = end.video {
                let step = Ticks(wire: key, near: last) - last
                if step < .zero || step > Self.longestSegment { beginSpan() }
            }
            if let keyFrame = segment.keyFrame { mediaSpans[mediaSpans.endIndex - 1].keyFrames.append(keyFrame) }
            mediaSpans[mediaSpans.endIndex - 1].end.video = segment.last
        }
        evict()
    }

    var end: SpanEnd { mediaSpans.last?.end ?? SpanEnd() }

    /// Begins a span: the next frames do not continue the last one.
    mutating func beginSpan() {
        if mediaSpans.last?.keyFrames.isEmpty ?? false { mediaSpans.removeLast() }
        mediaSpans.append(MediaSpan())
    }

    /// Returns ranges of `frames` that are on one clock without a break.
    static func spanRanges(of frames: [VideoPacket]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (start, span) = (0, MediaSpan())
        for (index, frame) in frames.enumerated() {
            guard let time = frame.decodeTime else { continue }
            if !span.isContinued(by: time) {
                ranges.append(start..<index)
                start = index
            }
            span.end.video = time
        }
        return start < frames.count ? ranges + [start..<frames.count] : ranges
    }

    /// Returns for each span the last key frame that is also in `packets`, oldest first.
    /// - Parameter isIncluded: which key frames are compared, by their position.
    func positions(
        of packets: ArraySlice<VideoPacket>, where isIncluded: (Position) -> Bool
    ) -> [Position] {
        let keyFrames = packets.compactMap(KeyFrame.init)
        guard !keyFrames.isEmpty else { return [] }
        return mediaSpans.enumerated().compactMap { offset, span in
            StepCounter.add(1 + span.keyFrames.count)
            let index = span.keyFrames.indices.last {
                keyFrames.contains(span.keyFrames[$0])
                    && isIncluded(Position(span: offset + evictedCount, keyFrame: $0 + span.evictedCount))
            }
            return index.map { Position(span: offset + evictedCount, keyFrame: $0 + span.evictedCount) }
        }
    }

    /// Returns the oldest key frame that was published at most `duration` before the end; nil if there is none.
    func oldest(within duration: Ticks) -> Position? {
        var later = Ticks.zero
        var oldest: Position?
        for (offset, span) in mediaSpans.enumerated().reversed() {
            StepCounter.add(1 + span.keyFrames.count)
            guard let first = span.keyFrames.firstIndex(where: { later + span.duration(from: $0) <= duration }) else {
                return oldest
            }
            oldest = Position(span: offset + evictedCount, keyFrame: first + span.evictedCount)
            guard first == 0 else { return oldest }
            later = later + span.duration(from: span.keyFrames[0])
        }
        return oldest
    }

    func end(of span: Int) -> SpanEnd? {
        mediaSpans.indices.contains(span - evictedCount) ? mediaSpans[span - evictedCount].end : nil
    }

    /// The newest key frame's place, or that of the next one in a span that has none.
    var newest: Position {
        let (index, span) = (mediaSpans.endIndex - 1, mediaSpans[mediaSpans.endIndex - 1])
        return Position(span: index + evictedCount, keyFrame: span.evictedCount + max(0, span.keyFrames.count - 1))
    }

    func isLast(_ span: Int) -> Bool { span - evictedCount == mediaSpans.endIndex - 1 }

    mutating func append(_ packets: DemuxedSegment) {
        if !packets.video.isEmpty { lastSegment = nil }
        for packet in packets.video {
            if let time = packet.decodeTime {
                if !(mediaSpans.last?.isContinued(by: time) ?? false) { beginSpan() }
                mediaSpans[mediaSpans.endIndex - 1].end.video = time
            }
            if let keyFrame = KeyFrame(packet) { mediaSpans[mediaSpans.endIndex - 1].keyFrames.append(keyFrame) }
        }
        if let last = packets.audio.last(where: { $0.pts != nil }) {
            mediaSpans[mediaSpans.endIndex - 1].end.audio = last.pts
        }
        evict()
    }

    private mutating func evict() {
        var excess = mediaSpans.reduce(0) { $0 + $1.keyFrames.count } - Self.maxKeyFrames
        guard excess > Self.maxKeyFrames else { return }
        var emptied = 0
        while excess > 0 {
            let count = min(excess, mediaSpans[emptied].keyFrames.count)
            StepCounter.add(1 + mediaSpans[emptied].keyFrames.count)
            mediaSpans[emptied].keyFrames.removeFirst(count)
            mediaSpans[emptied].evictedCount += count
            excess -= count
            if mediaSpans[emptied].keyFrames.isEmpty, emptied + 1 < mediaSpans.count { emptied += 1 }
        }
        StepCounter.add(mediaSpans.count)
        mediaSpans.removeFirst(emptied)
        evictedCount += emptied
    }

    /// A random access point, identified by its time and its bytes.
    struct KeyFrame: Equatable, Sendable {
        let time: Ticks
        let byteCount: Int
        let beginning: UInt64

        init?(_ packet: VideoPacket) {
            guard packet.randomAccess != nil, let time = packet.pts else { return nil }
            self.time = time
            byteCount = packet.payload.count
            beginning = ContentHash.digest(of: packet.payload.prefix(PublishedMedia.comparedByteCount))
        }
    }
}

extension VideoPacket {
    var decodeTime: Ticks? { dts ?? pts }
}

/// A segment of an upstream, whichever variant has its media.
package struct UpstreamSegment: Equatable, Sendable {
    /// Two packagers round a date differently.
    private static let dateTolerance: Int64 = 500

    let mediaSequence: UInt64
    /// EXT-X-PROGRAM-DATE-TIME, in milliseconds since 1970; nil if there is none.
    let date: Int64?

    package init(mediaSequence: UInt64, date: Int64?) { (self.mediaSequence, self.date) = (mediaSequence, date) }

    /// Whether both are one segment: by their dates, or else by their numbers.
    func isSame(as other: UpstreamSegment) -> Bool {
        guard let date, let otherDate = other.date else { return mediaSequence == other.mediaSequence }
        return date.distance(to: otherDate).magnitude <= Self.dateTolerance.magnitude
    }
}

/// Identification of an output segment's video frames, sufficient to find them again after a restart.
package struct PublishedFrames: Equatable, Sendable {
    let keyFrame: PublishedMedia.KeyFrame?
    /// Decode time of the last frame, 33 bits.
    let last: Ticks

    /// - Returns: nil if the frames have no times.
    init?(_ units: [TimedVideo]) {
        guard let last = units.lazy.reversed().compactMap(\.packet.decodeTime).first else { return nil }
        keyFrame =
            units.lazy.reversed().filter { !$0.isRepeated }.compactMap { PublishedMedia.KeyFrame($0.packet) }.first
        self.last = last
    }
}

/// Text form in the journal: numbers separated by slashes, beginning with the time of the last frame.
extension PublishedFrames {
    package var text: String {
        let fields = keyFrame.map { [String($0.time.count), String($0.byteCount), String($0.beginning)] } ?? []
        return ([String(last.count)] + fields).joined(separator: "/")
    }

    package init?(text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = fields.first.flatMap({ Ticks(wireText: $0) }), fields.count == 1 || fields.count == 4 else {
            return nil
        }
        self.last = last
        guard fields.count == 4 else {
            keyFrame = nil
            return
        }
        guard let keyFrame = PublishedMedia.KeyFrame(fields.dropFirst()) else { return nil }
        self.keyFrame = keyFrame
    }
}

extension PublishedMedia.KeyFrame {
    fileprivate init?(_ fields: ArraySlice<Substring>) {
        guard let time = Ticks(wireText: fields[fields.startIndex]), let byteCount = Int(fields[fields.startIndex + 1]),
            let beginning = UInt64(fields[fields.startIndex + 2])
        else { return nil }
        (self.time, self.byteCount, self.beginning) = (time, byteCount, beginning)
    }
}

extension Ticks {
    /// Reads a wire time, 0 ..< 2³³; nil for other text.
    fileprivate init?(wireText text: Substring) {
        guard let count = Int64(text), (0..<Self.wrap).contains(count) else { return nil }
        self.init(count)
    }
}
