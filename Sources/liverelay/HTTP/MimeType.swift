/// The media types of everything that is served (RFC 8216 §4 and §10, and draft-pantos-hls-rfc8216bis §4).
enum MimeType: String, Sendable, CaseIterable {
    case playlist = "application/vnd.apple.mpegurl"
    case videoMP4 = "video/mp4"
    case audioMP4 = "audio/mp4"
    case webVTT = "text/vtt"
    case json = "application/json"
    case html = "text/html; charset=utf-8"
    case text = "text/plain; charset=utf-8"
    /// Prometheus text exposition, version 0.0.4.
    case metrics = "text/plain; version=0.0.4; charset=utf-8"
    case javaScript = "text/javascript; charset=utf-8"
    case css = "text/css; charset=utf-8"
    case svg = "image/svg+xml"
    case jpeg = "image/jpeg"

    /// The type of a name by what follows its last dot, in any case; nil for a name we would not serve.
    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "m3u8": self = .playlist
        case "mp4", "m4s", "m4v", "cmfv": self = .videoMP4
        case "m4a", "cmfa": self = .audioMP4
        case "vtt": self = .webVTT
        case "json": self = .json
        case "html": self = .html
        case "txt": self = .text
        case "js": self = .javaScript
        case "css": self = .css
        case "svg": self = .svg
        case "jpg", "jpeg": self = .jpeg
        default: return nil
        }
    }
}
