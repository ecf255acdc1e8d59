package import LiveRing
import Media
import Synchronization
package import Transcode

/// How the ad breaks of an archive are presented.
package final class ArchivedAds: Sendable {
    private struct Slates {
        let source: SlateSource
        let audio: AudioSettings
        let now: @Sendable () -> Duration
        let report: @Sendable (BreakSlateChange) -> Void
        /// By the longest segment of a channel, which decides where a slate is cut.
        var made: [Ticks: BreakSlate] = [:]
    }

    /// For viewers who do not ask for something else.
    package let presentation: AdPresentation
    /// The slate of the channel, if it is relayed.
    private let relayed: BreakSlate?
    private let slates: Mutex<Slates?>

    /// As a channel that is relayed presents them.
    package init(_ presentation: AdPresentation, slate: BreakSlate?) {
        (self.presentation, relayed) = (presentation.possible(hasSlate: slate != nil), slate)
        slates = Mutex(nil)
    }

    /// As a channel that is not relayed is configured.
    /// - Parameters:
    ///   - now: returns the time since any moment.
    ///   - report: called on any thread, once for each change.
    package init(
        _ presentation: AdPresentation, slate: SlateSource?, audio: AudioSettings,
        now: @escaping @Sendable () -> Duration, report: @escaping @Sendable (BreakSlateChange) -> Void
    ) {
        (self.presentation, relayed) = (presentation.possible(hasSlate: slate != nil), nil)
        slates = Mutex(slate.map { Slates(source: $0, audio: audio, now: now, report: report) })
    }

    package var hasSlate: Bool { relayed != nil || slates.withLock { $0 != nil } }

    /// The init section called `name` of a slate that was read; nil if there is none.
    package func initialization(named name: String) -> [UInt8]? {
        let read = slates.withLock { $0.map { Array($0.made.values) } ?? [] }
        return ([relayed].compactMap(\.self) + read).lazy.compactMap { $0.initialization(named: name) }.first
    }

    /// The slate in the place of ad breaks, as the relay that published `snapshot` has it; nil: there is none.
    package func slate(for snapshot: RingSnapshot) -> BreakSlate? {
        if let relayed { return relayed }
        let longest = Ticks(snapshot.index.maximumSegmentDuration)
        return slates.withLock { slates in
            guard let known = slates else { return nil }
            let slate =
                known.made[longest]
                ?? BreakSlate(
                    known.source, longestSegment: longest, audio: known.audio, now: known.now, report: known.report)
            slates?.made[longest] = slate
            return slate
        }
    }
}
