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

    package init(message: EventMessage, time: Ticks) {
        self.message = message
        self.time = time
    }
}
