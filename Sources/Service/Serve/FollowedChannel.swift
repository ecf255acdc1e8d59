import Channel
import LiveRing

/// A channel whose ring another process publishes until it releases the ring.
actor FollowedChannel {
    /// How often the ring is looked at while nobody asks for it.
    private static let interval = Duration.milliseconds(100)

    private let state: ChannelState
    private var follower: RingFollower

    /// - Parameters:
    ///   - state: shows what is published.
    ///   - directory: the directory of the ring.
    init(_ state: ChannelState, in directory: String, policy: RetentionPolicy) {
        self.state = state
        follower = RingFollower(of: directory, policy: policy)
    }

    /// Reads what was published since the last call. Each request needs it: its client may have seen a newer playlist of the
    /// other process.
    func refresh() {
        if let snapshot = follower.nextSnapshot() { state.follow(snapshot) }
    }

    /// Follows the ring until `isOver` or the task is canceled.
    /// - Parameter onRead: called after each look at the directory.
    func run(until isOver: @Sendable () -> Bool, onRead: @Sendable () -> Void) async {
        while !isOver(), !Task.isCancelled {
            refresh()
            onRead()
            try? await Task.sleep(for: Self.interval)
        }
    }
}
