package import LiveRing
package import Tracker

/// The reason of a channel's state or of a spool's failure, as a typed value.
///
/// Its text is made by the function that the encoder's `userInfo` holds under `textKey`: this module makes no text for
/// operators. Without such a function only the name of the case is encoded.
package enum StatusReason: Encodable, Equatable, Sendable {
    /// `at` is the session time of the status.
    case stalled(UpstreamStatus.Stall, at: Duration)
    case failed(ChannelError)
    case spool(RingError)

    /// A function from a reason to its text.
    package struct Text: Sendable {
        package let text: @Sendable (StatusReason) -> String

        package init(_ text: @escaping @Sendable (StatusReason) -> String) { self.text = text }
    }

    package static let textKey = CodingUserInfoKey(rawValue: "liverelay.StatusReason.text")

    package func encode(to encoder: any Encoder) throws {
        let text = Self.textKey.flatMap { encoder.userInfo[$0] as? Text }
        var container = encoder.singleValueContainer()
        try container.encode(text?.text(self) ?? name)
    }

    private var name: String {
        switch self {
        case .stalled: "stalled"
        case .failed: "failed"
        case .spool: "spool"
        }
    }
}
