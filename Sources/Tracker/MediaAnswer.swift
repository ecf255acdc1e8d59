import Playlist

// What counts as the media, the key or the map that was asked for, and what as a failed try.

/// Why one try brought nothing.
package enum FailedTry: Error, Equatable, Sendable {
    case refused(status: Int)
    case unreachable(FetchError.Reason)
    /// An HTML page.
    case notMedia
    case empty
    /// Fewer bytes than the range asked for.
    case shortRange

    /// The answer's status, nil when there was none or it was a success.
    package var status: Int? {
        if case .refused(let status) = self { status } else { nil }
    }

    var lossReason: SegmentLoss.Reason {
        switch self {
        case .notMedia, .empty: .notMedia
        case .refused, .unreachable, .shortRange: .unavailable(status: status)
        }
    }
}

extension FetchRequest {
    /// The bytes asked for and the address they came from.
    ///
    /// An origin that does not know ranges answers 200 with the whole file: the range is cut from it here.
    func media(in outcome: FetchOutcome) throws(FailedTry) -> (body: [UInt8], url: String) {
        let answer: FetchAnswer
        switch outcome {
        case .success(let whole): answer = whole
        case .failure(let error): throw .unreachable(error.reason)
        }
        guard (200..<300).contains(answer.status) else { throw .refused(status: answer.status) }
        if answer.body.isEmpty { throw .empty }
        if answer.body.beginsLikeHTML { throw .notMedia }
        guard let byteRange else { return (answer.body, answer.finalURL) }
        guard answer.body.count >= byteRange.length else { throw .shortRange }
        if answer.status == 206 || answer.body.count == byteRange.length { return (answer.body, answer.finalURL) }
        let (end, overflows) = byteRange.offset.addingReportingOverflow(byteRange.length)
        guard !overflows, end <= answer.body.count else { throw .shortRange }
        return (Array(answer.body[Int(byteRange.offset)..<Int(end)]), answer.finalURL)
    }
}

extension [UInt8] {
    /// `<!DOCTYPE` or `<html`, in any case, after white space.
    var beginsLikeHTML: Bool {
        let text = drop { [0x09, 0x0A, 0x0D, 0x20].contains($0) }.prefix(9)
        let lowered = text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        return lowered.starts(with: "<!doctype".utf8) || lowered.starts(with: "<html".utf8)
    }
}

/// What a playlist request was answered with, and the address that its relative URIs are resolved against.
///
/// - Parameter variables: of the multivariant playlist that named this one.
func readPlaylist(
    _ outcome: FetchOutcome, from url: String, variables: [VariableDefinition] = []
) throws(TrackerError) -> (document: PlaylistDocument, base: String) {
    switch outcome {
    case .failure(let error): throw TrackerError(error, url: url)
    case .success(let answer):
        guard (200..<300).contains(answer.status) else { throw TrackerError(.refused(status: answer.status), url: url) }
        do {
            return (
                try PlaylistParser.parse(answer.body, address: answer.finalURL, imported: variables), answer.finalURL
            )
        } catch {
            if case .notAPlaylist(let beginning) = error.reason {
                throw TrackerError(.notAPlaylist(beginning: beginning), url: url, section: error.section)
            }
            throw TrackerError(.malformedPlaylist(error), url: url, section: error.section)
        }
    }
}
