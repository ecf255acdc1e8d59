import ArgumentParser
import Foundation
import Playlist
import Service
import Splice
import TestSupport
import Testing

@testable import Channel
@testable import Decrypt
@testable import Fetch
@testable import Media
@testable import Support
@testable import Tracker
@testable import liverelay

private let url = "http://channel.example/live.m3u8"

/// Errors, their exit status, and words of their line besides the URL.
private let errorRows: [(when: String, error: TrackerError, exit: Support.ExitStatus, words: [String])] = [
    ("a wrong URL", .init(.refused(status: 404), url: url), .upstreamUnavailable, ["404", "curl"]),
    ("an expired token", .init(.refused(status: 403), url: url), .upstreamUnavailable, ["403", "--header"]),
    ("no such host", .init(.unreachable(.unresolvedHost), url: url), .upstreamUnavailable, ["no such host"]),
    (
        "a file URL", .init(.unreachable(.unsupportedScheme), url: "file:///x"), .upstreamUnavailable,
        ["file:///x", "http"]
    ),
    ("no answer", .init(.openingTimedOut, url: url), .upstreamUnavailable, ["in time"]),
    (
        "a web page", .init(.notAPlaylist(.webPage, beginning: "<html>"), url: url), .notAPlaylist,
        ["a web page", ".m3u8"]
    ),
    (
        "a list of channels", .init(.notAPlaylist(.channelList, beginning: "#EXTM3U"), url: url), .notAPlaylist,
        ["a list of channels", "liverelay serve"]
    ),
    ("nothing", .init(.notAPlaylist(.nothing, beginning: ""), url: url), .notAPlaylist, ["empty", "later"]),
    (
        "a broken playlist",
        .init(
            .malformedPlaylist(PlaylistError(reason: .badValue("x"), tag: "EXTINF", line: 7, section: "4.3.2.1")),
            url: url),
        .notAPlaylist, ["line 7", "EXTINF", "4.3.2.1"]
    ),
    (
        "a file whose moov box ends in the middle", .init(.unusableFile(.movie(.noMovie)), url: url), .notAPlaylist,
        ["moov", "+faststart"]
    ),
    (
        "a file whose moov box is too large", .init(.unusableFile(.movie(.movieTooLarge(bytes: 13_417_188))), url: url),
        .notAPlaylist, ["13417188 bytes", "--memory-limit", "+frag_keyframe"]
    ),
    (
        "a file with too many samples", .init(.unusableFile(.movie(.tooManySamples(count: 2_000_000))), url: url),
        .notAPlaylist, ["2000000 samples", "+frag_keyframe"]
    ),
    ("no variant", .init(.noVariant, url: url), .notAPlaylist, ["--variant"]),
    ("an empty playlist", .init(.noSegments(for: .seconds(30)), url: url), .noSegments, ["30 s"]),
    (
        "DRM", .init(.unsupportedProtection(method: .sampleAES, keyFormat: "skd", mediaSequence: 5), url: url),
        .unsupportedProtection, ["SAMPLE-AES", "segment 5"]
    ),
    ("an outage", .init(.silent(for: .milliseconds(60_500)), url: url), .gaveUp, ["60.5 s", "--give-up"]),
]

