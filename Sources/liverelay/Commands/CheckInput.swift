import Capture
import Fetch
import Foundation
import Support

/// The input of `liverelay check`.
enum CheckInput {
    enum Channel: Sendable {
        /// The URL of a playlist, over HTTP or of a file.
        case playlist(String)
        case capture(CaptureDirectory)
    }

    case channel(Channel)
    case stream(CheckSource)

    /// - Parameter maxBytes: the largest answer of a stream that is accepted.
    static func find(_ input: String, maxBytes: Int, _ configuration: CurlConfiguration) async throws -> CheckInput {
        if input.contains("://") {
            let path = URIReference.withoutQuery(input).lowercased()
            if path.hasSuffix(".m3u8") || path.hasSuffix(".m3u") { return .channel(.playlist(input)) }
            let source = try await CheckSource(input, maxBytes: maxBytes, configuration)
            return source.isPlaylist ? .channel(.playlist(input)) : .stream(source)
        }
        if input == "-" { return .stream(try await CheckSource(input, maxBytes: maxBytes, configuration)) }
        var isDirectory: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: input, isDirectory: &isDirectory), isDirectory.boolValue {
            return .channel(.capture(try CaptureDirectory(argument: input)))
        }
        let source = try await CheckSource(input, maxBytes: maxBytes, configuration)
        guard let file = FileHandle(forReadingAtPath: input), let beginning = try? file.read(upToCount: 1024),
            CheckSource.isPlaylist(Array(beginning))
        else { return .stream(source) }
        return .channel(.playlist(FileURL.text(ofPath: URL(filePath: input).standardizedFileURL.path)))
    }
}
