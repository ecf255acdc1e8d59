/// The reason why a segment or an EXT-X-MAP section could not be decrypted. No part of its clear text is returned.
package struct DecryptError: Error, Equatable, Sendable {
    package enum Reason: Error, Equatable, Sendable {
        case missingKey
        /// The size of the key in bytes. AES-128 needs 16.
        case wrongKeySize(Int)
        /// The size of the IV in bytes, other than 16.
        case wrongInitializationVectorSize(Int)
        /// The size of the body in bytes: not a multiple of 16, or 0. Padding adds at least one byte.
        case notBlockAligned(Int)
        /// The clear text does not end in PKCS #7 padding: the key or the IV is wrong, or the end is damaged.
        case badPadding
        /// OpenSSL failed; `code` is the first code of its error queue, 0 if the queue was empty.
        case library(code: UInt)
        /// The task was canceled.
        case canceled
    }

    package let reason: Reason
    /// The media sequence number of the segment, or of the segment that uses the EXT-X-MAP section.
    package let mediaSequence: UInt64
    /// The absolute URL of the key; nil if no key was requested.
    package let keyURL: String?

    package init(_ reason: Reason, mediaSequence: UInt64, keyURL: String?) {
        self.reason = reason
        self.mediaSequence = mediaSequence
        self.keyURL = keyURL
    }
}
