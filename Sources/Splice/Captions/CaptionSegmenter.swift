import Demux
import Media
import Mux
import Support

/// Writes a WebVTT file of the captions in one channel of CEA-608 for each published segment.
///
/// A caption that stands on the screen at the end of a segment begins once more in the next one, because nobody knows yet
/// when it ends.
struct CaptionSegmenter: Sendable {
    /// The captions that a frame carries, by its presentation time on the channel's timeline.
    struct Frame: Equatable, Sendable {
        let time: Ticks
        let pairs: [Line21Pair]
    }

    private struct Caption: Equatable, Sendable {
        var text: String
        var settings: String
        let start: Ticks
    }

    /// A caption that gets no data for so long is erased (CTA-608 §C.9).
    static let longestSilence = Ticks.seconds(16)
    /// Text that is written on the screen gets a cue of its own after so long.
    static let step = Ticks.milliseconds(250)
    /// Cues of one segment.
    static let cueLimit = 1024

    private let channel: Int
    private var decoder: Line21Decoder
    private var caption: Caption?
    private var lastData = Ticks.zero
    private var end: Ticks?
    private var cues: [WebVTT.Cue] = []
    private(set) var counts = Counts<SubtitleCount>()

    /// - Parameter channel: 1 ... 4.
    init(channel: Int) {
        self.channel = channel
        decoder = Line21Decoder(channel: channel)
    }

    /// Returns the file of a segment.
    /// - Parameter frames: in presentation order.
    mutating func write(_ frames: [Frame], from start: Ticks, to end: Ticks, isDiscontinuous: Bool) -> [UInt8] {
        // Durations are sums of decode durations, and may differ from the presentation by some ticks.
        if isDiscontinuous || self.end.map({ abs((start - $0).count) > SubtitleSegmenter.tolerance.count }) ?? true {
            (decoder, caption) = (Line21Decoder(channel: channel), nil)
        }
        self.end = end
        for frame in frames {
            let time = min(max(frame.time, start), end)
            let isSilent = time - lastData > Self.longestSilence
            if isSilent { decoder.erase() }
            for pair in frame.pairs where decoder.decode(pair) { lastData = time }
            if isSilent || lastData == time { show(at: time) }
        }
        if let caption {
            finish(caption, at: end)
            self.caption = Caption(text: caption.text, settings: caption.settings, start: end)
        }
        defer { cues = [] }
        return WebVTTWriter.write(definitions: [], cues: cues, from: start)
    }

    /// Begins and ends cues as the screen says.
    private mutating func show(at time: Ticks) {
        let text = decoder.screen.lines.map(\.escaped).joined(separator: "\n")
        guard text != caption?.text ?? "" else { return }
        if let current = caption {
            if decoder.writesOnScreen, time - current.start < Self.step, text.hasPrefix(current.text) {
                caption?.text = text
                return
            }
            finish(current, at: time)
        }
        caption = text.isEmpty ? nil : Caption(text: text, settings: decoder.screen.settings, start: time)
    }

    private mutating func finish(_ caption: Caption, at end: Ticks) {
        let (first, last) = (caption.start.roundedMilliseconds, end.roundedMilliseconds)
        guard first < last else { return }
        guard cues.count < Self.cueLimit else {
            counts[.droppedCues] += 1
            return
        }
        counts[.cues] += 1
        cues.append(
            WebVTT.Cue(
                identifier: nil, start: max(0, first), end: max(0, last), settings: caption.settings,
                payload: caption.text))
    }
}

extension Line21Screen {
    fileprivate var settings: String { isAtTop ? "line:0" : "" }
}

extension String {
    /// The text in a cue (W3C WebVTT §6.4).
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension SplicedSegment {
    /// The captions of CEA-608 that the frames carry, in presentation order.
    /// - Parameter start: the presentation time of the first frame.
    func captionFrames(from start: Ticks) -> [CaptionSegmenter.Frame] {
        guard let codec = description.video.flatMap({ VideoConfiguration.Codec(codecString: $0.codec) }),
            let media = try? TransportMedia(
                header: fragment.header, payloads: fragment.payloads, audio: nil, lasting: duration)
        else { return [] }
        let first = media.video.map(\.presentationTime).min() ?? .zero
        return media.video.map {
            CaptionSegmenter.Frame(
                time: $0.presentationTime - first + start, pairs: Line21Pair.pairs(of: $0.payload, codec: codec))
        }
        .sorted { $0.time < $1.time }
    }
}
