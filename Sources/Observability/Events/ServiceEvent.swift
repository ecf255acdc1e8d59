package import Splice

/// An event that other programs may want to know of.
struct ServiceEvent: Equatable, Sendable {
    /// Greater than that of every event before, also of those of an earlier process.
    let id: UInt64
    /// Milliseconds since 1970.
    let time: Int64
    /// The channel's slug; nil if the event is of no channel, or the process has one channel only.
    let channel: String?
    let content: EventContent
}

/// What an event says. URLs are redacted, and texts are for people.
package enum EventContent: Equatable, Sendable {
    /// Why a channel was stopped.
    package enum StopReason: String, Equatable, Sendable {
        /// Nobody watches it, it left the list, or the process ends.
        case stopped
        /// Its upstream has ended.
        case ended
        case failed
    }

    /// What of a channel does not work.
    package enum Failure: String, Equatable, Sendable {
        /// The run is over.
        case failed
        /// Nothing has come from the upstream for so long that missing media is published as missing.
        case outage
        /// The spool accepts no segments.
        case spool
    }

    /// A connection that reads an endless stream.
    package struct Client: Equatable, Sendable {
        let number: UInt64
        let path: String
        let address: String?
        let userAgent: String?
    }

    case channelStart(url: String)
    case channelStop(StopReason, seconds: Double, receivedBytes: UInt64)
    case channelError(Failure, reason: String)
    case channelRecovery(Failure, seconds: Double?)
    /// `source` is 0 for the primary, backups count from 1.
    case channelFailover(source: Int, url: String)
    /// `mediaSequence` is the upstream's.
    case splice(PeriodDescription, mediaSequence: UInt64)
    case recordingStart(directory: String)
    case recordingEnd(directory: String)
    case clientConnect(Client)
    case clientDisconnect(Client, seconds: Double, sentBytes: UInt64)
    /// Numbers of channels.
    package struct ListChange: Equatable, Sendable {
        var added = 0
        var removed = 0
        var changed = 0
        var unchanged = 0
        /// Those that ran and had to end.
        var ended = 0

        package init(added: Int = 0, removed: Int = 0, changed: Int = 0, unchanged: Int = 0, ended: Int = 0) {
            self.added = added
            self.removed = removed
            self.changed = changed
            self.unchanged = unchanged
            self.ended = ended
        }
    }

    case listReload(source: String, ListChange)
    case listError(source: String, reason: String)

    var kind: EventKind {
        switch self {
        case .channelStart: .channelStart
        case .channelStop: .channelStop
        case .channelError: .channelError
        case .channelRecovery: .channelRecovery
        case .channelFailover: .channelFailover
        case .splice: .splice
        case .recordingStart: .recordingStart
        case .recordingEnd: .recordingEnd
        case .clientConnect: .clientConnect
        case .clientDisconnect: .clientDisconnect
        case .listReload: .listReload
        case .listError: .listError
        }
    }
}
