import Capture
import Channel
import Conformance
import Fetch
import Inspect
import Playlist
import Support

/// Judges a channel, and writes what was found.
struct ChannelCheck: Sendable {
    let options: ChannelFollower<ContinuousClock>.Options
    let requests: CurlConfiguration
    let format: CheckFormat
    /// The lowest level of a finding that makes the check fail.
    let failing: RuleLevel

    /// Judges until the end, or until the task is canceled.
    /// - Throws: `.faultsFound` for findings, and the error of a channel that cannot be judged.
    func run(
        _ channel: CheckInput.Channel, against other: String?, write: (String) -> Void = CheckFormat.print
    ) async throws {
        switch channel {
        case .capture(let capture):
            let checker: ChannelChecker
            do {
                checker = try CaptureFeed.check(capture, variants: options.variants, excluded: options.excluded)
            } catch { throw RelayError(error) }
            guard !checker.streams.isEmpty else {
                throw RelayError(
                    .unreadableInput, "The capture has no HLS playlist",
                    advice: "Give a capture of an HLS channel; liverelay replay republishes any")
            }
            try finish(checker, name: URIReference.redacted(capture.index.upstream), write)
        case .playlist(let url):
            guard let other else {
                let followed = try await follow(url)
                return try finish(followed.checker, name: URIReference.redacted(url), write, followed)
            }
            async let first = follow(url)
            async let second = follow(other)
            let found = try await (first, second)
            write(FeedComparison(found.0.checker, found.1.checker, (url, other)).text)
        }
    }

    private func follow(_ url: String) async throws -> Followed {
        var options = options
        options.isLocal = FileURL.isOne(url)
        let fetcher: any Fetcher
        do throws(FetchError) {
            fetcher =
                options.isLocal ? LocalFetcher(playlist: url) : try CurlFetcher(upstream: url, configuration: requests)
        } catch { throw RelayError(unexpected: error) }
        let followed = await ChannelFollower(fetcher, clock: ContinuousClock(), options: options)
            .follow(url)
        try judge(followed.first, of: url, isLocal: options.isLocal)
        return followed
    }

    /// Whether the first answer is a playlist.
    private func judge(_ first: FetchOutcome?, of url: String, isLocal: Bool) throws(RelayError) {
        let name = URIReference.redacted(url)
        switch first {
        case .failure(let error)?: throw RelayError(unexpected: error)
        case .success(let answer)? where !answer.isSuccess && isLocal:
            throw RelayError(
                .unreadableInput, "\(name) does not exist, or cannot be read", advice: "Give a file, a URL or -")
        case .success(let answer)? where !answer.isSuccess:
            throw RelayError(
                .upstreamUnavailable, "\(name) answers with status \(answer.status)",
                advice: "Check the URL, and give what it needs: --header, --cookie, --user-agent")
        case .success(let answer)?:
            do throws(PlaylistError) { _ = try PlaylistParser.parse(answer.body, url: answer.finalURL) } catch {
                guard case .notAPlaylist(let kind, _) = error.reason else { return }
                let words = answer.words(withoutSecretsOf: url)
                throw RelayError(
                    .notAPlaylist, "\(name) is \(kind)" + (words.isEmpty ? "" : ": “\(words)”"),
                    advice: "Give the URL of an HLS playlist, or of a transport stream")
            }
        case nil:
            throw RelayError(
                .upstreamUnavailable, "\(name) was not answered until the end of the check", advice: "Try again")
        }
    }

    private func finish(
        _ checker: ChannelChecker, name: String, _ write: (String) -> Void, _ followed: Followed? = nil
    ) throws {
        let report = checker.report
        write(ReportText.write(report, of: name, as: format, failing: failing))
        if format == .text, let followed {
            if followed.hasEnded { write("the channel ended during the check\n") }
            if followed.skippedSegments > 0 {
                write(
                    "\(followed.skippedSegments) segments were not fetched: the connection is slower than the channel\n"
                )
            }
        }
        let failures = report.findings.count { $0.level >= failing }
        if failures > 0 {
            throw RelayError(
                .faultsFound, "\(name) has \(CheckFormat.count(failures, "finding")) of level \(failing.label)",
                advice: "docs/rules.md says what each number means")
        }
        if let protection = checker.protection {
            throw RelayError(
                .unsupportedProtection, "The media of \(name) is protected (\(protection)): only its text was judged",
                advice: "Check the stream before its encryption")
        }
        guard checker.streams.contains(where: { $0.playlist.current?.segments.isEmpty == false }) else {
            throw RelayError(
                .noSegments, "\(name) lists no segment", advice: "Check that the channel is on the air")
        }
    }
}

