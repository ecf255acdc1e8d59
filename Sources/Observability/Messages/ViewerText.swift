package import Channel
import LiveRing
package import Support
import Tracker

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

extension UpstreamStatus.Stall {
    /// The class of a stall: durations and statuses, and no text from outside.
    fileprivate func viewerText(at now: Duration) -> String {
        let silence = (now - since).secondsText
        switch cause {
        case .opening(let error): return error?.viewerText ?? "the upstream gives no playlist"
        case .playlist(let error):
            return "nothing new listed for \(silence)" + (error.map { ": \($0.viewerText)" } ?? "")
        case .media(let reason): return "nothing could be published for \(silence): \(reason.viewerText)"
        case .sourceLost(let source, let error):
            return error?.viewerText ?? "\(source.sourceName) has ended, \(silence) ago"
        }
    }
}

extension TrackerError {
    fileprivate var viewerText: String {
        if case .refused(let status) = reason {
            "the upstream answers HTTP \(status)"
        } else {
            RelayError(self).exit.viewerText
        }
    }
}

extension UnpublishedReason {
    fileprivate var viewerText: String {
        // Only the reason of a loss may name a URL (the URL of its key) or an IP address.
        if case .lost(let reason) = self, reason.mayNameUpstream { "its segments do not arrive" } else { message }
    }
}

extension SegmentLoss.Reason {
    fileprivate var mayNameUpstream: Bool {
        switch self {
        case .unavailable, .keyUnavailable: true
        case .slidOut, .tooMany, .gap, .late, .neverSent, .notMedia: false
        }
    }
}
