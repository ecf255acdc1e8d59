package import Playlist

/// The variants that a recording followed beside the leading one.
package struct CapturedLadder: Equatable, Sendable {
    /// Somebody asked for a variant.
    package struct Demand: Equatable, Sendable {
        /// Time since the recording began, exact to the microsecond.
        package let at: Duration
        /// The text of the track's identity.
        package let track: String

        package init(at: Duration, track: String) {
            self.at = at
            self.track = track
        }
    }

    package var choice: LadderChoice
    /// Whether they were followed only while somebody asked for them.
    package var isOnDemand: Bool
    package var demands: [Demand]

    package init(_ choice: LadderChoice = .one, isOnDemand: Bool = false, demands: [Demand] = []) {
        self.choice = choice
        self.isOnDemand = isOnDemand
        self.demands = demands
    }
}