@Test(arguments: errorRows.indices)
func errorIsOneLineWithURLAndAdvice(_ index: Int) {
    let row = errorRows[index]
    let error = RelayError(row.error)
    #expect(error.exit == row.exit, "\(row.when)")
    #expect(error.line.contains(row.error.url) && !error.line.contains("\n"), "\(row.when): \(error.line)")
    for word in row.words { #expect(error.line.contains(word), "\(row.when): \(error.line)") }
}

private func unusable(_ reason: MediaError.Reason) -> ChannelError {
    .unusable(MediaError(reason, section: ""), segments: 3, isEncrypted: false, url: url)
}

private func empty(
    segments: Int, lost: UInt64 = 0, _ reason: SegmentLoss.Reason? = nil,
    _ fill: (inout SpliceCounts) -> Void = { _ in }
) -> ChannelError {
    var found = EmptyChannel()
    (found.segments, found.lost, found.lossReason) = (segments, lost, reason)
    fill(&found.counts)
    return .empty(found, url: url)
}

/// What kept a channel from being published, and words of its line.
private let mediaErrorRows: [(when: String, error: ChannelError, exit: Support.ExitStatus, words: [String])] = [
    (
        "a codec", unusable(.noSupportedStream(streamTypes: [1], names: ["MPEG-1 video"])), .noUsableMedia,
        [
            "3 segments in a row", "MPEG-1 video 0x1", "H.264, HEVC and MPEG-2 video",
            "AAC, MP3, AC-3, E-AC-3 and Opus",
        ]
    ),
    ("conditional access", unusable(.scrambled), .noUsableMedia, ["scrambled (conditional access)"]),
    ("MP4 files", unusable(.unfragmentedMovie), .noUsableMedia, ["MP4 file without fragments"]),
    (
        "audio alone where video is required", unusable(.noUsableVideo(streams: ["VC-1", "AAC"])),
        .noUsableMedia, ["no H.264, HEVC or MPEG-2 video", "VC-1, AAC"]
    ),
    (
        "frames that cannot be decoded", empty(segments: 5) { $0[.framesBeforeSync] = 125 }, .noUsableMedia,
        ["nothing of its 5 segments", "125 frames without a random access point"]
    ),
    ("segments without a frame", empty(segments: 1), .noUsableMedia, ["no frame was found"]),
    (
        "segments that are gone", empty(segments: 0, lost: 4, .unavailable(.refused(status: 404))),
        .upstreamUnavailable,
        ["none of its 4 segments", "HTTP 404"]
    ),
    (
        "maps that are too large", empty(segments: 0, lost: 4, .unavailable(.unreachable(.tooLarge))),
        .upstreamUnavailable, ["none of its 4 segments", "the answer is too large"]
    ),
    (
        "segments that time out", empty(segments: 0, lost: 4, .unavailable(.unreachable(.timedOut))),
        .upstreamUnavailable, ["none of its 4 segments", "the request timed out"]
    ),
    ("no segment", empty(segments: 0), .noSegments, ["lists no segment"]),
]

@Test(arguments: mediaErrorRows.indices) func errorSaysWhatWasFound(_ index: Int) {
    let row = mediaErrorRows[index]
    let error = RelayError(row.error)
    #expect(error.exit == row.exit, "\(row.when)")
    #expect(error.line.contains(url) && !error.line.contains("\n"), "\(row.when): \(error.line)")
    for word in row.words { #expect(error.line.contains(word), "\(row.when): \(error.line)") }
}

@Test func messagesContainNoSecret() {
    let url = "http://me:hunter2@channel.example/live.m3u8?token=hunter2"
    let redacted = "http://channel.example/live.m3u8?token=…"
    let errors = [
        RelayError(TrackerError(.refused(status: 403), url: url)),
        RelayError(DecryptError(reason: .missingKey, mediaSequence: 1, keyURL: url), url: url, failures: 3),
        RelayError(MediaError(.noVideo, section: ""), url: url, failures: 3, isEncrypted: false),
    ]
    let status = String(decoding: StatusDocument.json(of: RelayStatus(upstream: url), for: .operators), as: UTF8.self)
    for text in errors.map(\.line) + [status] {
        #expect(text.contains(redacted) && !text.contains("hunter2"), "\(text)")
    }
}

@Test func quotedPageOfSeveralLinesBecomesOneLine() {
    let line = RelayError(TrackerError(.notAPlaylist(.unknown(beginning: "sorry"), beginning: "sorry\nno"), url: url))
        .line
    #expect(!line.contains("\n"))
}

extension Support.ExitStatus {
    /// The description in docs/cli.md.
    fileprivate var meaning: String {
        switch self {
        case .success: "ended as asked"
        case .upstreamUnavailable: "the upstream cannot be reached, or refuses"
        case .notAPlaylist: "what the upstream answers is no HLS playlist, DASH manifest or transport stream"
        case .noSegments: "the upstream's playlist lists no segments"
        case .unsupportedProtection: "the upstream is protected by SAMPLE-AES or another DRM"
        case .wrongKey: "the AES-128 key has the wrong size or does not decrypt"
        case .noUsableMedia:
            "the segments hold no video or audio that can be republished, or no video where `--require video` asks for it"
        case .gaveUp: "nothing of the upstream could be published for longer than --give-up"
        case .cannotListen: "the address to serve at is taken or not ours"
        case .cannotSpool: "the spool directory cannot be used"
        case .badCapture: "the capture cannot be read or written"
        case .badSlate: "the file to show during outages cannot be used"
        case .cannotWrite: "what --output or --recordings names cannot be written"
        case .badConfiguration: "the configuration of `serve` has mistakes"
        case .badCredentials: "a token file, a certificate or its key cannot be used"
        case .faultsFound: "`check` found faults"
        case .unreadableInput: "the input of `check` cannot be read, or is neither a playlist nor a transport stream"
        case .internalError: "a defect of liverelay; please report it"
        }
    }
}

/// Scripts rely on the table in docs/cli.md.
@Test(arguments: Support.ExitStatus.allCases) func everyExitStatusIsDocumented(_ status: Support.ExitStatus) throws {
    let document = try String(contentsOf: PackageRoot.url.appending(path: "docs/cli.md"), encoding: .utf8)
    #expect(document.contains("| \(status.rawValue) | \(status.meaning) |"))
}

private let spans: [(text: String, seconds: Int64?)] = [
    ("90", 90), ("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86_400), ("0", 0), ("", nil), ("h", nil), ("-1", nil),
    ("1.5h", nil), ("2 h", nil), ("99999999999999999999", nil), ("9999999d", nil),
]

@Test(arguments: spans.indices) func timeSpanArgument(_ index: Int) {
    #expect(TimeSpan(argument: spans[index].text)?.seconds == spans[index].seconds, "\(spans[index].text)")
}

private let sizes: [(text: String, bytes: Int?)] = [
    ("4096", 4096), ("512KiB", 512 << 10), ("64MiB", 64 << 20), ("64M", 64 << 20), ("64mb", 64 << 20),
    ("1GiB", 1 << 30),
    ("1b", 1), ("0", nil), ("", nil), ("MiB", nil), ("-1", nil), ("1.5GiB", nil), ("2 GiB", nil), ("1TiB", nil),
    ("1iB", nil), ("99999999999999999999", nil), ("9999999GiB", nil), ("١", nil),
]

@Test(arguments: sizes.indices) func byteCountArgument(_ index: Int) {
    #expect(ByteCount(argument: sizes[index].text)?.bytes == sizes[index].bytes, "\(sizes[index].text)")
}

@Test(arguments: ["1B", "4KiB", "16MiB", "256MiB", "3GiB"]) func byteCountDescriptionEqualsItsArgument(_ text: String) {
    #expect(ByteCount(argument: text)?.defaultValueDescription == text)
}

@Test(arguments: [["--deny-private", "--proxy", "http://proxy.example"], ["--allow-address", "localhost"]])
func contradictoryOptionsAreRefused(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try RelayCommand.parse(["http://h/"] + arguments) }
}

/// How `relay` requests with options.
func requests(of arguments: [String]) throws -> CurlConfiguration {
    let command = try RelayCommand.parse(arguments)
    return command.requests.configuration(command.options).requests
}

@Test func limitOptionsApplyToRequests() throws {
    let arguments = ["http://h/", "--deny-private", "--allow-address", "10.0.0.5", "--max-segment", "1MiB"]
    let requests = try requests(of: arguments)
    #expect(requests.deniesPrivate && requests.permittedIPAddresses.map(\.text) == ["10.0.0.5"])
    #expect(requests.segmentLimits.bodyBytes == 1 << 20)
    #expect(requests.playlistLimits == CurlConfiguration().playlistLimits, "the default")
}

private let memoryRows: [(options: [String], complaint: String?)] = [
    ([], nil), (["--memory-limit", "256MiB"], nil), (["--memory-limit", "464MiB", "--max-segment", "64MiB"], nil),
    (["--max-segment", "1GiB"], nil),
    (
        ["--memory-limit", "64MiB"],
        "The value '64MiB' is invalid for '--memory-limit <bytes>': expected at least 96MiB."
    ),
    (
        ["--memory-limit", "256MiB", "--max-segment", "64MiB"],
        "--max-segment: the value is not possible with less than 464MiB of memory-limit."
    ),
    (
        ["--memory-limit", "256MiB", "--max-playlist", "32MiB"],
        "--max-playlist: the value is not possible with less than 464MiB of memory-limit."
    ),
]

@Test(arguments: memoryRows.indices) func memoryHasRoomForTheLargestSegment(_ index: Int) throws {
    let row = memoryRows[index]
    var complaint: String?
    do { _ = try RelayCommand.parse(["http://h/"] + row.options) } catch {
        complaint = RelayCommand.message(for: error)
    }
    #expect(complaint == row.complaint, "\(row.options)")
}

private let headers: [(text: String, name: String?, value: String?)] = [
    ("Referer: https://a.example/", "Referer", "https://a.example/"), ("X-A:b", "X-A", "b"),
    ("X-Empty:", "X-Empty", ""), ("User-Agent=a", "User-Agent", "a"), ("X-Time=10:00", "X-Time", "10:00"),
    ("X-Sum: a=b", "X-Sum", "a=b"),
    ("no colon", nil, nil), (": value", nil, nil), ("X A: b", nil, nil), ("X-A: b\r\nX-B: c", nil, nil),
]

@Test(arguments: headers.indices) func headerArgument(_ index: Int) {
    let header = HeaderArgument(argument: headers[index].text)
    #expect(
        header?.name == headers[index].name && header?.value.value == headers[index].value, "\(headers[index].text)")
}
