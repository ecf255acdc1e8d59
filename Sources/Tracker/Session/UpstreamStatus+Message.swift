import Fetch
import Support

extension UnpublishedReason {
    package var message: String {
        switch self {
        case .pending: "its segments do not arrive"
        case .lost(.slidOut): "its segments leave the playlist before they arrive"
        case .lost(.gap): "the upstream marks its segments as gaps"
        case .lost(let reason): "its segments do not arrive (\(reason.message))"
        case .undecryptable: "its segments do not decrypt, so the key is wrong"
        case .scrambled: "its packets are scrambled (conditional access)"
        case .unreadable: "there is no media in its segments that can be republished"
        case .foreignVideo(let codecs): "no video of its variant can be republished (\(codecs.joined(separator: ", ")))"
        case .noVideo: "there is no video in its segments that can be presented, or that was not published before"
        case .noRandomAccess:
            "decoding cannot begin with any of its video frames: no IDR picture, no recovery point and no I picture that "
                + "its stream announces"
        case .noAudio: "its audio does not arrive"
        case .noTables: "its packets come without a program: there is no PAT, or no PMT"
        case .frozenClock: "the times of its frames do not advance"
        }
    }
}

extension StreamBreak {
    package var message: String {
        switch self {
        case .ended: "the upstream ended the connection"
        case .silent: "the connection was silent"
        case .refused: "another answer than a stream"
        case .failed(let reason): reason.message
        }
    }
}

extension SegmentLoss.Reason {
    package var message: String {
        switch self {
        case .slidOut: "they left the playlist before they were fetched"
        case .tooMany: "more are listed at once than --memory-limit has room for"
        case .gap: "the upstream lists them as a gap"
        case .late: "they came when their time had been listed as a gap"
        case .neverSent: "no connection brought them"
        case .unavailable(let failure): Self.message(failure)
        case .notMedia: "the answer was no media"
        case .keyUnavailable(let url, let failure):
            "their key \(url.redacted) did not arrive (\(Self.message(failure)))"
        }
    }

    private static func message(_ failure: FetchFailure?) -> String { failure?.message ?? "no answer yet" }
}

extension UpstreamStatus.Stall {
    /// The cause of a stall, as a sentence for an operator.
    package func message(at now: Duration) -> String {
        let silence = (now - since).secondsText
        switch cause {
        case .opening(let error): return error.map { RelayError($0).message } ?? "the upstream gives no playlist"
        case .playlist(let error):
            return "nothing new listed for \(silence)" + (error.map { ": \(RelayError($0).message)" } ?? "")
        case .media(let reason): return "nothing could be published for \(silence): \(reason.message)"
        case .sourceLost(let source, let error):
            return error.map { RelayError($0).message } ?? "\(source.sourceName) has ended, \(silence) ago"
        }
    }
}

extension Int {
    /// The name of the source with this number, at the beginning of a sentence.
    package var sourceName: String { self == 0 ? "The upstream" : "Backup \(self)" }
}

extension UpstreamStatus.Stall {
    /// The class of a stall: durations and statuses, and no text from outside.
    package func viewerText(at now: Duration) -> String {
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
