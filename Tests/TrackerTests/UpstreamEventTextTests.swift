import Playlist
import Testing
import TrackerTestSupport

@testable import Fetch
@testable import Support
@testable import Tracker

/// Events as golden files hold them. The captures show most events; these rows add those that no capture has, and
/// values that need quoting.
@Suite struct UpstreamEventTextTests {
    static let url = "http://channel.example/main.m3u8"
    static let rows: [(when: String, event: UpstreamEvent, text: String)] = [
        (
            "HTML page in place of a playlist",
            .playlistFailed(
                .main, TrackerError(.notAPlaylist(.webPage, beginning: "<p class=\"a\">\n\u{7}"), url: url)),
            "playlist-failed rendition=main url=\(url) reason=not-a-playlist beginning=\"<p class=\\\"a\\\">\\n\\u{7}\""
        ),
        (
            "empty body in place of a playlist",
            .playlistFailed(.subtitles(2), TrackerError(.notAPlaylist(.nothing, beginning: ""), url: url)),
            "playlist-failed rendition=subtitles-2 url=\(url) reason=not-a-playlist beginning=\"\""
        ),
        (
            "malformed playlist line",
            .multivariantReloadFailed(
                TrackerError(
                    .malformedPlaylist(PlaylistError(reason: .missing, tag: "EXTINF", line: 7, section: "4.3.2.1")),
                    url: url)),
            "master-failed url=\(url) reason=malformed-playlist line=7 tag=EXTINF"
        ),
        (
            "refused byte range",
            .fetchFailed(
                FetchRequest(.map, url: url, byteRange: ByteRange(offset: 10, length: 20)), .refused(status: 416),
                failures: 3, isLast: true),
            "fetch-failed purpose=map url=\(url) range=10+20 reason=http416 failures=3 final=true"
        ),
        (
            "missing key",
            .lost(
                .audio,
                SegmentLoss(
                    mediaSequences: 7..<9, reason: .keyUnavailable(url: url, .unreachable(.timedOut)), cause: .overtaken
                )),
            "segments-lost rendition=audio media-sequence=7 count=2 reason=key-timed-out cause=overtaken"
        ),
        (
            "segment that is too large",
            .lost(
                .main,
                SegmentLoss(
                    mediaSequences: 7..<8, reason: .unavailable(.unreachable(.tooLarge)), cause: .permanent)),
            "segments-lost rendition=main media-sequence=7 count=1 reason=too-large cause=permanent"
        ),
        (
            "segment that did not arrive in time",
            .lost(.main, SegmentLoss(mediaSequences: 7..<8, reason: .unavailable(nil), cause: .overtaken)),
            "segments-lost rendition=main media-sequence=7 count=1 reason=pending cause=overtaken"
        ),
        (
            "end of a host limit", .hostLimitEnded(host: "a.example", answers: 4),
            "host-limit-ended host=a.example answers=4"
        ),
        (
            "event of a backup", .backup(2, .stalled(.main, .reloadMultivariant, silence: .milliseconds(1_500))),
            "stalled source=2 rendition=main step=reload-master silence=1.5"
        ),
        (
            "source with unsupported protection",
            .sourceFailed(
                1,
                TrackerError(
                    .unsupportedProtection(method: .sampleAES, keyFormat: "com.example drm", mediaSequence: 4), url: url
                )),
            """
            source-failed source=1 url=\(url) reason=unsupported-protection method=SAMPLE-AES \
            key-format="com.example drm" media-sequence=4
            """
        ),
        ("end of a source", .sourceEnded(1), "source-ended source=1"),
        (
            "silence in microseconds", .mediaResumed(silence: .microseconds(2_000_040)),
            "media-resumed silence=2.00004"
        ),
    ]

    @Test(arguments: rows) func eventIsOneLineOfNameAndFields(when: String, event: UpstreamEvent, text: String) {
        #expect(event.text == text, "\(when)")
    }
}
