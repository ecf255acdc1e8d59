/// How often a node renews its record, and how long nodes wait for each other.
package struct FleetTiming: Equatable, Sendable {
    /// How long an owner may publish after it last renewed its record, and how long others wait.
    package var lease = Duration.seconds(6)
    /// The time between two renewals: a third of the lease.
    package var beat = Duration.seconds(2)
    /// The least average time between two renewals that segments ask for, and the most at once.
    package var spacing = Duration.seconds(1)
    package var burst = 4
    /// How much later each further node of a ranking takes a channel.
    package var spread = Duration.seconds(2)
    /// The least time between two channels that are moved to a node with more room.
    package var moveInterval = Duration.seconds(60)
    /// How long a node that leaves waits for another node to take a channel.
    package var handover = Duration.seconds(6)

    package init() {}

    /// Clocks of two machines may differ by a twelfth of a lease.
    var ownLease: Duration { lease - lease / 12 }
    var othersLease: Duration { lease + lease / 12 }
}
