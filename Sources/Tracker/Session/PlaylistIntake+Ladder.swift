import Media

// Variants on demand.

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
