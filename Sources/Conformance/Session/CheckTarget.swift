package import Support

/// A resource that a checker wants to see.
package struct CheckTarget: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A media playlist, by index of its stream.
        case playlist(Int)
        case map, key, assets, asset
        /// A media segment, by index of its stream.
        case segment(stream: Int, sequence: UInt64)
    }

    package let kind: Kind
    package let url: String
    package let byteRange: ByteRange?
    /// The duration of a segment.
    package let duration: Duration?

    package init(_ kind: Kind, url: String, byteRange: ByteRange? = nil, duration: Duration? = nil) {
        self.kind = kind
        self.url = URIReference.withoutFragment(url)
        self.byteRange = byteRange
        self.duration = duration
    }

    /// The resource itself, regardless of its purpose.
    package struct Resource: Hashable, Sendable {
        package let url: String
        package let byteRange: ByteRange?

        package init(url: String, byteRange: ByteRange?) {
            self.url = URIReference.withoutFragment(url)
            self.byteRange = byteRange
        }
    }

    package var resource: Resource { Resource(url: url, byteRange: byteRange) }
}
