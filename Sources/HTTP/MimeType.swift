/// The media types of all served resources (RFC 8216 §4 and §10, draft-pantos-hls-rfc8216bis §4).
package enum MimeType: String, Sendable, CaseIterable {
    case playlist = "application/vnd.apple.mpegurl"
    /// A list of channels. Some players recognize it by this type alone.
    case channelList = "audio/x-mpegurl"
    case videoMP4 = "video/mp4"
    case audioMP4 = "audio/mp4"
    case matroska = "video/x-matroska"
    case transportStream = "video/mp2t"
    case webVTT = "text/vtt"
    case xml = "application/xml"
    case gzip = "application/gzip"
    case zip = "application/zip"
    case json = "application/json"
    /// Prometheus' text format.
    case metricsText = "text/plain; version=0.0.4; charset=utf-8"
    case openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    /// Server-Sent Events.
    case eventStream = "text/event-stream"
    /// RFC 9457.
    case problem = "application/problem+json"
    case text = "text/plain; charset=utf-8"
    case html = "text/html; charset=utf-8"
    case css = "text/css; charset=utf-8"
    case javaScript = "text/javascript; charset=utf-8"
    case svg = "image/svg+xml"
    case jpeg = "image/jpeg"

    /// The type for a file name by its extension, in any case; nil for an extension that is not served.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "m3u8": self = .playlist
        case "m3u": self = .channelList
        case "mp4", "m4s", "m4v", "cmfv": self = .videoMP4
        case "m4a", "cmfa": self = .audioMP4
        case "mkv": self = .matroska
        case "ts": self = .transportStream
        case "vtt": self = .webVTT
        case "xml": self = .xml
        case "gz": self = .gzip
        case "zip": self = .zip
        case "json": self = .json
        case "txt": self = .text
        case "html": self = .html
        case "css": self = .css
        case "js": self = .javaScript
        case "svg": self = .svg
        case "jpg": self = .jpeg
        default: return nil
        }
    }
}
