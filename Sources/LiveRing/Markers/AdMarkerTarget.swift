import Playlist
package import Support

/// The segment that is published next, for the placement of ad markers.
package struct AdMarkerTarget: Equatable, Sendable {
    /// The published time of its first frame.
    package var date: ProgramDateTime
    /// The upstream segments that begin in it, in order.
    package var placements: [AdMarkerPlacement]
    package var splices: [PublishedSpliceCommand]

    package init(date: ProgramDateTime, placements: [AdMarkerPlacement] = [], splices: [PublishedSpliceCommand] = []) {
        self.date = date
        self.placements = placements
        self.splices = splices
    }
}
