import Demux
import Media
import Mux
import Transcode

/// What a channel published lately, as far as it takes to know it again.
package struct PublishedMedia: Sendable {
    /// Bytes of a key frame that are compared, beside its size: parameter sets, headers and much of the picture.
    private static let comparedByteCount = 4096
    /// Key frames remembered: minutes.
    private static let maxKeyFrames = 128

    /// In the order in which they were published, the newest last; never empty. Each but the last has a key frame.
    private var mediaSpans = [MediaSpan()]
    /// Stretches that were forgotten. A stretch is named by how many came before it.
    private var evictedCount = 0

    /// Where a stretch ends: decode time of its newest picture and presentation time of its newest frame of sound, on
    /// the wire.
    struct SpanEnd: Equatable, Sendable {
        var video: Ticks?
        var audio: Ticks?
    }

    /// What was published on one clock without a break.
    private struct MediaSpan: Sendable {
        var keyFrames: [KeyFrame] = []
        var end = SpanEnd()

        /// Whether a picture with decode time `time` goes on where it ends.
        func isContinued(by time: Ticks) -> Bool {
            guard let last = end.video else { return true }
            let step = Ticks(wire: time, near: last) - last
            return step > .zero && step <= DiscontinuityDetector.longestGap
        }
    }

    init() {}

    /// What an earlier process published, oldest first.
    package init(_ pictures: [PublishedFrames]) {
        for known in pictures {
            // Of each segment the last picture alone is known.
            if let first = known.keyFrame?.time, let last = end.video, Ticks(wire: first, near: last) < last {
                beginSpan()
            }
            if let keyFrame = known.keyFrame { mediaSpans[mediaSpans.endIndex - 1].keyFrames.append(keyFrame) }
            mediaSpans[mediaSpans.endIndex - 1].end.video = known.last
        }
        evict()
    }

    /// Of what was published last.
    var end: SpanEnd { mediaSpans.last?.end ?? SpanEnd() }

    /// What comes next does not go on where the last stretch ends.
    mutating func beginSpan() {
        if mediaSpans.last?.keyFrames.isEmpty ?? false { mediaSpans.removeLast() }
        mediaSpans.append(MediaSpan())
    }

    /// Indices of `pictures` in runs on one clock without a break.
    static func spanRanges(of pictures: [VideoPacket]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, stretch) = (0, MediaSpan())
        for (index, picture) in pictures.enumerated() {
            guard let time = picture.decodeTime else { continue }
            if !stretch.isContinued(by: time) {
                parts.append(start..<index)
                start = index
            }
            stretch.end.video = time
        }
        return start < pictures.count ? parts + [start..<pictures.count] : parts
    }

    /// The stretches that one of `packets` was published in, oldest first.
    func spans(containing packets: ArraySlice<VideoPacket>) -> [Int] {
        let wanted = packets.compactMap(KeyFrame.init)
        return mediaSpans.indices.filter { wanted.contains(where: mediaSpans[$0].keyFrames.contains) }
            .map { $0 + evictedCount }
    }

    /// Where a stretch ends; nil when it was forgotten.
    func end(of stretch: Int) -> SpanEnd? {
        mediaSpans.indices.contains(stretch - evictedCount) ? mediaSpans[stretch - evictedCount].end : nil
    }

    func isLast(_ stretch: Int) -> Bool { stretch - evictedCount == mediaSpans.endIndex - 1 }

    mutating func append(_ packets: DemuxedSegment) {
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
        while excess > 0 {
            let count = min(excess, mediaSpans[0].keyFrames.count)
            mediaSpans[0].keyFrames.removeFirst(count)
            excess -= count
            guard mediaSpans[0].keyFrames.isEmpty, mediaSpans.count > 1 else { continue }
            mediaSpans.removeFirst()
            evictedCount += 1
        }
    }

    /// A picture that decoding may begin with, by its time and its bytes.
    struct KeyFrame: Equatable, Sendable {
        /// Presentation time on the wire.
        let time: Ticks
        let byteCount: Int
        /// Hash of its first bytes.
        let beginning: UInt64

        init?(_ packet: VideoPacket) {
            guard packet.sync.isRandomAccess, let time = packet.pts else { return nil }
            self.time = time
            byteCount = packet.payload.count
            beginning = ContentHash.digest(of: packet.payload.prefix(PublishedMedia.comparedByteCount))
        }
    }
}

/// The pictures of one output segment, as far as it takes to know after a restart that they were published.
package struct PublishedFrames: Equatable, Sendable {
    /// The last one of them.
    let keyFrame: PublishedMedia.KeyFrame?
    /// Decode time of the last picture on the wire.
    let last: Ticks

    /// nil where the pictures have no times.
    init?(_ units: [TimedVideo]) {
        let packets = units.lazy.reversed().map(\.packet)
        guard let last = packets.compactMap(\.decodeTime).first else { return nil }
        keyFrame = packets.compactMap { PublishedMedia.KeyFrame($0) }.first
        self.last = last
    }
}

/// As a journal keeps them: numbers with a slash between them, the last picture's time first.
extension PublishedFrames {
    package var text: String {
        let key = keyFrame.map { [String($0.time.count), String($0.byteCount), String($0.beginning)] } ?? []
        return ([String(last.count)] + key).joined(separator: "/")
    }

    package init?(text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = fields.first.flatMap({ Int64($0) }), fields.count == 1 || fields.count == 4 else { return nil }
        self.last = Ticks(last)
        guard fields.count == 4 else {
            keyFrame = nil
            return
        }
        guard let keyFrame = PublishedMedia.KeyFrame(fields.dropFirst()) else { return nil }
        self.keyFrame = keyFrame
    }
}

extension PublishedMedia.KeyFrame {
    /// - Parameter fields: three.
    fileprivate init?(_ fields: ArraySlice<Substring>) {
        guard let time = Int64(fields[fields.startIndex]), let byteCount = Int(fields[fields.startIndex + 1]),
            let beginning = UInt64(fields[fields.startIndex + 2])
        else { return nil }
        (self.time, self.byteCount, self.beginning) = (Ticks(time), byteCount, beginning)
    }
}

extension VideoPacket {
    /// Or what comes nearest to it.
    var decodeTime: Ticks? { dts ?? pts }
}
