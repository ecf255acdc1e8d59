import Capture
import Decrypt
import Demux
import Glibc
import LiveRing
import Media
import Playlist
import Splice
import Tracker

// What the libraries' typed errors mean to a person: what was found, where, and what to do.

extension RelayError {
    /// The error for the operator behind an untyped error.
    init(unexpected error: any Error) {
        self =
            switch error {
            case let error as RelayError: error
            case let error as CaptureError: RelayError(error)
            case let error as FetchError: RelayError(TrackerError(error, url: error.url))
            default: RelayError(.internalError, "\(error)", advice: "Please report it")
            }
    }

    init(_ error: TrackerError) {
        let url = error.url.redacted
        switch error.reason {
        case .refused(let status):
            self.init(
                .upstreamUnavailable, "\(url) answered HTTP \(status)",
                advice: status == 401 || status == 403
                    ? "Check the address, its token, and whether it wants --header, --cookie or --user-agent"
                    : "Check the address in a browser or with curl")
        case .unreachable(let reason):
            let address = error.ipAddress.map { " (\($0))" } ?? ""
            self.init(
                .upstreamUnavailable, "\(url) cannot be reached: \(reason.words)\(address)", advice: reason.advice)
        case .openingTimedOut:
            self.init(
                .upstreamUnavailable, "\(url) gave no playlist in time", advice: "Check that the origin is up")
        case .notAPlaylist(let beginning):
            self.init(
                .notAPlaylist, "\(url) is not an HLS playlist: it begins with \(beginning.quoted)",
                advice: "Give the address of the .m3u8 itself, not of the page that plays it")
        case .malformedPlaylist(let error):
            self.init(
                .notAPlaylist, "\(url) line \(error.line): \(error.words)",
                advice: "The upstream's packager breaks RFC 8216 §\(error.section); tell its operator")
        case .noVariant:
            self.init(
                .notAPlaylist, "\(url) offers no variant that can be taken", advice: "Try another --variant")
        case .unexpectedPlaylistKind:
            self.init(
                .notAPlaylist, "\(url) is the wrong kind of playlist", advice: "Give a master or a media playlist")
        case .noSegments(let limit):
            self.init(
                .noSegments, "\(url) has listed no segment for \(limit.secondsText)",
                advice: "The channel may be off the air: try again later")
        case .unsupportedProtection(let method, let format, let sequence):
            self.init(
                .unsupportedProtection,
                "\(url) segment \(sequence) is protected by \(method.words) with KEYFORMAT \(format.quoted)",
                advice: "Only METHOD=AES-128 with an identity key can be republished")
        case .silent(let silence):
            self.init(
                .gaveUp, "\(url) listed nothing new for \(silence.secondsText)",
                advice: "Raise --give-up to wait longer; --give-up 0 waits for ever")
        case .nothingUsable(let silence, let why):
            let time = silence > .zero ? " for \(silence.secondsText)" : ""
            self.init(
                .gaveUp, "\(url): nothing of it could be published\(time): \(why.words)",
                advice: "Raise --give-up to wait longer; --give-up 0 waits for ever")
        }
    }

    /// - Parameter failures: segments in a row, with nothing published before.
    init(_ error: DecryptError, url: String, failures: Int) {
        self.init(
            .wrongKey, "\(url.redacted): \(failures) segments in a row do not decrypt: \(error.words)",
            advice:
                "Check that the key's address answers the right key to this client: it may want --header or --cookie")
    }

