import Capture
import Decrypt
import Demux
import Export
import Fetch
import LiveRing
import Media
import Splice
package import Support
import Tracker

extension RelayError {
    package init(_ error: ChannelError) {
        switch error {
        case .undecryptable(let error, let segments, let url): self.init(error, url: url, failures: segments)
        case .unusable(let error, let segments, let isEncrypted, let url):
            self.init(error, url: url, failures: segments, isEncrypted: isEncrypted)
        case .empty(let findings, let url): self.init(findings, url: url)
        case .upstream(let error): self.init(error)
        case .spool(let error): self.init(error)
        case .slate(let error): self.init(error)
        case .canceled: self.init(.internalError, "The channel was canceled", advice: "Please report it")
        }
    }
}

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
            let segments = failures == 1 ? "a segment" : "\(failures) segments in a row"
            self.init(
                .noUsableMedia, "\(url.redacted): \(segments) cannot be used: \(error.message)",
                advice: error.reason == .scrambled ? "Give an upstream that is not scrambled" : Self.carriedMedia)
        }
    }

    /// The error for a channel that has ended without a segment.
    init(_ findings: EmptyChannel, url: String) {
        if findings.segments == 0, findings.lost == 0 {
            self.init(
                .noSegments, "\(url.redacted) has ended and lists no segment",
                advice: "The channel may be off the air: try again later")
        } else if findings.segments == 0 {
            let reason = findings.lossReason.map { ": \($0.message)" } ?? ""
            self.init(
                .upstreamUnavailable,
                "\(url.redacted): none of its \(findings.lost) segments could be fetched\(reason)",
                advice: "Check that the origin still has them")
        } else {
            self.init(
                .noUsableMedia,
                "\(url.redacted): nothing of its \(findings.segments) segments could be published: \(findings.counts.findings)",
                advice: Self.carriedMedia)
        }
    }

    private static let carriedMedia = """
        liverelay republishes H.264, HEVC and MPEG-2 video, and AAC, MP3, AC-3, E-AC-3 and Opus audio (in fragmented MP4 also \
        FLAC), from MPEG-TS, fragmented MP4 and packed audio; MPEG audio layers I and II become AAC
        """
}

extension RelayError {
    /// The error for the operator behind an untyped error.
    package init(unexpected error: any Error) {
        self =
            switch error {
            case let error as RelayError: error
            case let error as ChannelError: RelayError(error)
            case let error as CaptureError: RelayError(error)
            case let error as FetchError: RelayError(TrackerError(error, url: error.url))
            default: RelayError(.internalError, "\(error)", advice: "Please report it")
            }
    }
}

extension SpliceCounts {
    /// The causes that kept media from being published, in words.
    fileprivate var findings: String {
        let all = [
            (self[.framesBeforeSync], "frames without a random access point before them"),
            (self[.leadingPictures], "leading pictures"),
            (self[.unsupportedFrames], "frames whose parameter sets cannot be described"),
            (
                demux[.undecodableUnits] + demux[.abandonedUnits],
                "frames that are incomplete or lack their parameter sets"
            ),
            (demux[.incompleteSamples], "samples that are not all there"),
            (demux[.scrambledPackets], "scrambled packets"),
            (self[.duplicateFrames] + self[.duplicateAudioFrames], "frames that were published before"),
            (self[.unmatchedAudioFrames], "audio frames without video"),
            (self[.damagedAudioFrames], "damaged audio frames"),
            (self[.untimedAudioFrames], "audio frames without a timestamp"),
        ]
        let found = all.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return found.isEmpty ? "no frame was found in them" : found.joined(separator: ", ")
    }
}
