package import Decrypt
package import LiveRing
package import Media
package import Tracker

/// The reason why a channel ends, as a typed value; `liverelay` makes text and an exit status of it.
package enum ChannelError: Error, Equatable, Sendable {
    /// Segments in a row do not decrypt, and nothing was published before. `url` is the channel's upstream.
    case undecryptable(DecryptError, segments: Int, url: String)
    /// Segments in a row hold no usable media, and nothing was published before. `url` is the channel's upstream.
    case unusable(MediaError, segments: Int, isEncrypted: Bool, url: String)
    /// The upstream has ended, and nothing of it could be published.
    case empty(EmptyChannel, url: String)
    case upstream(TrackerError)
    case spool(RingError)
    case slate(SlateError)
    /// The task was canceled while it worked. Nothing of the delivery in hand is published.
    case canceled
}
