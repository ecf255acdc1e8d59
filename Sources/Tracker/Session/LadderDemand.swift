import Media

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

extension PlaylistIntake {
    /// Records that somebody asks for the variant that is nearest to a track of the channel.
    mutating func demand(_ track: VideoTrackIdentity, at now: Duration) {
        guard let index = track.nearest(among: locator.furtherVideo.map(\.trackIdentity)) else { return }
        ladder.ask(for: index, at: now)
    }

    /// Follows the variants beside the leading one that are wanted, and no others.
    func updateLadder(_ media: inout MediaIntake, at now: Duration) {
        guard policy.followsLadderOnDemand, policy.fetchesMedia, media.renditions.first?.isJoined == true else {
            return
        }
        for index in locator.furtherVideo.indices {
            let role = RenditionRole.furtherVideo(index)
            let isWanted = ladder.isWanted(index, at: now)
            let isFollowed = media.renditions.contains { $0.role == role }
            if isWanted, !isFollowed, let url = locator.urls?[role] {
                media.insert(makeTracker(role, url, at: now))
            } else if !isWanted, isFollowed {
                media.remove(role)
            }
        }
    }
}
