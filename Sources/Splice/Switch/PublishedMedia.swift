/// What a channel published lately, as far as it takes to know it again.
package struct PublishedMedia: Sendable {
    /// Bytes of a key frame that are compared, beside its size: parameter sets, headers and much of the picture.
    private static let compared = 4096
    /// Key frames remembered: minutes.
    private static let memory = 128

    private var keyFrames: [KeyFrame] = []
    /// Decode time of the newest picture and presentation time of the newest frame of sound, on the wire.
    private(set) var lastPicture: Ticks?
    private(set) var lastSound: Ticks?

    init() {}

    /// What an earlier process published, oldest first.
    package init(_ pictures: [PublishedPictures]) {
        keyFrames = pictures.suffix(Self.memory).compactMap(\.keyFrame)
        lastPicture = pictures.last?.last
    }

    func has(any packets: [VideoPacket]) -> Bool {
        packets.contains { KeyFrame($0).map(keyFrames.contains) ?? false }
    }

    mutating func note(_ packets: DemuxedSegment) {
        for packet in packets.video { if let keyFrame = KeyFrame(packet) { keyFrames.append(keyFrame) } }
        if keyFrames.count > 2 * Self.memory { keyFrames.removeFirst(keyFrames.count - Self.memory) }
        if let last = packets.video.last(where: { $0.dts ?? $0.pts != nil }) { lastPicture = last.dts ?? last.pts }
        if let last = packets.audio.last(where: { $0.pts != nil }) { lastSound = last.pts }
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
        guard let last = units.last(where: { $0.packet.dts ?? $0.packet.pts != nil })?.packet,
            let time = last.dts ?? last.pts
        else { return nil }
        keyFrame = units.lazy.reversed().compactMap { PublishedMedia.KeyFrame($0.packet) }.first
        self.last = time
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
