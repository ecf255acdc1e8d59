import Playlist
import Splice
import Support

extension ServiceEvent {
    /// The event as one line of JSON.
    var json: String {
        var object = JSONObject()
        object.add("id", id)
        object.add("time", ProgramDateTime(millisecondsSince1970: time).text)
        object.add("type", content.kind.rawValue)
        object.add("channel", channel)
        content.add(to: &object)
        return object.text
    }
}

extension EventContent {
    fileprivate func add(to object: inout JSONObject) {
        switch self {
        case .channelStart, .channelStop, .channelError, .channelRecovery, .channelFailover:
            addChannelFields(to: &object)
        case .splice(let period, let mediaSequence): period.add(to: &object, mediaSequence: mediaSequence)
        case .recordingStart(let directory), .recordingEnd(let directory): object.add("directory", directory)
        case .clientConnect(let client): client.add(to: &object)
        case .clientDisconnect(let client, let seconds, let sentBytes):
            client.add(to: &object)
            object.add("seconds", seconds: seconds)
            object.add("sentBytes", sentBytes)
        case .listReload(let source, let change):
            object.add("source", source)
            change.add(to: &object)
        case .listError(let source, let reason):
            object.add("source", source)
            object.add("reason", reason)
        }
    }

    private func addChannelFields(to object: inout JSONObject) {
        switch self {
        case .channelStart(let url): object.add("url", url)
        case .channelStop(let reason, let seconds, let receivedBytes):
            object.add("reason", reason.rawValue)
            object.add("seconds", seconds: seconds)
            object.add("receivedBytes", receivedBytes)
        case .channelError(let failure, let reason):
            object.add("error", failure.rawValue)
            object.add("reason", reason)
        case .channelRecovery(let failure, let seconds):
            object.add("error", failure.rawValue)
            object.add("seconds", seconds: seconds)
        case .channelFailover(let source, let url):
            object.add("source", source)
            object.add("url", url)
        default: break
        }
    }
}

extension EventContent.ListChange {
    fileprivate func add(to object: inout JSONObject) {
        object.add("added", added)
        object.add("removed", removed)
        object.add("changed", changed)
        object.add("unchanged", unchanged)
        object.add("ended", ended)
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

extension PeriodDescription {
    fileprivate func add(to object: inout JSONObject, mediaSequence: UInt64) {
        object.add("cause", cause.rawValue)
        object.add("mediaSequence", mediaSequence)
        object.add("video", video?.codec)
        object.add("width", video?.width)
        object.add("height", video?.height)
        object.add("frameRate", video?.frameRate)
        object.add("audio", audioCodec)
    }
}
