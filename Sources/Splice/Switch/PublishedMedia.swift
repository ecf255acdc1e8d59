/// What a channel published lately, as far as it takes to know it again.
package struct PublishedMedia: Sendable {
    /// Bytes of a key frame that are compared, beside its size: parameter sets, headers and much of the picture.
    private static let compared = 4096
    /// Key frames remembered: minutes.
    private static let memory = 128

    /// In the order in which they were published, the newest last; never empty. Each but the last has a key frame.
    private var stretches = [Stretch()]
    /// Stretches that were forgotten. A stretch is named by how many came before it.
    private var forgotten = 0

    /// Where a stretch ends: decode time of its newest picture and presentation time of its newest frame of sound, on
    /// the wire.
    struct End: Equatable, Sendable {
        var picture: Ticks?
        var sound: Ticks?
    }

    /// What was published on one clock without a break.
    private struct Stretch: Sendable {
        var keyFrames: [KeyFrame] = []
        var end = End()

        /// Whether a picture with decode time `time` goes on where it ends.
        func isFollowed(by time: Ticks) -> Bool {
            guard let last = end.picture else { return true }
            let step = Ticks(wire: time, near: last) - last
            return step > .zero && step <= ProgramSwitchDetector.longestGap
        }
    }

    init() {}

    /// What an earlier process published, oldest first.
    package init(_ pictures: [PublishedPictures]) {
        for known in pictures {
            // Of each segment the last picture alone is known.
            if let first = known.keyFrame?.time, let last = end.picture, Ticks(wire: first, near: last) < last {
                breakOff()
            }
            if let keyFrame = known.keyFrame { stretches[stretches.endIndex - 1].keyFrames.append(keyFrame) }
            stretches[stretches.endIndex - 1].end.picture = known.last
        }
        forget()
    }

    /// Of what was published last.
    var end: End { stretches.last?.end ?? End() }

    /// What comes next does not go on where the last stretch ends.
    mutating func breakOff() {
        if stretches.last?.keyFrames.isEmpty ?? false { stretches.removeLast() }
        stretches.append(Stretch())
    }

    /// Indices of `pictures` in runs on one clock without a break.
    static func parts(of pictures: [VideoPacket]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, stretch) = (0, Stretch())
        for (index, picture) in pictures.enumerated() {
            guard let time = picture.decodeTime else { continue }
            if !stretch.isFollowed(by: time) {
                parts.append(start..<index)
                start = index
            }
            stretch.end.picture = time
        }
        return start < pictures.count ? parts + [start..<pictures.count] : parts
    }

    /// The stretches that one of `packets` was published in, oldest first.
    func stretches(with packets: ArraySlice<VideoPacket>) -> [Int] {
        let wanted = packets.compactMap(KeyFrame.init)
        return stretches.indices.filter { wanted.contains(where: stretches[$0].keyFrames.contains) }
            .map { $0 + forgotten }
    }

    /// Where a stretch ends; nil when it was forgotten.
    func end(of stretch: Int) -> End? {
        stretches.indices.contains(stretch - forgotten) ? stretches[stretch - forgotten].end : nil
    }

    func isLast(_ stretch: Int) -> Bool { stretch - forgotten == stretches.endIndex - 1 }

    mutating func note(_ packets: DemuxedSegment) {
        for packet in packets.video {
            if let time = packet.decodeTime {
                if !(stretches.last?.isFollowed(by: time) ?? false) { breakOff() }
                stretches[stretches.endIndex - 1].end.picture = time
            }
            if let keyFrame = KeyFrame(packet) { stretches[stretches.endIndex - 1].keyFrames.append(keyFrame) }
        }
        if let last = packets.audio.last(where: { $0.pts != nil }) {
            stretches[stretches.endIndex - 1].end.sound = last.pts
        }
        forget()
    }

    private mutating func forget() {
        var excess = stretches.reduce(0) { $0 + $1.keyFrames.count } - Self.memory
        guard excess > Self.memory else { return }
        while excess > 0 {
            let count = min(excess, stretches[0].keyFrames.count)
            stretches[0].keyFrames.removeFirst(count)
            excess -= count
            guard stretches[0].keyFrames.isEmpty, stretches.count > 1 else { continue }
            stretches.removeFirst()
            forgotten += 1
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
            beginning = ContentHash.number(of: packet.payload.prefix(PublishedMedia.compared))
        }
    }
}

/// The pictures of one output segment, as far as it takes to know after a restart that they were published.
package struct PublishedPictures: Equatable, Sendable {
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
extension PublishedPictures {
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
