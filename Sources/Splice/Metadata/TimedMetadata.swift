/// What a segment carries beside its pictures and its sound, and when.
package struct TimedMetadata: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// ID3v2 tags, whole.
        case id3([UInt8])
        case splice(SpliceInfoSection)
        /// An event message of a fragmented MP4 upstream, and the splice command in it. The command is of the message's
        /// time: its own counts on the clock that it was made for, which was left behind (SCTE 214-3 §8.3.3).
        case message(EventMessage, SpliceInfoSection?)
    }

    package let content: Content
    /// Presentation time as on the wire, 0 ..< 2³³; of a splice command, which has none, that of the pictures it stood
    /// among. nil: of the segment's first picture.
    package let time: Ticks?

    package init(_ content: Content, at time: Ticks?) {
        self.content = content
        self.time = time
    }
}

/// An event message (emsg, ISO/IEC 23009-1 §5.10.3.3) but for its time.
package struct EventMessage: Equatable, Sendable {
    /// Names the form of `data`.
    package let scheme: String
    package let value: String
    /// 90 kHz ticks; nil: not known.
    package let duration: Ticks?
    /// Messages of one scheme and value with the same number are one and the same; nil: told by time and data.
    package let number: UInt32?
    package let data: [UInt8]

    package init(scheme: String, value: String = "", duration: Ticks? = nil, number: UInt32? = nil, data: [UInt8]) {
        self.scheme = scheme
        self.value = value
        self.duration = duration
        self.number = number
        self.data = data
    }

    /// ID3 as the Alliance for Open Media carries it (Carriage of ID3 Timed Metadata in CMAF §2).
    package static let id3Scheme = "https://aomedia.org/emsg/ID3"

    /// A splice_info_section, whole (SCTE 214-3 §8.3.3).
    package static let spliceScheme = "urn:scte:scte35:2013:bin"

    package static func id3(_ tags: [UInt8]) -> EventMessage { EventMessage(scheme: id3Scheme, data: tags) }
}

/// An event message on the channel's timeline.
package struct PlacedMessage: Equatable, Sendable {
    package let message: EventMessage
    /// Presentation time in the video timescale.
    package let time: Ticks
}

extension PlacedMessage {
    /// Version 1: a time of its own, not one that counts from its segment.
    func write(to writer: inout BoxWriter) {
        writer.fullBox("emsg", version: 1) { box in
            box.u32(UInt32(TrackTimescale.video))
            box.u64(UInt64(max(0, time.count)))
            box.u32(message.duration.flatMap { UInt32(exactly: $0.count) } ?? .max)
            box.u32(message.number ?? derivedNumber)
            for text in [message.scheme, message.value] {
                box.append(text.utf8.filter { $0 != 0 })
                box.u8(0)
            }
            box.append(message.data)
        }
    }

    /// The same for the same message told twice, and after a restart.
    private var derivedNumber: UInt32 {
        var key = BoxWriter()
        key.u64(UInt64(bitPattern: time.count))
        key.append(message.data)
        return UInt32(truncatingIfNeeded: ContentHash.digest(of: key.bytes[...]))
    }
}
