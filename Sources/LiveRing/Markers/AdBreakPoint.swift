package import Playlist
package import Support

/// The position of a segment relative to the signalled ad breaks, as known when the segment was published.
///
/// It never changes, so a playlist that replaces the segments of breaks never changes either.
package struct AdBreakPoint: Equatable, Sendable {
    /// Whether the middle of the segment is in a break.
    package var isInside = false
    /// Whether a break begins or ends before the segment, where the channel has no discontinuity.
    package var isEdge = false
    /// The number of such edges of the channel, up to this segment.
    package var edges: UInt64 = 0
}

extension AdBreakPoint {
    func followed(byInside isInside: Bool, isDiscontinuous: Bool) -> AdBreakPoint {
        let isEdge = isInside != self.isInside && !isDiscontinuous
        return AdBreakPoint(isInside: isInside, isEdge: isEdge, edges: edges + (isEdge ? 1 : 0))
    }
}

extension DateRange {
    /// The class of breaks that were found without a marker.
    private static let foundClass = "liverelay.break"

    /// Whether the upstream says that the range is an ad break.
    var isAdBreak: Bool { self[splice: .out] != nil || id.hasPrefix("cue-") || isInterstitial }

    /// Whether the range is a break found without a marker. Only viewers who ask for marks get it.
    package var isFoundBreak: Bool { className == Self.foundClass }

    /// The end of an ad break, as it is known or planned.
    var breakEnd: ProgramDateTime? {
        if isInterstitial { return interstitialEnd }
        return end ?? plannedDuration.flatMap { planned in startDate.map { $0.advanced(by: planned) } }
    }

    /// The class of times in which no process published.
    private static let absenceClass = "liverelay.absence"
    /// A shorter absence is that of a restart.
    private static let shortestAbsence = Duration.seconds(60)

    /// The time between the end of what an earlier process published and the first segment of the present one; nil if it
    /// is short.
    package init?(absenceFrom start: ProgramDateTime, to end: ProgramDateTime) {
        let length = Duration.milliseconds(end.milliseconds(since: start))
        guard length >= Self.shortestAbsence else { return nil }
        self.init(id: "absence-\(start.millisecondsSince1970)")
        attributes.set("CLASS", to: Self.absenceClass, isQuoted: true)
        (startDate, endDate) = (start, end)
        duration = length
    }

    /// - Parameter number: the media sequence number of the first segment after the break.
    init(found start: ProgramDateTime, to end: ProgramDateTime, before number: UInt64) {
        self.init(id: "break-\(number)")
        attributes.set("CLASS", to: Self.foundClass, isQuoted: true)
        startDate = start
        duration = .milliseconds(end.milliseconds(since: start))
    }
}
