import Channel
import Conformance
import Splice
package import Support

/// An event for other programs.
struct ServiceEvent: Equatable, Sendable {
    /// Greater than the ID of every earlier event, including events of an earlier process.
    let id: UInt64
    /// Milliseconds since 1970.
    let time: Int64
    /// The channel's slug; nil if the event belongs to no channel, or the process has one channel only.
    let channel: String?
    let content: EventContent

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
    case channelFinding = "channel_finding"
    case splice
    case captureStart = "capture_start"
    case captureEnd = "capture_end"
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

/// The content of an event. Each type has a function that sets its JSON members. URLs are redacted, and texts are for
/// people.
package struct EventContent: Equatable, Sendable {
    /// Why a channel was stopped.
    package enum StopReason: String, Equatable, Sendable {
        /// Nobody watches the channel, the channel left the list, or the process ends.
        case stopped
        /// The channel's upstream has ended.
        case ended
        case failed
    }

    /// The part of a channel that failed.
    enum Failure: String, Equatable, Sendable {
        /// The run has ended with an error.
        case failed
        /// Nothing has arrived from the upstream for so long that gaps are published in place of missing media.
        case outage
        /// The spool accepts no segments.
        case spool
    }

    /// A connection that reads an endless stream.
    package struct Client: Equatable, Sendable {
        package let number: UInt64
        package let path: String
        package let address: String?
        package let userAgent: String?
    }

    let kind: EventKind
    fileprivate let members: JSONObject

    private init(_ kind: EventKind, _ members: [(name: String, value: (any EventMember)?)]) {
        self.kind = kind
        var object = JSONObject()
        for (name, value) in members { value?.add(to: &object, as: name) }
        self.members = object
    }
}

extension EventContent {
    static func channelStart(url: String) -> EventContent { EventContent(.channelStart, [("url", url)]) }

    static func channelStop(_ reason: StopReason, seconds: Double, receivedBytes: UInt64) -> EventContent {
        EventContent(
            .channelStop, [("reason", reason.rawValue), ("seconds", seconds), ("receivedBytes", receivedBytes)])
    }

    static func channelError(_ failure: Failure, reason: String) -> EventContent {
        EventContent(.channelError, [("error", failure.rawValue), ("reason", reason)])
    }

    static func channelRecovery(_ failure: Failure, seconds: Double?) -> EventContent {
        EventContent(.channelRecovery, [("error", failure.rawValue), ("seconds", seconds)])
    }

    /// - Parameter source: 0 for the primary; backups count from 1.
    static func channelFailover(source: Int, url: String) -> EventContent {
        EventContent(.channelFailover, [("source", source), ("url", url)])
    }

    static func channelFinding(_ side: FindingSide, _ entry: RuleTally.Entry) -> EventContent {
        EventContent(
            .channelFinding,
            [
                ("side", side.rawValue), ("rule", entry.rule.rawValue), ("name", entry.rule.name), ("text", entry.text),
                ("count", entry.count), ("lastHour", entry.lastHour),
            ])
    }

    /// - Parameter mediaSequence: the upstream's media sequence number.
    static func splice(_ period: PeriodDescription, mediaSequence: UInt64) -> EventContent {
        let video = period.video
        return EventContent(
            .splice,
            [
                ("cause", period.cause.rawValue), ("mediaSequence", mediaSequence), ("video", video?.codec),
                ("width", video?.width), ("height", video?.height), ("frameRate", video?.frameRate),
                ("audio", period.audioCodec),
            ])
    }

    static func captureStart(directory: String) -> EventContent {
        EventContent(.captureStart, [("directory", directory)])
    }

    static func captureEnd(directory: String) -> EventContent {
        EventContent(.captureEnd, [("directory", directory)])
    }

    /// - Parameters:
    ///   - recording: the ID of a requested recording.
    ///   - name: the recording's name for people.
    package static func recordingPlan(
        recording: Int, name: String, start: ProgramDateTime, end: ProgramDateTime
    ) -> EventContent {
        EventContent(
            .recordingPlan, [("recording", recording), ("name", name), ("start", start.text), ("end", end.text)])
    }

    package static func recordingStart(file: String, recording: Int? = nil) -> EventContent {
        EventContent(.recordingStart, [("recording", recording), ("file", file)])
    }

    package static func recordingPause(file: String?, recording: Int? = nil, reason: String) -> EventContent {
        EventContent(.recordingPause, [("recording", recording), ("file", file), ("reason", reason)])
    }

    package static func recordingResume(file: String?, recording: Int? = nil) -> EventContent {
        EventContent(.recordingResume, [("recording", recording), ("file", file)])
    }

    package static func recordingClose(file: String, recording: Int? = nil) -> EventContent {
        EventContent(.recordingClose, [("recording", recording), ("file", file)])
    }

    /// - Parameter note: why the file has another format than requested.
    package static func recordingEnd(file: String, recording: Int? = nil, note: String?) -> EventContent {
        EventContent(.recordingEnd, [("recording", recording), ("file", file), ("note", note)])
    }

    package static func recordingError(recording: Int, reason: String) -> EventContent {
        EventContent(.recordingError, [("recording", recording), ("reason", reason)])
    }

    package static func archiveError(reason: String) -> EventContent {
        EventContent(.archiveError, [("reason", reason)])
    }

    package static func archiveRecovery(seconds: Double) -> EventContent {
        EventContent(.archiveRecovery, [("seconds", seconds)])
    }

    /// - Parameter numbers: the first and the last media sequence number.
    package static func archiveLoss(
        segments: Int, numbers: ClosedRange<UInt64>, from start: ProgramDateTime, to end: ProgramDateTime
    ) -> EventContent {
        EventContent(
            .archiveLoss,
            [
                ("segments", segments), ("first", numbers.lowerBound), ("last", numbers.upperBound),
                ("start", start.text), ("end", end.text),
            ])
    }

    static func clientConnect(_ client: Client) -> EventContent { EventContent(.clientConnect, client.members) }

    static func clientDisconnect(_ client: Client, seconds: Double, sentBytes: UInt64) -> EventContent {
        EventContent(.clientDisconnect, client.members + [("seconds", seconds), ("sentBytes", sentBytes)])
    }

    /// - Parameters:
    ///   - added, removed, changed, unchanged: numbers of channels.
    ///   - ended: channels that ran and had to end.
    package static func listReload(
        source: String, added: Int = 0, removed: Int = 0, changed: Int = 0, unchanged: Int = 0, ended: Int = 0
    ) -> EventContent {
        EventContent(
            .listReload,
            [
                ("source", source), ("added", added), ("removed", removed), ("changed", changed),
                ("unchanged", unchanged), ("ended", ended),
            ])
    }

    package static func listError(source: String, reason: String) -> EventContent {
        EventContent(.listError, [("source", source), ("reason", reason)])
    }
}

extension EventContent.Client {
    fileprivate var members: [(name: String, value: (any EventMember)?)] {
        [("client", number), ("path", path), ("address", address), ("userAgent", userAgent)]
    }
}

private protocol EventMember {
    func add(to object: inout JSONObject, as name: String)
}

extension String: EventMember {
    fileprivate func add(to object: inout JSONObject, as name: String) { object.add(name, redactingURLs) }
}

extension FixedWidthInteger {
    fileprivate func add(to object: inout JSONObject, as name: String) { object.add(name, self) }
}

extension Int: EventMember {}
extension UInt64: EventMember {}

extension Double: EventMember {
    fileprivate func add(to object: inout JSONObject, as name: String) { object.add(name, seconds: self) }
}
