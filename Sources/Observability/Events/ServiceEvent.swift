import Splice
package import Support

/// An event that other programs may want to know of.
struct ServiceEvent: Equatable, Sendable {
    /// Greater than that of every event before, also of those of an earlier process.
    let id: UInt64
    /// Milliseconds since 1970.
    let time: Int64
    /// The channel's slug; nil if the event is of no channel, or the process has one channel only.
    let channel: String?
    let content: EventContent

    /// The event as one line of JSON.
    var json: String {
        var object = JSONObject()
        object.add("id", id)
        object.add("time", ProgramDateTime(millisecondsSince1970: time).text)
        object.add("type", content.kind.rawValue)
        object.add("channel", channel)
        object.add(membersOf: content.members)
        return object.text
    }
}

/// The types of events, by their published names.
package enum EventKind: String, CaseIterable, Hashable, Sendable {
    case channelStart = "channel_start"
    case channelStop = "channel_stop"
    case channelError = "channel_error"
    case channelRecovery = "channel_recovery"
    case channelFailover = "channel_failover"
    case splice
    case recordingPlan = "recording_plan"
    case recordingStart = "recording_start"
    case recordingPause = "recording_pause"
    case recordingResume = "recording_resume"
    case recordingClose = "recording_close"
    case recordingEnd = "recording_end"
    case recordingError = "recording_error"
    case archiveError = "archive_error"
    case archiveRecovery = "archive_recovery"
    case archiveLoss = "archive_loss"
    case clientConnect = "client_connect"
    case clientDisconnect = "client_disconnect"
    case listReload = "list_reload"
    case listError = "list_error"

    /// All types, separated by commas.
    package static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The content of an event: a function for each type, with its members in JSON. URLs are redacted, and texts are for people.
package struct EventContent: Equatable, Sendable {
    /// Why a channel was stopped.
    package enum StopReason: String, Equatable, Sendable {
        /// Nobody watches it, it left the list, or the process ends.
        case stopped
        /// Its upstream has ended.
        case ended
        case failed
    }

    /// The part of a channel that does not work.
    enum Failure: String, Equatable, Sendable {
        /// The run is over.
        case failed
        /// Nothing has come from the upstream for so long that missing media is published as missing.
        case outage
        /// The spool accepts no segments.
        case spool
    }

    /// A connection that reads an endless stream.
    struct Client: Equatable, Sendable {
        let number: UInt64
        let path: String
        let address: String?
        let userAgent: String?
    }

    let kind: EventKind
    fileprivate let members: JSONObject

    private init(_ kind: EventKind, _ add: (inout JSONObject) -> Void) {
        self.kind = kind
        var members = JSONObject()
        add(&members)
        self.members = members
    }
}

extension EventContent {
    static func channelStart(url: String) -> EventContent {
        EventContent(.channelStart) { $0.add("url", url) }
    }

    static func channelStop(_ reason: StopReason, seconds: Double, receivedBytes: UInt64) -> EventContent {
        EventContent(.channelStop) {
            $0.add("reason", reason.rawValue)
            $0.add("seconds", seconds: seconds)
            $0.add("receivedBytes", receivedBytes)
        }
    }

    static func channelError(_ failure: Failure, reason: String) -> EventContent {
        EventContent(.channelError) {
            $0.add("error", failure.rawValue)
            $0.add("reason", reason)
        }
    }

    static func channelRecovery(_ failure: Failure, seconds: Double?) -> EventContent {
        EventContent(.channelRecovery) {
            $0.add("error", failure.rawValue)
            $0.add("seconds", seconds: seconds)
        }
    }

    /// - Parameter source: 0 for the primary; backups count from 1.
    static func channelFailover(source: Int, url: String) -> EventContent {
        EventContent(.channelFailover) {
            $0.add("source", source)
            $0.add("url", url)
        }
    }

    /// - Parameter mediaSequence: the upstream's.
    static func splice(_ period: PeriodDescription, mediaSequence: UInt64) -> EventContent {
        EventContent(.splice) {
            $0.add("cause", period.cause.rawValue)
            $0.add("mediaSequence", mediaSequence)
            $0.add("video", period.video?.codec)
            $0.add("width", period.video?.width)
            $0.add("height", period.video?.height)
            $0.add("frameRate", period.video?.frameRate)
            $0.add("audio", period.audioCodec)
        }
    }

    static func recordingStart(directory: String) -> EventContent {
        EventContent(.recordingStart) { $0.add("directory", directory) }
    }

    static func recordingEnd(directory: String) -> EventContent {
        EventContent(.recordingEnd) { $0.add("directory", directory) }
    }

    /// - Parameters:
    ///   - recording: the ID of a recording that a request asked for.
    ///   - name: what people call it.
    package static func recordingPlan(
        recording: Int, name: String, start: ProgramDateTime, end: ProgramDateTime
    ) -> EventContent {
        EventContent(.recordingPlan) {
            $0.add("recording", recording)
            $0.add("name", name)
            $0.add("start", start.text)
            $0.add("end", end.text)
        }
    }

    package static func recordingStart(file: String, recording: Int? = nil) -> EventContent {
        EventContent(.recordingStart) {
            $0.add("recording", recording)
            $0.add("file", file)
        }
    }

    package static func recordingPause(file: String?, recording: Int? = nil, reason: String) -> EventContent {
        EventContent(.recordingPause) {
            $0.add("recording", recording)
            $0.add("file", file)
            $0.add("reason", reason)
        }
    }

    package static func recordingResume(file: String?, recording: Int? = nil) -> EventContent {
        EventContent(.recordingResume) {
            $0.add("recording", recording)
            $0.add("file", file)
        }
    }

    package static func recordingClose(file: String, recording: Int? = nil) -> EventContent {
        EventContent(.recordingClose) {
            $0.add("recording", recording)
            $0.add("file", file)
        }
    }

    /// - Parameter note: why the file has another form than was asked for.
    package static func recordingEnd(file: String, recording: Int? = nil, note: String?) -> EventContent {
        EventContent(.recordingEnd) {
            $0.add("recording", recording)
            $0.add("file", file)
            $0.add("note", note)
        }
    }

    package static func recordingError(recording: Int, reason: String) -> EventContent {
        EventContent(.recordingError) {
            $0.add("recording", recording)
            $0.add("reason", reason)
        }
    }

    package static func archiveError(reason: String) -> EventContent {
        EventContent(.archiveError) { $0.add("reason", reason) }
    }

    package static func archiveRecovery(seconds: Double) -> EventContent {
        EventContent(.archiveRecovery) { $0.add("seconds", seconds: seconds) }
    }

    /// - Parameter numbers: the first and the last media sequence number.
    package static func archiveLoss(
        segments: Int, numbers: ClosedRange<UInt64>, from start: ProgramDateTime, to end: ProgramDateTime
    ) -> EventContent {
        EventContent(.archiveLoss) {
            $0.add("segments", segments)
            $0.add("first", numbers.lowerBound)
            $0.add("last", numbers.upperBound)
            $0.add("start", start.text)
            $0.add("end", end.text)
        }
    }

    static func clientConnect(_ client: Client) -> EventContent {
        EventContent(.clientConnect) { client.add(to: &$0) }
    }

    static func clientDisconnect(_ client: Client, seconds: Double, sentBytes: UInt64) -> EventContent {
        EventContent(.clientDisconnect) {
            client.add(to: &$0)
            $0.add("seconds", seconds: seconds)
            $0.add("sentBytes", sentBytes)
        }
    }

    /// - Parameters:
    ///   - added, removed, changed, unchanged: numbers of channels.
    ///   - ended: channels that ran and had to end.
    package static func listReload(
        source: String, added: Int = 0, removed: Int = 0, changed: Int = 0, unchanged: Int = 0, ended: Int = 0
    ) -> EventContent {
        EventContent(.listReload) {
            $0.add("source", source)
            $0.add("added", added)
            $0.add("removed", removed)
            $0.add("changed", changed)
            $0.add("unchanged", unchanged)
            $0.add("ended", ended)
        }
    }

    package static func listError(source: String, reason: String) -> EventContent {
        EventContent(.listError) {
            $0.add("source", source)
            $0.add("reason", reason)
        }
    }
}

extension EventContent.Client {
    fileprivate func add(to object: inout JSONObject) {
        object.add("client", number)
        object.add("path", path)
        object.add("address", address)
        object.add("userAgent", userAgent)
    }
}
