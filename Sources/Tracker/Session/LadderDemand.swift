/// The variants beside the leading one that are followed, by their index in `PlaylistLocator.furtherVideo`: on demand, those
/// that somebody asks for.
struct LadderDemand: Equatable, Sendable {
    /// How long a variant is followed after somebody asked for it.
    static let limit = Duration.seconds(60)

    /// Whether each is followed only while somebody asks for it. Of an upstream that is finished, all of them are.
    var isOnDemand: Bool
    private var askedAt: [Int: Duration] = [:]

    init(isOnDemand: Bool) { self.isOnDemand = isOnDemand }

    mutating func ask(for index: Int, at now: Duration) { askedAt[index] = now }

    func isWanted(_ index: Int, at now: Duration) -> Bool {
        !isOnDemand || askedAt[index].map { now - $0 < Self.limit } ?? false
    }

    /// The times at which variants have not been asked for long enough.
    var deadlines: [Duration] { askedAt.values.map { $0 + Self.limit } }
}
