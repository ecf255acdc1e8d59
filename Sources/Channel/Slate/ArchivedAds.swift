package import LiveRing
import Media

/// How the ad breaks of an archive are presented.
package struct ArchivedAds: Sendable {
    /// The longest segment of a slate where the target duration of the channel is not known.
    private static let longestSegment = Ticks.seconds(10)

    /// For viewers who do not ask for something else.
    package let presentation: AdPresentation
    /// The slate in the place of ad breaks; nil: there is none.
    package let slate: BreakSlate?

    /// As a channel that is relayed presents them.
    package init(_ presentation: AdPresentation, slate: BreakSlate?) {
        (self.presentation, self.slate) = (slate == nil && presentation == .slate ? .keep : presentation, slate)
    }

    /// As a channel that is not relayed is configured.
    package init(_ presentation: AdPresentation, slate: SlateSource?, audio: AudioSettings) {
        self.init(
            presentation,
            slate: slate.map { BreakSlate($0, longestSegment: Self.longestSegment, audio: audio) })
    }
}
