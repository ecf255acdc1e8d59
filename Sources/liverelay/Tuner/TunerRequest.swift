/// What a path means to clients that take us for an HDHomeRun.
enum TunerRequest: Equatable, Sendable {
    /// `/discover.json`
    case discovery
    /// `/device.xml`
    case description
    /// `/lineup.json`
    case lineup
    /// `/lineup.m3u`
    case lineupList
    /// `/lineup_status.json`
    case lineupStatus
    /// `/lineup.post`: to scan for channels.
    case scan
    /// `/auto/v7` and `/tuner0/v7`. `tuner` is nil for any.
    case stream(channel: String, tuner: Int?)

    init?(path: String) {
        switch path {
        case "/discover.json": self = .discovery
        case "/device.xml": self = .description
        case "/lineup.json": self = .lineup
        case "/lineup.m3u": self = .lineupList
        case "/lineup_status.json": self = .lineupStatus
        case "/lineup.post": self = .scan
        default:
            guard let stream = Self.stream(path) else { return nil }
            self = stream
        }
    }

    private static func stream(_ path: String) -> TunerRequest? {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        // A channel of a list may be called tuner1 too, but no path below a channel begins with v.
        guard parts.count == 2, parts[1].first == "v" else { return nil }
        let channel = String(parts[1].dropFirst())
        if parts[0] == "auto" { return .stream(channel: channel, tuner: nil) }
        guard parts[0].hasPrefix("tuner"), let tuner = UInt8(parts[0].dropFirst(5)) else { return nil }
        return .stream(channel: channel, tuner: Int(tuner))
    }
}

/// An error as an HDHomeRun names it in `X-HDHomeRun-Error`.
enum TunerError: String, Sendable {
    case unknownChannel = "801 Unknown Channel"
    case tunersInUse = "805 All Tuners In Use"
    case tuneFailed = "806 Tune Failed"
    case noVideoData = "807 No Video Data"

    var header: HeaderField { HeaderField(name: "X-HDHomeRun-Error", value: rawValue) }
}
