import Decrypt
import LiveRing
import Media
package import Support
import Tracker

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

extension StatusReason {
    /// The reason for each audience.
    package var text: FailureText { FailureText(operatorText: message, viewerText: viewerText) }

    private var viewerText: String {
        switch self {
        case .stalled(let stall, let time): stall.viewerText(at: time)
        case .failed(let error): RelayError(error).exit.viewerText
        case .spool(let error):
            error.isDiskError ? "the disk does not take the channel" : ExitStatus.cannotSpool.viewerText
        }
    }
}

extension ChannelPipeline.SkipReason {
    package var message: String {
        switch self {
        case .undecryptable(let error): error.message
        case .unreadable(let error): error.message
        case .undecryptableSubtitles(let error): "its subtitles: \(error.message)"
        }
    }
}
