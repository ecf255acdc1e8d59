import Channel
import ChannelTestSupport
import Playlist
import Tracker

@testable import Fetch

/// The outcome of a fault: a row of docs/failover.md.
struct FaultRow {
    let fault: String
    let result: ReplayResult
    /// The frames that ffmpeg presents of everything that was ever listed, without the slate's, in order.
    let published: [PresentedFrame]
    /// The frames that are still listed at the end.
    let kept: Set<PresentedFrame>
    /// The frames that the upstream presents.
    let presented: [PresentedFrame]
    let discontinuities: Int

    init(_ fault: String, _ result: ReplayResult, presented: [PresentedFrame]) throws {
        self.fault = fault
        self.result = result
        self.presented = presented
        published = try ReplayResult.frames(of: result.everListed).filter { $0.program != FaultScene.slateProgram }
        let isComplete = result.everListed.count == result.segments.count
        kept = try isComplete ? Set(published) : Set(result.decodedFrames)
        let playlist = try MediaPlaylistParser.parse(Array(result.dvrPlaylist.utf8))
        discontinuities = playlist.segments.count { $0.isDiscontinuous }
    }

    /// The longest time for which live.m3u8 had the same last segment, minus that segment's duration.
    var standstill: Duration {
        var edges: [(at: Duration, segment: MediaSegment)] = []
        for (at, playlist) in result.live {
            guard let last = playlist.segments.last, last.mediaSequence != edges.last?.segment.mediaSequence else {
                continue
            }
            edges.append((at, last))
        }
        let waits = zip(edges, edges.dropFirst()).map { $1.at - $0.at - $0.segment.duration }
        return max(.zero, waits.max() ?? .zero)
    }

    /// Frames that were published after themselves or after a later frame.
    var duplicates: Int {
        let indices = Dictionary(zip(presented, presented.indices)) { first, _ in first }
        var next = 0
        return published.count { frame in
            guard let index = indices[frame] else { return true }
            defer { next = max(next, index + 1) }
            return index < next
        }
    }

    /// Frames of the upstream that are not listed at the end.
    var missing: Int { neverPublished + destroyed }

    private var neverPublished: Int { Set(presented).subtracting(published).count }
    private var destroyed: Int { Set(presented).intersection(published).subtracting(kept).count }

    /// Segments that the upstream never listed, listed as gaps or did not deliver, or that hold no media. After a failover
    /// the frames tell what is lost, so this is 0.
    var lost: Int {
        let hasOtherSource = reports { if case .sourceSwitched = $0 { true } else { false } } > 0
        return hasOtherSource ? 0 : losses { _ in true } + sum(\.splice.segmentsSkipped)
    }

    /// The response, and the standstill with the loss, as cells of a Markdown row.
    var outcome: String { "\(response) | \(([standstill.inTenths] + lostMedia).joined(separator: ", "))" }
}

extension FaultRow {
    private var lostMedia: [String] {
        let parts = [
            lost > 0 ? "\(lost) \(lost == 1 ? "segment" : "segments")" : nil,
            neverPublished > 0 ? "\(neverPublished) \(neverPublished == 1 ? "frame" : "frames")" : nil,
            destroyed > 0 ? "\(destroyed) \(destroyed == 1 ? "frame" : "frames") of the rewind" : nil,
        ]
        return parts.compactMap { $0 }
    }

    /// The channel's response to the fault, from its counts and events.
    private var response: String {
        let counts: [(count: Int, response: String)] = [
            (result.earlierStatuses.count, "restarted"),
            (listed.whole.intersection(listed.gaps).count, "segment became a gap"),
            (sum(\.splice.segmentsNotWritten), "segment not written"),
            (sum(\.output.rewindEvictionsForDiskFull), "rewind dropped"),
            (sum(\.upstream.counts[.stalePlaylists]), "older playlist ignored"),
            (sum(\.upstream.counts[.failedPlaylistLoads]), "playlist retried"),
            (reports { if case .stalled(_, .redundantVariant, _) = $0 { true } else { false } }, "other variant tried"),
            (reports { if case .moved = $0 { true } else { false } }, "new URL followed"),
            (reports { if case .hostLimited = $0 { true } else { false } }, "host paused"),
            (retries(.segment), "segment retried"), (retries(.key), "key retried"),
            (retries(.map), "map retried"),
            (resets(.url), "rejoined by URL"), (resets(.programDateTime), "rejoined by date"),
            (resets(.previousOrigin), "rejoined at the previous position"),
            (resets(.liveEdge), "rejoined at the live edge"),
            (losses { $0 == .gap }, "segment not requested"), (losses { $0 == .slidOut }, "segment missed"),
            (losses { $0 != .gap && $0 != .slidOut }, "segment given up"),
            (sum(\.splice.segmentsSkipped), "segment skipped"),
            (listed.gaps.subtracting(listed.whole).count, "gap listed"),
            (sum(\.output.slateSegments), "slate segment"),
            (reports { if case .sourceSwitched = $0 { true } else { false } }, "failover"),
            (discontinuities, "discontinuity"),
        ]
        let texts = counts.filter { $0.count > 0 }
            .map { $0.count == 1 ? $0.response : "\($0.response) ×\($0.count)" }
        return texts.isEmpty ? "continued" : texts.joined(separator: ", ")
    }

    /// Media sequence numbers that any version of the playlist listed as segments, and as gaps.
    private var listed: (whole: Set<UInt64>, gaps: Set<UInt64>) {
        let segments = result.versions.flatMap(\.segments)
        return (
            Set(segments.filter { !$0.isGap }.map(\.mediaSequence)), Set(segments.filter(\.isGap).map(\.mediaSequence))
        )
    }

    /// Sums a count over all processes.
    private func sum(_ count: KeyPath<RelayStatus, Int>) -> Int {
        result.earlierStatuses.reduce(result.status[keyPath: count]) { $0 + $1[keyPath: count] }
    }

    private func reports(_ matches: (UpstreamEvent) -> Bool) -> Int {
        result.reports.count { matches($0.event.ofAnySource) }
    }

    private func retries(_ purpose: FetchRequest.Purpose) -> Int {
        reports { event in
            guard case .fetchFailed(let request, _, _, isLast: false) = event else { return false }
            return request.purpose == purpose
        }
    }

    private func resets(_ method: SegmentCursor.RejoinMethod) -> Int {
        reports { if case .reset(_, method, _) = $0 { true } else { false } }
    }

    private func losses(_ matches: (SegmentLoss.Reason) -> Bool) -> Int {
        result.reports.reduce(0) { sum, report in
            guard case .lost(_, let loss) = report.event.ofAnySource, matches(loss.reason) else { return sum }
            return sum + loss.mediaSequences.count
        }
    }
}

extension UpstreamEvent {
    /// The event itself, without the backup that it is of.
    fileprivate var ofAnySource: UpstreamEvent {
        if case .backup(_, let event) = self { event.ofAnySource } else { self }
    }
}

extension Duration {
    /// "0.4", in seconds, rounded up; a dash for zero.
    fileprivate var inTenths: String {
        let tenth: Int64 = 100_000_000_000_000_000
        let tenths = components.seconds * 10 + (components.attoseconds + tenth - 1) / tenth
        return tenths == 0 ? "–" : "\(tenths / 10).\(tenths % 10)"
    }
}
