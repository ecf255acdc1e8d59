package import Channel
import Fetch
package import Support

extension RelayError {
    package init(_ error: ChannelError) {
        switch error {
        case .undecryptable(let error, let segments, let url): self.init(error, url: url, failures: segments)
        case .unusable(let error, let segments, let isEncrypted, let url):
            self.init(error, url: url, failures: segments, isEncrypted: isEncrypted)
        case .empty(let findings, let url): self.init(findings, url: url)
        case .upstream(let error): self.init(error)
        case .spool(let error): self.init(error)
        case .slate(let error): self.init(error)
        case .canceled: self.init(.internalError, "The channel was canceled", advice: "Please report it")
        }
    }

    init(_ error: SlateError) {
        let path = error.path
        let recipe = "Make one with: ffmpeg -i … -r 25 -c:v libx264 -g 50 -pix_fmt yuv420p -c:a aac slate.mp4"
        switch error.reason {
        case .file(.system(let code)):
            self.init(.badSlate, "The slate \(path) cannot be read (errno \(code))", advice: "Check --slate")
        case .file(.notAFile):
            self.init(.badSlate, "The slate \(path) is no file", advice: "Give an MP4 file as --slate")
        case .file(.changed):
            self.init(
                .badSlate, "The slate \(path) was written over while it was read",
                advice: "Replace a slate by renaming another file over it")
        case .media(let error):
            self.init(.badSlate, "The slate \(path) cannot be shown: \(error.message)", advice: recipe)
        }
    }
}

extension SlateSource {
    /// Opens the file that `--slate` names.
    /// - Returns: nil if `path` is nil.
    package static func open(_ path: String?) throws(RelayError) -> SlateSource? {
        guard let path else { return nil }
        do throws(SlateError) { return try SlateSource(path) } catch { throw RelayError(error) }
    }
}

extension StatusReason {
    /// The reason as a sentence for an operator.
    package var message: String {
        switch self {
        case .stalled(let stall, let time): stall.message(at: time)
        case .failed(let error): RelayError(error).line
        case .spool(let error): error.message
        }
    }
}

extension ChannelPipeline.SkipReason {
    var message: String {
        switch self {
        case .undecryptable(let error): error.message
        case .unreadable(let error): error.message
        case .undecryptableSubtitles(let error): "its subtitles: \(error.message)"
        }
    }
}
