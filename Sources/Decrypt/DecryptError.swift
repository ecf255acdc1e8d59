/// Why a segment or EXT-X-MAP section could not be decrypted. Nothing half decrypted is ever handed on.
package struct DecryptError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// METHOD as written: SAMPLE-AES or one that no section names.
        case unsupportedMethod(String)
        /// KEYFORMAT as written, anything but "identity".
        case unsupportedKeyFormat(String)
        case missingKey
        /// Bytes; AES-128 takes 16.
        case wrongKeySize(Int)
        /// Bytes; 16 are due.
        case wrongInitializationVectorSize(Int)
        /// Bytes of the body, not a multiple of 16, or 0: padding always adds something.
        case notBlockAligned(Int)
        /// What came out does not end in PKCS #7 padding: another key, another IV, or a damaged end.
        case badPadding
        /// OpenSSL refused to work at all.
        case library(code: UInt)
    }

    package let reason: Reason
    /// Of the segment, or of the one whose EXT-X-MAP it is.
    package let mediaSequence: UInt64
    /// Absolute address of the key, nil when the playlist was never asked for one.
    package let keyURL: String?

    package init(_ reason: Reason, mediaSequence: UInt64, keyURL: String?) {
        self.reason = reason
        self.mediaSequence = mediaSequence
        self.keyURL = keyURL
    }
}
