/// The media types of all served resources (RFC 8216 §4 and §10, draft-pantos-hls-rfc8216bis §4).
enum MimeType: String, Sendable, CaseIterable {
    case playlist = "application/vnd.apple.mpegurl"
    /// A list of channels: some players judge it by this type alone.
    case channelList = "audio/x-mpegurl"
    case videoMP4 = "video/mp4"
    case audioMP4 = "audio/mp4"
    case transportStream = "video/mp2t"
    case webVTT = "text/vtt"
    case xml = "application/xml"
    case json = "application/json"
    /// RFC 9457.
    case problem = "application/problem+json"
    case text = "text/plain; charset=utf-8"

    /// The type for a file name by its extension, in any case; nil for an extension that is not served.
    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "m3u8": self = .playlist
        case "m3u": self = .channelList
        case "mp4", "m4s", "m4v", "cmfv": self = .videoMP4
        case "m4a", "cmfa": self = .audioMP4
        case "ts": self = .transportStream
        case "vtt": self = .webVTT
        case "xml": self = .xml
        case "json": self = .json
        case "txt": self = .text
        default: return nil
        }
    }
}
