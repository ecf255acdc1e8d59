/// Metadata of a segment and its presentation time.
package struct TimedMetadata: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case id3([UInt8])
        case splice(SpliceInfoSection)
        /// An event message of a fragmented MP4 upstream and the splice command in it. The command takes effect at the
        /// message's time: its own time counts on the encoder's clock, which no longer exists (SCTE 214-3 §8.3.3).
        case message(EventMessage, SpliceInfoSection?)
        /// The payload of a PES packet of DVB subtitles or teletext.
        case privateData(PrivateDataStream, [UInt8])
    }

    package let content: Content
    /// Presentation time as on the wire, 0 ..< 2³³. A splice command has no presentation time, so it gets the time of
    /// the frames around it. nil: the time of the segment's first frame.
    package let time: Ticks?

    package init(_ content: Content, at time: Ticks?) {
        self.content = content
        self.time = time
    }
}

/// An event message (emsg, ISO/IEC 23009-1 §5.10.3.3) without its time.
package struct EventMessage: Equatable, Sendable {
    /// The scheme identifier, which defines the format of `data`.
    package let scheme: String
    package let value: String
    package let duration: Ticks?
    /// The identifier of the message. Messages with equal scheme, value and number are duplicates; without a number,
    /// time and data identify a message.
    package let number: UInt32?
    package let data: [UInt8]

    package init(scheme: String, value: String = "", duration: Ticks? = nil, number: UInt32? = nil, data: [UInt8]) {
        self.scheme = scheme
        self.value = value
        self.duration = duration
        self.number = number
        self.data = data
    }

    /// The scheme of ID3 tags in CMAF (Alliance for Open Media, Carriage of ID3 Timed Metadata in CMAF §2).
    package static let id3Scheme = "https://aomedia.org/emsg/ID3"

    /// The scheme of a complete splice_info_section (SCTE 214-3 §8.3.3).
    package static let spliceScheme = "urn:scte:scte35:2013:bin"

    /// The scheme of a PES packet with private data. Such messages are stored for output as a transport stream, and not
    /// published in fragmented MP4.
    package static let privateDataScheme = "urn:liverelay:private-data"

    package static func privateData(_ payload: [UInt8], of stream: PrivateDataStream) -> EventMessage {
        EventMessage(scheme: privateDataScheme, value: stream.text, data: payload)
    }

    package static func id3(_ tags: [UInt8]) -> EventMessage { EventMessage(scheme: id3Scheme, data: tags) }
}

/// An event message on the channel's timeline.
package struct PlacedMessage: Equatable, Sendable {
    package let message: EventMessage
    /// Presentation time in the video timescale.
    package let time: Ticks

    package init(message: EventMessage, time: Ticks) {
        self.message = message
        self.time = time
    }
}
