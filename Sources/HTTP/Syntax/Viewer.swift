package import Support

/// The sender of a request, as far as tokens identify it.
package struct Viewer: Equatable, Sendable {
    /// The channels that the viewer may see.
    package enum Reach: Hashable, Sendable {
        /// All channels, and all data about them.
        case everything
        /// The channels without a token, and those that this token opens.
        case openChannels(and: TokenDigest?)
        /// The channels that this token opens.
        case channels(of: TokenDigest?)
    }

    /// How the request carries a token that the server knows.
    enum Credential: Equatable, Sendable {
        case none
        /// In its Authorization field.
        case field
        /// In its query. The URIs in the response carry the same query item.
        case query(Secret)
    }

    package var reach: Reach
    var credential: Credential

    /// A viewer of a server without tokens.
    static let unrestricted = Viewer(reach: .everything, credential: .none)

    /// The query item that URIs carry, percent-coded: `token=…`; nil if they carry no token.
    package var query: Secret? {
        if case .query(let item) = credential { item } else { nil }
    }
}

/// A keyed hash of a token. Without the key, the timing of a comparison reveals nothing about the token.
package struct TokenDigest: Hashable, Sendable {
    let bytes: [UInt8]
}
