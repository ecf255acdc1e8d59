import Playlist

// What counts as the media, the key or the map that was asked for, and what as a failed try.

/// Why one try brought nothing.
package enum FetchFailure: Error, Equatable, Sendable {
    case refused(status: Int)
    /// `address` is the host's, when it is denied for that.
    case unreachable(FetchError.Reason, address: String? = nil)
    /// A page of HTML or XML, a JSON answer, or a playlist.
    case notMedia
    case empty
    /// Fewer bytes than the range asked for.
    case shortRange
    /// It ended with its connection, in the middle of a packet, a box or a cipher block.
    case truncated

    /// The answer's status, nil when there was none or it was a success.
    package var status: Int? {
        if case .refused(let status) = self { status } else { nil }
    }

    var lossReason: SegmentLoss.Reason {
        switch self {
        case .notMedia, .empty: .notMedia
        case .refused, .unreachable, .shortRange, .truncated: .unavailable(status: status)
        }
    }

    var prospect: RetryBudget.Prospect {
        switch self {
        case .refused(let status) where status.isRateLimitStatus: .hostLimited
        case .refused(status: 401), .refused(status: 403), .refused(status: 410): .newURL
        case .unreachable(let reason, _) where reason.isFinal: .none
        case .refused, .unreachable, .notMedia, .empty, .shortRange, .truncated: .open
        }
    }
}

/// A try that brought nothing, and how it stands with the thing asked for.
struct FailedAttempt: Equatable, Sendable {
    let failure: FetchFailure
    /// By now, this one included.
    let failures: Int
    /// There is no further try.
    let isLast: Bool
}

extension FetchRequest {
    /// The bytes asked for and the address they came from.
    ///
    /// An origin that does not know ranges answers 200 with the whole file: the range is cut from it here.
    ///
    /// - Parameters:
    ///   - isEncrypted: with AES-128, as a whole.
    ///   - believesEnd: take what looks cut short, because nothing better came.
    func media(
        in outcome: FetchOutcome, isEncrypted: Bool = false, acceptsTruncated: Bool = false
    ) throws(FetchFailure) -> (body: [UInt8], url: String) {
        let answer: FetchAnswer
        switch outcome {
        case .success(let whole): answer = whole
        case .failure(let error):
            throw .unreachable(error.reason, address: error.reason == .privateAddress ? error.message : nil)
        }
        guard (200..<300).contains(answer.status) else { throw .refused(status: answer.status) }
        if answer.body.isEmpty { throw .empty }
        if answer.body.looksLikeText, purpose != .key || answer.body.count != keySize { throw .notMedia }
        let body = try requestedBytes(of: answer)
        if answer.endsAtClose, !acceptsTruncated, purpose != .key, body.isTruncated(isEncrypted: isEncrypted) {
            throw .truncated
        }
        return (body, answer.finalURL)
    }

    private func requestedBytes(of answer: FetchAnswer) throws(FetchFailure) -> [UInt8] {
        guard let byteRange else { return answer.body }
        guard answer.body.count >= byteRange.length else { throw .shortRange }
        if answer.status == 206 || answer.body.count == byteRange.length { return answer.body }
        let (end, overflows) = byteRange.offset.addingReportingOverflow(byteRange.length)
        guard !overflows, end <= answer.body.count else { throw .shortRange }
        return Array(answer.body[Int(byteRange.offset)..<Int(end)])
    }
}

/// Bytes of an AES-128 key.
private let keySize = 16

extension [UInt8] {
    /// HTML, XML, JSON or a playlist, after white space: text where media was due. Encrypted media has any bytes, but
    /// hardly sixteen letters in a row behind such a beginning.
    var looksLikeText: Bool {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = dropFirst(starts(with: byteOrderMark) ? byteOrderMark.count : 0).drop { $0.isBlank }
        guard text.prefix(16).allSatisfy(\.isText), let second = text.dropFirst().first else { return false }
        switch text.first {
        case UInt8(ascii: "<"): return second.isLetter || "!?".utf8.contains(second)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return second.isBlank || "\"{[]}".utf8.contains(second)
        default: return text.starts(with: "#EXTM3U".utf8)
        }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
    fileprivate var isBlank: Bool { [0x09, 0x0A, 0x0D, 0x20].contains(self) }
    /// ASCII.
    fileprivate var isText: Bool { isBlank || (0x20..<0x7F).contains(self) }
}

/// What a playlist request was answered with, and the address that its relative URIs are resolved against.
///
/// - Parameter variables: of the multivariant playlist that named this one.
func parsePlaylist(
    _ outcome: FetchOutcome, from url: String, variables: [VariableDefinition] = []
) throws(TrackerError) -> (document: PlaylistDocument, base: String) {
    switch outcome {
    case .failure(let error): throw TrackerError(error, url: url)
    case .success(let answer):
        guard (200..<300).contains(answer.status) else { throw TrackerError(.refused(status: answer.status), url: url) }
        do {
            return (try answer.playlist(imported: variables), answer.finalURL)
        } catch {
            if case .notAPlaylist(let beginning) = error.reason {
                throw TrackerError(.notAPlaylist(beginning: beginning), url: url, section: error.section)
            }
            throw TrackerError(.malformedPlaylist(error), url: url, section: error.section)
        }
    }
}

extension FetchAnswer {
    /// Of a media playlist that may be cut short, the last line counts when its end is there: half an address would be
    /// fetched as if it were one. A list that always lacks that line end is one segment late by this.
    fileprivate func playlist(imported variables: [VariableDefinition]) throws(PlaylistError) -> PlaylistDocument {
        let document = try PlaylistParser.parse(body, url: finalURL, imported: variables)
        guard endsAtClose, case .media(let list) = document, !list.hasEndList else { return document }
        guard let lineEnd = body.lastIndex(of: 0x0A), lineEnd + 1 < body.count else { return document }
        return try PlaylistParser.parse(Array(body[...lineEnd]), url: finalURL, imported: variables)
    }
}
