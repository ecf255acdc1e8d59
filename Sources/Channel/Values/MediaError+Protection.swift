import Splice

extension MediaError {
    /// Whether the bytes were recognized as no media container.
    var isUnknownContainer: Bool { if case .unknownContainer = reason { true } else { false } }

    /// Whether the media is protected by more than AES-128: no later segment of it can be republished either.
    var isProtected: Bool {
        switch reason {
        case .sampleEncryption, .protectedTrack: true
        default: false
        }
    }
}