    init(_ error: MediaError, url: String, failures: Int, isEncrypted: Bool) {
        if isEncrypted, case .unknownContainer = error.reason {
            self.init(
                .wrongKey, "\(url.redacted): what \(failures) segments in a row decrypt to is no media",
                advice: "The key is not the one they were encrypted with")
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
                .noUsableMedia, "\(url.redacted): \(failures) segments in a row cannot be used: \(error.words)",
                advice: "liverelay republishes H.264 or HEVC video with AAC audio from MPEG-TS or fragmented MP4")
        }
    }

    init(_ error: RingError) {
        switch error {
        case .spoolInUse(let directory):
            self.init(
                .cannotSpool, "\(directory) is the spool of another liverelay that is running",
                advice: "End that one, or give another --spool")
        case .unreadableJournal, .unknownJournalFormat, .damagedJournal:
            self.init(
                .cannotSpool, "The spool is left as it is: \(error.words)",
                advice: "Give an empty directory as --spool, or move the old one away")
        default: self.init(.cannotSpool, "The spool cannot be used: \(error.words)", advice: error.remedy)
        }
    }

    init(_ error: HTTPServerError) {
        let advice = "Choose another --port (0 lets the system choose) or --listen"
        switch error {
        case .addressInUse(let host, let port):
            self.init(.cannotListen, "\(host):\(port) is in use by another program", advice: advice)
        case .addressNotAvailable(let host, _):
            self.init(.cannotListen, "No interface of this machine has the address \(host)", advice: advice)
        case .permissionDenied(let host, let port):
            self.init(.cannotListen, "Listening at \(host):\(port) takes a privilege we do not have", advice: advice)
        case .unknownHost(let host):
            self.init(.cannotListen, "\(host.quoted) is no address to listen at", advice: advice)
        case .cannotListen(let host, let port, let code):
            self.init(.cannotListen, "Cannot listen at \(host):\(port) (errno \(code))", advice: advice)
        }
    }

    init(_ error: CaptureError) {
        let advice =
            switch error.reason {
            case .unreadable, .malformedIndex, .foreignPath:
                "Give a directory that holds an index.json and the bodies it names"
            case .unwritable: "Free the disk or mend the directory's permissions, or give another one"
            case .alreadyRecorded, .notEmpty: "Give a directory that is empty or not there yet"
            case .emptyTimeRange: "Give a stretch of it in which something was recorded"
            }
        let message = error.message.isEmpty ? "" : ": \(error.message)"
        self.init(.badCapture, "\(error.path) \(error.reason.words)\(message)", advice: advice)
    }
}

extension CaptureError.Reason {
    fileprivate var words: String {
        switch self {
        case .unreadable: "cannot be read"
        case .unwritable: "cannot be written"
        case .alreadyRecorded: "is of another recording"
        case .notEmpty: "is not empty"
        case .malformedIndex: "is no index of a capture"
        case .foreignPath: "lies outside of the capture"
        case .emptyTimeRange: "holds nothing of that time"
        }
    }
}

extension String {
    fileprivate var quoted: String { "“\(self)”" }

    /// An address as an operator reads it.
    var redacted: String { URIReference.redacted(self) }
}

extension Duration {
    /// `8 s`, `1.5 s`.
    var secondsText: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(abs(tenths % 10)) s"
    }
}

extension SegmentKey.Method {
    fileprivate var words: String {
        switch self {
        case .aes128: "AES-128"
        case .sampleAES: "SAMPLE-AES"
        case .other(let method): method
        }
    }
}

extension FetchError.Reason {
    fileprivate var advice: String {
        switch self {
        case .unsupportedScheme: "Give an http or https address"
        case .privateAddress: "Name the address with --allow-address, or leave --deny-private out"
        case .tooLarge: "Raise --max-playlist if it is a playlist"
        default: "Check the host name, the port and the network"
        }
    }

    var words: String {
        switch self {
        case .unresolvedHost: "no such host"
        case .refused: "the connection was refused"
        case .timedOut: "it took too long"
        case .reset: "the connection was reset"
        case .tlsFailure: "the TLS handshake failed"
        case .tooManyRedirects: "it redirects in circles"
        case .unsupportedScheme: "not an http or https address"
        case .tooLarge: "the answer is too large"
        case .shortBody: "the answer was cut short"
        case .canceled: "cancelled"
        case .privateAddress: "its address is not public, which --deny-private forbids"
        case .notInCapture: "not in the capture"
        case .other: "the transfer failed"
        }
    }
}

extension PlaylistError {
    fileprivate var words: String {
        switch reason {
        case .notAPlaylist(let beginning): "it begins with \(beginning.quoted)"
        case .missing: "\(tag) is missing"
        case .missingAttribute(let name): "\(tag) lacks its \(name)"
        case .undefinedVariable(let name): "\(tag) uses the variable \(name.quoted), which nothing defines"
        case .duplicate: "\(tag) stands twice"
        case .badValue(let value): "\(tag) has the value \(value.quoted)"
        case .misplaced: "\(tag) does not belong here"
        }
    }
}

