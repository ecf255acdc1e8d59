/// Whether an upstream's segments end where its groups of pictures do, learnt from where they begin.
///
/// What is published cannot be taken back, so as long as nobody knows, a segment is held until the next one has begun. At
/// a join that costs nothing: several segments come at once. Each time the upstream breaks what was believed of it, it has
/// to show twice as many clean borders, up to a bound: one late picture is no delay for ever.
struct GroupHabit: Equatable, Sendable {
    static let mostDoubt = 32
    /// A tail that looked unfinished and was not, so many times in a row, is the way this upstream counts time.
    static let mostFalseAlarms = 3

    enum Hold: Equatable, Sendable {
        case nothing
        /// Until it is known how the next one begins.
        case segment
        /// Segments are cut in the middle of groups: what follows the last sync sample goes with the next one.
        case lastGroup
    }

    private var cleanBorders = 0
    private var cleanBordersNeeded = 1
    private var falseAlarms = 0
    private var isAlarmed = false
    private var cutsMidGroup = false

    /// What is held of a segment.
    var hold: Hold {
        if cutsMidGroup { return .lastGroup }
        return cleanBorders >= cleanBordersNeeded && !isAlarmed ? .nothing : .segment
    }

    /// A segment of the same run followed.
    mutating func learn(beginsWithSync: Bool) {
        if isAlarmed { falseAlarms = beginsWithSync ? falseAlarms + 1 : 0 }
        if beginsWithSync {
            cleanBorders = min(cleanBorders + 1, Self.mostDoubt)
            if cleanBorders >= cleanBordersNeeded { cutsMidGroup = false }
        } else {
            if cleanBorders >= cleanBordersNeeded { cleanBordersNeeded = min(cleanBordersNeeded * 2, Self.mostDoubt) }
            cleanBorders = 0
            cutsMidGroup = true
        }
    }

    /// - Parameter isClosed: every picture that is shown before the last one decoded has come.
    mutating func noteTail(isClosed: Bool) { isAlarmed = !isClosed && falseAlarms < Self.mostFalseAlarms }
}
