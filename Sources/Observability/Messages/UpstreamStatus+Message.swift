import Fetch
import Support
import Tracker

extension UnpublishedReason {
    var message: String {
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
    var message: String {
        switch self {
        case .ended: "the upstream ended the connection"
        case .silent: "the connection was silent"
        case .refused: "another answer than a stream"
        case .failed(let reason): reason.message
        }
    }
}

extension SegmentLoss.Reason {
    var message: String {
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
    func message(at now: Duration) -> String {
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
    var sourceName: String { self == 0 ? "The upstream" : "Backup \(self)" }
}
