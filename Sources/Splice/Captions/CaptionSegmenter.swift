import Demux
import Media
import Support

/// Writes a WebVTT file of the captions of one source for each published segment.
///
/// A caption that stands on the screen at the end of a segment begins once more in the next one, because nobody knows yet
/// when it ends.
struct CaptionSegmenter: Sendable {
    private struct Caption: Equatable, Sendable {
        var text: String
        var settings: String
        let start: Ticks
    }

    /// A caption that gets no data for so long is erased (CTA-608 §C.9). Teletext has no such time.
    static let longestSilence = Ticks.seconds(16)
    /// Text that is written on the screen gets a cue of its own after so long.
    static let step = Ticks.milliseconds(250)
    static let cueLimit = 1024

    let source: CaptionSource
    private var decoder: any CaptionDecoder
    private var caption: Caption?
    private var lastData = Ticks.zero
    private var end: Ticks?
    private var cues: [WebVTT.Cue] = []
    private(set) var counts = Counts<SubtitleCount>()

    init(_ source: CaptionSource) {
        self.source = source
        decoder = source.decoder
    }

    mutating func write(_ units: [CaptionUnit], from start: Ticks, to end: Ticks, isDiscontinuous: Bool) -> [UInt8] {
        // Durations are sums of decode durations, and may differ from the presentation by some ticks.
        if isDiscontinuous || self.end.map({ abs((start - $0).count) > SubtitleSegmenter.tolerance.count }) ?? true {
            (decoder, caption) = (source.decoder, nil)
        }
        self.end = end
        for unit in units {
            let time = min(max(unit.time, start), end)
            eraseAfterSilence(before: time, from: start)
            guard decoder.decode(unit.content) else { continue }
            lastData = time
            show(at: time)
        }
        eraseAfterSilence(before: end, from: start)
        if let caption {
            finish(caption, at: end)
            self.caption = Caption(text: caption.text, settings: caption.settings, start: end)
        }
        defer { cues = [] }
        return WebVTTWriter.write(definitions: [], cues: cues, from: start)
    }

    private mutating func eraseAfterSilence(before time: Ticks, from start: Ticks) {
        guard time - lastData > Self.longestSilence else { return }
        decoder.erase()
        show(at: max(start, lastData + Self.longestSilence))
    }

    private mutating func show(at time: Ticks) {
        let text = decoder.lines.map(\.escaped).joined(separator: "\n")
        guard text != caption?.text ?? "" else { return }
        if let current = caption {
            if decoder.writesOnScreen, time - current.start < Self.step, text.hasPrefix(current.text) {
                caption?.text = text
                return
            }
            finish(current, at: time)
        }
        caption = text.isEmpty ? nil : Caption(text: text, settings: decoder.isAtTop ? "line:0" : "", start: time)
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

extension String {
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// The decoder of a source of captions: what is on the screen.
private protocol CaptionDecoder: Sendable {
    var lines: [String] { get }
    var isAtTop: Bool { get }
    /// Whether text is seen as soon as it is written.
    var writesOnScreen: Bool { get }
    mutating func erase()
    /// - Returns: whether the unit has something of the source.
    mutating func decode(_ content: CaptionUnit.Content) -> Bool
}

extension CEA608Decoder: CaptionDecoder {
    fileprivate mutating func decode(_ content: CaptionUnit.Content) -> Bool {
        guard case .cea608(let pairs) = content else { return false }
        return pairs.reduce(false) { decode($1) || $0 }
    }
}

extension TeletextDecoder: CaptionDecoder {
    fileprivate var writesOnScreen: Bool { false }

    fileprivate mutating func decode(_ content: CaptionUnit.Content) -> Bool {
        guard case .teletext(let packets) = content else { return false }
        return packets.reduce(false) { decode($1) || $0 }
    }
}

extension CaptionSource {
    fileprivate var decoder: any CaptionDecoder {
        switch self {
        case .cea608(let channel): CEA608Decoder(channel: channel)
        case .teletext(let page): TeletextDecoder(page: page)
        }
    }
}
