import Playlist
import TestSupport
import Tracker

@testable import liverelay

/// What came of a fault: a row of the matrix.
struct FaultRow {
    let fault: String
    let published: ReplayResult
    /// What ffmpeg shows of all that was ever listed, but for the slate, in order.
    let aired: [PresentedFrame]
    /// What of it is listed in the end.
    let kept: Set<PresentedFrame>
    /// What somebody sees who misses nothing of what the upstream has.
    let shown: [PresentedFrame]
    let seams: Int

    init(_ fault: String, _ published: ReplayResult, shown: [PresentedFrame]) throws {
        self.fault = fault
        self.published = published
        self.shown = shown
        aired = try ReplayResult.pictures(of: published.aired).filter { $0.programme != FaultScene.slateProgramme }
        let isWhole = published.aired.count == published.segments.count
        kept = try isWhole ? Set(aired) : Set(published.decodedPictures)
        seams = try MediaPlaylistParser.parse(Array(published.whole.utf8)).segments.count { $0.isDiscontinuous }
    }

    /// The longest time for which the last segment of live.m3u8 was the last one, beyond what it lasts itself.
    var standstill: Duration {
        var edges: [(at: Duration, segment: MediaSegment)] = []
        for (at, playlist) in published.live {
            guard let last = playlist.segments.last, last.mediaSequence != edges.last?.segment.mediaSequence else {
                continue
            }
            edges.append((at, last))
        }
        let waits = zip(edges, edges.dropFirst()).map { $1.at - $0.at - $0.segment.duration }
        return max(.zero, waits.max() ?? .zero)
    }

    /// Pictures that were published although they, or one that comes after them, had been.
    var repeated: Int {
        let places = Dictionary(zip(shown, shown.indices)) { first, _ in first }
        var next = 0
        return aired.count { picture in
            guard let place = places[picture] else { return true }
            defer { next = max(next, place + 1) }
            return place < next
        }
    }

    /// Pictures that were to be had and are not listed in the end.
    var missed: Int { neverAired + destroyed }

    private var neverAired: Int { Set(shown).subtracting(aired).count }
    private var destroyed: Int { Set(shown).intersection(aired).subtracting(kept).count }

    /// Segments that the upstream never listed, marked as gaps, did not give, or that are no media. What another source
    /// stood in for is not lost: of that the pictures tell.
    var lost: Int {
        let hasOtherSource = reports { if case .sourceSwitched = $0 { true } else { false } } > 0
        return hasOtherSource ? 0 : losses { _ in true } + sum(\.splice.segmentsSkipped)
    }

    /// A line of a table: the fault, what was done, standstill, loss, and what was repeated.
    var line: String { "| \([fault, response, standstill.inTenths, loss, "\(repeated)"].joined(separator: " | ")) |\n" }
}

extension FaultRow {
    private var loss: String {
        let parts = [
            lost > 0 ? "\(lost) \(lost == 1 ? "segment" : "segments") that nobody could have" : nil,
            neverAired > 0 ? "\(neverAired) \(neverAired == 1 ? "picture" : "pictures")" : nil,
            destroyed > 0 ? "\(destroyed) \(destroyed == 1 ? "picture" : "pictures") of the rewind" : nil,
        ]
        let text = parts.compactMap { $0 }.joined(separator: ", ")
        return text.isEmpty ? "nothing" : text
    }

    /// What was done about it, as the channel's counts and reports tell.
    private var response: String {
        let done: [(count: Int, what: String)] = [
            (published.earlierStatuses.count, "started again"),
            (listed.whole.intersection(listed.gaps).count, "listed segment turned into a gap"),
            (sum(\.splice.segmentsNotWritten), "segment not written"),
            (sum(\.output.rewindEvictionsForDiskFull), "rewind given up"),
            (sum(\.upstream.stalePlaylists), "older list not believed"),
            (sum(\.upstream.failedPlaylistLoads), "list asked for again"),
            (reports { if case .stalled(_, .redundantVariant, _) = $0 { true } else { false } }, "other variant tried"),
            (reports { if case .moved = $0 { true } else { false } }, "new address followed"),
            (reports { if case .hostLimited = $0 { true } else { false } }, "host left alone"),
            (tries(.segment), "segment tried again"), (tries(.key), "key tried again"),
            (tries(.map), "map tried again"),
            (resets(.url), "found again by its addresses"), (resets(.programDateTime), "found again by its dates"),
            (resets(.previousOrigin), "gone on with where it was left"), (resets(.liveEdge), "joined anew"),
            (losses { $0 == .gap }, "segment not asked for"), (losses { $0 == .slidOut }, "segment passed over"),
            (losses { $0 != .gap && $0 != .slidOut }, "segment given up"),
            (sum(\.splice.segmentsSkipped), "segment skipped"),
            (listed.gaps.subtracting(listed.whole).count, "gap listed"),
            (sum(\.output.slateSegments), "piece of the slate shown"),
            (reports { if case .sourceSwitched = $0 { true } else { false } }, "source changed"), (seams, "seam"),
        ]
        let words = done.filter { $0.count > 0 }.map { $0.count == 1 ? $0.what : "\($0.what) ×\($0.count)" }
        return words.isEmpty ? "went on" : words.joined(separator: ", ")
    }

    /// Media sequence numbers by what any list ever said of them.
    private var listed: (whole: Set<UInt64>, gaps: Set<UInt64>) {
        let segments = published.versions.flatMap(\.segments)
        return (
            Set(segments.filter { !$0.isGap }.map(\.mediaSequence)), Set(segments.filter(\.isGap).map(\.mediaSequence))
        )
    }

    /// Over all processes.
    private func sum(_ count: KeyPath<RelayStatus, Int>) -> Int {
        published.earlierStatuses.reduce(published.status[keyPath: count]) { $0 + $1[keyPath: count] }
    }

    private func reports(_ matches: (UpstreamEvent) -> Bool) -> Int {
        published.reports.count { matches($0.event.ofAnySource) }
    }

    private func tries(_ purpose: FetchRequest.Purpose) -> Int {
        reports { event in
            guard case .fetchFailed(let request, _, _, isLast: false) = event else { return false }
            return request.purpose == purpose
        }
    }

    private func resets(_ anchor: SegmentCursor.RejoinMethod) -> Int {
        reports { if case .reset(_, anchor) = $0 { true } else { false } }
    }

    private func losses(_ matches: (SegmentLoss.Reason) -> Bool) -> Int {
        published.reports.reduce(0) { sum, report in
            guard case .lost(_, let loss) = report.event.ofAnySource, matches(loss.reason) else { return sum }
            return sum + loss.mediaSequences.count
        }
    }
}

extension UpstreamEvent {
    /// Itself, whichever source it is of.
    fileprivate var ofAnySource: UpstreamEvent {
        if case .backup(_, let event) = self { event.ofAnySource } else { self }
    }
}

extension Duration {
    /// `0.4 s`, rounded up; a dash for none.
    fileprivate var inTenths: String {
        let tenth: Int64 = 100_000_000_000_000_000
        let tenths = components.seconds * 10 + (components.attoseconds + tenth - 1) / tenth
        return tenths == 0 ? "–" : "\(tenths / 10).\(tenths % 10) s"
    }
}
