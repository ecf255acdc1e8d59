import Demux
package import Media
import Mux
import Support

/// The part of a channel's media that a subtitle rendition is made of.
package enum CaptionSource: Hashable, Sendable {
    case cea608(channel: Int)
    case teletext(TeletextPage)

    private static let teletextPrefix = "teletext-"

    /// `CC1` as INSTREAM-ID has it, or `teletext-888.de`.
    package var text: String {
        switch self {
        case .cea608(let channel): "CC\(channel)"
        case .teletext(let page): Self.teletextPrefix + page.text
        }
    }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: String) {
        if let channel = (1...4).first(where: { text == "CC\($0)" }) {
            self = .cea608(channel: channel)
        } else if text.hasPrefix(Self.teletextPrefix),
            let page = TeletextPage(text: text.dropFirst(Self.teletextPrefix.count))
        {
            self = .teletext(page)
        } else {
            return nil
        }
    }
}

/// Data with captions, by its presentation time on the channel's timeline.
struct CaptionUnit: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case cea608([CEA608Pair])
        /// Packets whose rows appear together.
        case teletext([TeletextPacket])
    }

    var time: Ticks
    var content: Content

    /// The rows of a page that come within this time of its header appear with it.
    static let pageDuration = Ticks.milliseconds(250)

    /// Joins the packets of each transmission of `page`.
    /// - Parameter packets: those of a stream, with the times of their PES packets.
    static func units(of page: TeletextPage, in packets: [(time: Ticks, packets: [TeletextPacket])]) -> [CaptionUnit] {
        var units: [CaptionUnit] = []
        var current: [TeletextPacket] = []
        var start: Ticks?
        for (time, packets) in packets {
            for packet in packets {
                if packet.isHeader(of: page) || start.map({ time - $0 > pageDuration }) ?? true {
                    if let start { units.append(CaptionUnit(time: start, content: .teletext(current))) }
                    (start, current) = (time, [])
                }
                current.append(packet)
            }
        }
        if let start { units.append(CaptionUnit(time: start, content: .teletext(current))) }
        return units
    }
}

/// The captions in a segment, for all renditions that are made of them.
struct SegmentCaptions {
    private let frames: [CaptionUnit]
    private let pages: [(stream: PrivateDataStream, time: Ticks, payload: [UInt8])]

    /// - Parameters:
    ///   - start: the presentation time of the first frame.
    ///   - readsFrames: whether captions in the frames are wanted, for which all of them have to be looked through.
    init(_ segment: SplicedSegment, from start: Ticks, readsFrames: Bool) {
        frames = readsFrames ? segment.cea608Units(from: start) : []
        pages = segment.privateData.compactMap { placed in
            guard let stream = PrivateDataStream(text: placed.message.value), stream.isTeletext else { return nil }
            return (stream, placed.time, placed.message.data)
        }
    }

    func units(of source: CaptionSource) -> [CaptionUnit] {
        guard case .teletext(let page) = source else { return frames }
        let listed = pages.filter { item in
            item.stream.subtitlePages.contains { $0.number == page.number && $0.language == page.language }
        }
        return CaptionUnit.units(
            of: page,
            in: listed.filter { $0.stream == listed[0].stream }.map {
                ($0.time, TeletextPacket.packets(in: $0.payload))
            })
    }
}

extension SplicedSegment {
    /// The captions of CEA-608 that the frames carry, in presentation order.
    fileprivate func cea608Units(from start: Ticks) -> [CaptionUnit] {
        guard let codec = description.video.flatMap({ VideoConfiguration.Codec(codecString: $0.codec) }),
            let media = try? TransportMedia(
                header: fragment.header, payloads: fragment.payloads, audio: nil, lasting: duration)
        else { return [] }
        let first = media.video.map(\.presentationTime).min() ?? .zero
        return media.video.map {
            CaptionUnit(
                time: $0.presentationTime - first + start,
                content: .cea608(CEA608Pair.pairs(of: $0.payload, codec: codec)))
        }
        .sorted { $0.time < $1.time }
    }
}
