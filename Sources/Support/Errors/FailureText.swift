/// The readers of a document. Viewers get the class of a failure: no URL of an upstream, and no text that an upstream
/// sent.
package enum Audience: Sendable {
    case viewers, operators

    /// The key of the audience in an encoder's `userInfo`.
    package static let key = CodingUserInfoKey(rawValue: "liverelay.audience")

    /// The audience of the document that an encoder writes: viewers, unless `userInfo` names another.
    package init(of encoder: any Encoder) {
        self = Self.key.flatMap { encoder.userInfo[$0] as? Audience } ?? .viewers
    }
}

/// Why something failed, in a text for each audience.
package struct FailureText: Equatable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// One line that may name URLs without their secrets.
    package let operatorText: String
    /// One line without any URL or text of an upstream.
    package let viewerText: String

    package init(operatorText: String, viewerText: String) {
        (self.operatorText, self.viewerText) = (operatorText, viewerText)
    }

    /// The same text for both audiences: a literal contains neither a URL nor text from outside.
    package init(stringLiteral text: String) { self.init(operatorText: text, viewerText: text) }

    package func text(for audience: Audience) -> String { audience == .viewers ? viewerText : operatorText }
}

extension FailureText: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text(for: Audience(of: encoder)))
    }
}

extension RelayError {
    package var text: FailureText { FailureText(operatorText: line, viewerText: exit.viewerText) }
}

extension ExitStatus {
    /// The class of a channel's failure for viewers: a sentence without its full stop.
    package var viewerText: String {
        switch self {
        case .upstreamUnavailable: "The upstream cannot be reached, or refuses"
        case .notAPlaylist: "The upstream answers with something that is no channel"
        case .noSegments: "The upstream lists no segments: the channel may be off the air"
        case .unsupportedProtection: "The upstream is protected by DRM"
        case .wrongKey: "The upstream's segments do not decrypt"
        case .noUsableMedia: "There is no media in the upstream's segments that can be republished"
        case .gaveUp: "Nothing has come from the upstream for too long"
        case .cannotSpool: "The channel cannot be stored"
        case .badCapture, .cannotWrite: "The channel cannot be recorded"
        case .badSlate: "The slate cannot be used"
        case .success, .cannotListen, .badConfiguration, .badCredentials, .faultsFound, .unreadableInput,
            .internalError:
            "The channel has failed"
        }
    }
}