extension DecryptError {
    var words: String {
        let key = keyURL.map { " (key \($0.redacted))" } ?? ""
        switch reason {
        case .unsupportedMethod(let method): return "METHOD=\(method)"
        case .unsupportedKeyFormat(let format): return "KEYFORMAT \(format.quoted)"
        case .missingKey: return "there is no key\(key)"
        case .wrongKeySize(let count): return "the key has \(count) bytes instead of 16\(key)"
        case .wrongInitializationVectorSize(let count): return "the IV has \(count) bytes instead of 16"
        case .notBlockAligned(let count): return "\(count) bytes are not whole AES blocks\(key)"
        case .badPadding: return "the padding is wrong, so the key is\(key)"
        case .library(let code): return "OpenSSL error \(code)"
        }
    }
}

extension UnpublishedReason {
    var words: String {
        switch self {
        case .pending: "its segments do not come"
        case .lost(.slidOut): "its segments leave the list before they come"
        case .lost(.gap): "the upstream marks its segments as gaps"
        case .lost(let reason): "its segments do not come (\(reason.words))"
        case .undecryptable: "its segments do not decrypt, so the key is wrong"
        case .unreadable: "there is no media in its segments that can be republished"
        case .noVideo: "there is nothing in its segments that can be shown, or that was not shown before"
        case .noAudio: "its sound does not come"
        }
    }
}

extension SegmentLoss.Reason {
    var words: String {
        switch self {
        case .slidOut: "they left the window before they were seen"
        case .gap: "the upstream marks them as a gap"
        case .unavailable(let status): status.map { "HTTP \($0)" } ?? "no answer"
        case .notMedia: "what came was no media"
        case .keyUnavailable(let url, let status):
            "their key \(url.redacted) did not come (\(status.map { "HTTP \($0)" } ?? "no answer"))"
        }
    }
}

extension UpstreamStatus.Stall {
    /// Why a channel is not on time.
    func words(at now: Duration) -> String {
        let silence = (now - since).secondsText
        switch cause {
        case .opening(let error): return error.map { RelayError($0).message } ?? "the upstream gives no playlist"
        case .playlist(let error):
            return "nothing new listed for \(silence)" + (error.map { ": \(RelayError($0).message)" } ?? "")
        case .media(let trouble): return "nothing could be published for \(silence): \(trouble.words)"
        case .sourceLost(let source, let error):
            return error.map { RelayError($0).message } ?? "\(source.sourceName) has ended, \(silence) ago"
        }
    }
}

extension Int {
    /// Of a channel's sources, at the beginning of a sentence.
    var sourceName: String { self == 0 ? "The upstream" : "Backup \(self)" }
}

extension MediaError {
    var words: String {
        switch reason {
        case .unknownContainer(let bytes):
            "no container we read (it begins with \(bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: " ")))"
        case .sampleEncryption(let type): "stream type 0x\(String(type, radix: 16)) is sample encryption"
        case .noSupportedStream(let types, let names):
            "no H.264, HEVC or sound in it that can be republished (\(Self.describe(types, names)))"
        case .protectedTrack(let scheme): "its samples are encrypted (\(scheme))"
        case .missingInitialization: "it is fragmented MP4, and no EXT-X-MAP says how to read it"
        case .noSupportedTrack(let entries):
            "no H.264, HEVC or sound in it that can be republished (sample entries \(entries.joined(separator: " ")))"
        case .noVideo: "its tables announce video, and none has come"
        case .missingTimestamp: "packed audio without its ID3 timestamp"
        case .badParameterSet(let field): "a parameter set with a bad \(field)"
        case .badSection: "a section that contradicts itself"
        case .truncated: "it ends too early"
        case .tooLarge(let bytes): "\(bytes) bytes are more than subtitles have"
        case .unusableSlate(let fault): fault.words
        case .library(let code, let call): "\(call) failed (\(code))"
        }
    }
}

extension SlateFault {
    fileprivate var words: String {
        switch self {
        case .notMP4: "it is no MP4 file"
        case .noMovie: "it ends before its moov box does"
        case .fragmented: "it is fragmented MP4, and a slate is read by the sample tables of an ordinary one"
        case .movieTooLarge(let bytes): "its moov box has \(bytes) bytes"
        case .badTable(let box): "its \(box) box is missing, cut short, or does not fit the others"
        case .tooManySamples(let count): "a track of \(count) samples is too long"
        case .severalSampleEntries: "its samples are coded in several ways"
        case .samplesPastEnd: "it is shorter than its tables say"
        case .noSyncSample: "it has no picture to begin with"
        case .frameRateTooLow(let longest): "it shows a picture for \(longest.duration.secondsText)"
        case .tooShort(let length): "it lasts only \(length.duration.secondsText)"
        case .tooLong: "it lasts longer than a day"
        case .segmentTooLarge(let bytes): "\(bytes) bytes lie between two of its key frames"
        }
    }
}