/// Two feeds of one channel: what one has and the other lacks.
struct FeedComparison {
    private let feeds: [(name: String, checker: ChannelChecker)]

    init(_ first: ChannelChecker, _ second: ChannelChecker, _ urls: (String, String)) {
        feeds = [(URIReference.redacted(urls.0), first), (URIReference.redacted(urls.1), second)]
    }

    var text: String {
        var lines: [String] = []
        for (index, feed) in feeds.enumerated() {
            let other = feeds[1 - index]
            lines.append("only \(feed.name):")
            let known = Set(other.checker.report.findings.map(\.identifier))
            let own = feed.checker.report.findings.filter { !known.contains($0.identifier) }
            lines += own.map {
                "    \($0.rule.rawValue) \($0.rule.name), \($0.level.label), \($0.count)×: \($0.message)"
            }
            let others = Self.contents(of: other.checker)
            lines += Self.contents(of: feed.checker).filter { !others.contains($0) }.map { "    \($0)" }
            if lines.last == "only \(feed.name):" { lines.append("    nothing") }
        }
        let common = Set(feeds[0].checker.report.findings.map(\.identifier))
            .intersection(feeds[1].checker.report.findings.map(\.identifier))
        lines.append("both: \(CheckFormat.count(common.count, "finding"))")
        if let difference = edgeDifference { lines.append(difference) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The parts of a feed that viewers or players notice, in words.
    private static func contents(of checker: ChannelChecker) -> [String] {
        let listed = checker.streams.flatMap { $0.playlist.listed.values.map(\.segment) }
        let facts = checker.streams.flatMap(\.media.measured.values).map(\.facts)
        let parts = [
            ("dates: EXT-X-PROGRAM-DATE-TIME", listed.contains { $0.date != nil }),
            ("gaps: EXT-X-GAP", listed.contains { $0.isGap }),
            ("discontinuities", listed.contains { $0.discontinuities > 0 }),
            ("cue tags", listed.contains { !$0.cueTags.isEmpty }),
            ("date ranges", checker.streams.contains { $0.playlist.current?.dateRanges.isEmpty == false }),
            ("captions in the video", facts.contains { $0.video?.hasCaptions == true }),
            ("the end: EXT-X-ENDLIST", checker.streams.contains { $0.playlist.hasEnded }),
        ]
        return tracks(of: checker) + parts.filter(\.1).map(\.0)
    }

    /// The variants and renditions by what players choose them by.
    private static func tracks(of checker: ChannelChecker) -> [String] {
        guard let master = checker.master else { return [] }
        let names = ["RESOLUTION", "CODECS", "FRAME-RATE", "VIDEO-RANGE"]
        let variants = master.variants.map { variant in
            let values = names.compactMap { variant.attributes[$0] }.joined(separator: " ")
            return "the \(variant.isIFrames ? "I-frame " : "")variant \(values)"
        }
        let renditions = master.renditions.map { rendition in
            "the rendition \(rendition.type) \(rendition.attributes["LANGUAGE"] ?? "") "
                + (rendition.attributes["NAME"] ?? "")
        }
        return variants + renditions
    }

    /// How far the newest dates are apart.
    private var edgeDifference: String? {
        let dates = feeds.map { feed in
            feed.checker.streams.compactMap { $0.playlist.current?.segments.last { $0.date != nil }?.date }.max()
        }
        guard let first = dates[0], let second = dates[1] else { return nil }
        let difference = Duration.milliseconds(first.milliseconds(since: second))
        return "the newest date of the first is \(difference.magnitudeText) "
            + (difference < .zero ? "before" : "after") + " that of the second"
    }
}
