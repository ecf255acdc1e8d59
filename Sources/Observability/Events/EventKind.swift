/// The types of events, by their published names.
enum EventKind: String, CaseIterable, Hashable, Sendable {
    case channelStart = "channel_start"
    case channelStop = "channel_stop"
    case channelError = "channel_error"
    case channelRecovery = "channel_recovery"
    case channelFailover = "channel_failover"
    case splice
    case recordingStart = "recording_start"
    case recordingEnd = "recording_end"
    case clientConnect = "client_connect"
    case clientDisconnect = "client_disconnect"
    case listReload = "list_reload"
    case listError = "list_error"
}
