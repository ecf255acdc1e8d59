import Decrypt
import Media
import Playlist
import Splice

extension RelayError {
    /// - Parameter failures: number of consecutive segments with this error, before anything was published.
    init(_ error: DecryptError, url: String, failures: Int) {
        self.init(
            .wrongKey, "\(url.redacted): \(failures) segments in a row do not decrypt: \(error.message)",
            advice:
                "Check that the key's URL returns the right key to this client: it may need --header or --cookie")
    }

    init(_ error: MediaError, url: String, failures: Int, isEncrypted: Bool) {
        if isEncrypted, case .unknownContainer = error.reason {
            self.init(
                .wrongKey, "\(url.redacted): \(failures) segments in a row decrypt to something other than media",
                advice: "The segments were encrypted with another key")
        } else if case .sampleEncryption(let type) = error.reason {
            self.init(
                .unsupportedProtection,
                "\(url.redacted): its stream type 0x\(String(type, radix: 16)) is encrypted sample by sample",
                advice: "Only METHOD=AES-128 can be republished")
        } else if case .protectedTrack(let scheme) = error.reason {
            self.init(
                .unsupportedProtection, "\(url.redacted): its samples are encrypted (\(scheme))",
                advice: "Only METHOD=AES-128 can be republished")
        } else {
            self.init(
                .noUsableMedia, "\(url.redacted): \(failures) segments in a row cannot be used: \(error.message)",
                advice: "liverelay republishes H.264 or HEVC video with AAC audio from MPEG-TS or fragmented MP4")
        }
    }
}

extension DecryptError {
    var message: String {
        let key = keyURL.map { " (key \($0.redacted))" } ?? ""
        switch reason {
        case .unsupportedMethod(let method): return "METHOD=\(method)"
        case .unsupportedKeyFormat(let format): return "KEYFORMAT \(format.quoted)"
        case .missingKey: return "the key is missing\(key)"
        case .wrongKeySize(let count): return "the key has \(count) bytes instead of 16\(key)"
        case .wrongInitializationVectorSize(let count): return "the IV has \(count) bytes instead of 16"
        case .notBlockAligned(let count): return "\(count) bytes are not whole AES blocks\(key)"
        case .badPadding: return "the padding is wrong, so the key is wrong too\(key)"
        case .library(let code): return "OpenSSL error \(code)"
        }
    }
}
