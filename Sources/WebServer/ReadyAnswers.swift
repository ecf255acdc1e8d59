import HTTP
import NIOCore
import Synchronization

/// Answers as they are sent, head and body. An answer that many clients get within a second is written once.
///
/// Only whole answers from memory are kept that a cache of the responder holds, such as playlists. An answer of another
/// second, which its `Date` states, drops all.
final class ReadyAnswers: Sendable {
    /// The largest body that is kept, in bytes.
    static let bodyLimit = 64 << 10
    /// The most bytes that are kept, with the bodies before their compression.
    static let byteLimit = 4 << 20

    struct Ready {
        fileprivate let response: Response
        let bytes: ByteBuffer
        let bodyByteCount: Int
    }

    /// The form of an answer. Two requests with the same variant get the same bytes.
    enum Variant: Hashable {
        case identity, gzip
    }

    fileprivate struct Key: Hashable {
        let body: ObjectIdentifier
        let variant: Variant
    }

    private struct State {
        var second = 0
        var byteCount = 0
        var answers: [Key: Ready] = [:]
    }

    private let state = Mutex(State())

    /// The bytes for a response, if they were written in the same second.
    func find(_ response: Response, _ variant: Variant, second: Int) -> Ready? {
        guard let key = Key(response, variant) else { return nil }
        return state.withLock { state in
            guard state.second == second, let ready = state.answers[key], ready.response == response else { return nil }
            return ready
        }
    }

    func keep(_ bytes: ByteBuffer, bodyByteCount: Int, of response: Response, _ variant: Variant, second: Int) {
        guard let key = Key(response, variant), case .bytes(let body, gzip: _) = response.body,
            bodyByteCount <= Self.bodyLimit, body.count <= Self.byteLimit / 16
        else { return }
        let byteCount = bytes.readableBytes + body.count
        state.withLock { state in
            if state.second != second || state.byteCount + byteCount > Self.byteLimit { state = State(second: second) }
            state.byteCount += byteCount
            state.answers[key] = Ready(response: response, bytes: bytes, bodyByteCount: bodyByteCount)
        }
    }

    /// The bytes that are kept, for tests.
    var byteCount: Int { state.withLock { $0.byteCount } }
}

extension ReadyAnswers.Key {
    /// nil if no other client will get the same answer: no cache holds an answer of another node.
    fileprivate init?(_ response: Response, _ variant: ReadyAnswers.Variant) {
        guard response.status == .ok, response.held == nil, !response.isPassed,
            case .bytes(_, gzip: let gzip?) = response.body
        else { return nil }
        self.init(body: ObjectIdentifier(gzip), variant: variant)
    }
}
