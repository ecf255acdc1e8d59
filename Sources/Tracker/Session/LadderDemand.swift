/// The variants beside the leading one that somebody asks for, by their index in `PlaylistLocator.furtherVideo`.
struct LadderDemand: Equatable, Sendable {
    /// How long a variant is followed after somebody asked for it.
    static let limit = Duration.seconds(60)

    private var askedAt: [Int: Duration] = [:]

    mutating func ask(for index: Int, at now: Duration) { askedAt[index] = now }

    func isAsked(for index: Int, at now: Duration) -> Bool {
        askedAt[index].map { now - $0 < Self.limit } ?? false
    }

    /// The times at which variants have not been asked for long enough.
    var deadlines: [Duration] { askedAt.values.map { $0 + Self.limit } }
}
