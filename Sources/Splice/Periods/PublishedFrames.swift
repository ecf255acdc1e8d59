import Demux
import Media
import Mux
import Transcode

/// Identification of an output segment's video frames, sufficient to find them again after a restart.
package struct PublishedFrames: Equatable, Sendable {
    /// The last key frame of the segment.
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
    /// - Parameter fields: the three fields of a key frame.
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