extension MediaError {
    /// "MPEG-2 video 0x2, SCTE-35 0x86".
    private static func describe(_ streamTypes: [UInt8], _ names: [String]) -> String {
        if streamTypes.isEmpty { return "nothing is listed" }
        let names = names.map { "\($0) " } + repeatElement("", count: max(0, streamTypes.count - names.count))
        return zip(names, streamTypes).map { "\($0)0x\(String($1, radix: 16))" }.joined(separator: ", ")
    }
}

extension ProgramSelection {
    /// "programme 1 (0x100 H.264, 0x101 AAC or MPEG audio eng; not followed: 0x102 DVB teletext)".
    var words: String {
        guard !listed.isEmpty else { return "streams told by their first bytes, for no table lists any" }
        func words(_ streams: [ListedStream]) -> String { streams.map(\.words).joined(separator: ", ") }
        let others = listed.filter { !$0.isFollowed }
        let left = others.isEmpty ? "" : "; not followed: \(words(others))"
        let besides = otherPrograms.isEmpty ? "" : ", one of \(otherPrograms.count + 1)"
        return "programme \(programNumber)\(besides) (\(words(listed.filter(\.isFollowed)))\(left))"
    }
}

extension ProgramSelection.ListedStream {
    /// "0x1b".
    private var hexStreamType: String { "0x" + String(streamType, radix: 16) }

    fileprivate var words: String {
        "0x\(String(pid, radix: 16)) \(name ?? "stream type \(hexStreamType)")\(language.map { " \($0)" } ?? "")"
    }
}

extension SlateMovie.AudioTrackUse {
    var words: String {
        switch self {
        case .copied: "it is copied"
        case .absent: "it has none"
        case .unusable(let entries): "\(entries.joined(separator: ", ")) is not copied; AAC is"
        }
    }
}

extension RingError {
    var words: String {
        switch self {
        case .system(let operation, let path, let code): "\(operation.words) \(path): \(Self.systemMessage(of: code))"
        case .spoolInUse(let directory): "\(directory) is in use"
        case .diskFull(let directory, let available, let needed):
            "the disk of \(directory) is full (\(available >> 20) MiB free, \(needed >> 20) MiB needed)"
        case .unreadableJournal(let path, let error): "\(path) is no journal (line \(error.line): \(error.words))"
        case .unknownJournalFormat(let path, nil): "\(path) is no journal of liverelay's"
        case .unknownJournalFormat(let path, let found?):
            "\(path) was written by another version (its format is \(found.quoted))"
        case .damagedJournal(let path, let lost): "\(path) tells nothing of \(lost) segments that have files"
        case .damagedJournalEntry(let uri, let attribute): "the journal's entry \(uri) has a bad \(attribute)"
        case .badDuration(let ticks, let maximum):
            "a segment lasts \(Ticks(ticks).duration.secondsText), longer than \(Ticks(maximum).duration.secondsText)"
        case .badInitializationName(let name): "\(name) is no name for an init section"
        case .ended: "the channel has ended"
        }
    }
}

extension RingError {
    /// What an operator can do about a spool that cannot be used.
    fileprivate var remedy: String {
        guard case .system(_, _, let code) = self else {
            return isDiskFull ? Self.makeRoom : "Give another --spool"
        }
        return switch code {
        case EACCES, EPERM: "Give another --spool, or mend this one's permissions"
        case ENOSPC, EDQUOT: Self.makeRoom
        case EEXIST, ENOTDIR: "Give a directory as --spool, or a name that nothing has yet"
        case EROFS: "Give another --spool, or make its file system writable"
        default: "Give another --spool"
        }
    }

    private static let makeRoom = "Give another --spool, or make room on its disk"

    /// What the system calls it.
    private static func systemMessage(of code: Int32) -> String {
        let text = unsafe String(cString: strerror(code))
        return "\(text.prefix(1).lowercased())\(text.dropFirst()) (errno \(code))"
    }
}

extension RingError.Operation {
    fileprivate var words: String {
        switch self {
        case .createDirectory: "cannot make the directory"
        case .list: "cannot list"
        default: "cannot \(rawValue)"
        }
    }
}
