import Support

// Decides whether an answer is the media, key or map that was requested.

extension FetchRequest {
    /// Returns the requested bytes and the URL that they came from.
    ///
    /// An origin without range support answers 200 with the whole file, from which the range is extracted.
    ///
    /// - Parameters:
    ///   - isEncrypted: whether the whole resource is encrypted with AES-128.
    ///   - acceptsTruncated: whether a body that looks truncated is returned, because no attempt is left.
    ///   - acceptsShort: whether a body that is whole, and much shorter than its EXTINF, is returned.
    package func media(
        in outcome: FetchOutcome, isEncrypted: Bool = false, acceptsTruncated: Bool = false, acceptsShort: Bool = true
    ) throws(FetchFailure) -> (body: [UInt8], url: String) {
        let answer: FetchAnswer
        switch outcome {
        case .success(let success): answer = success
        case .failure(let error): throw .unreachable(error.reason, ipAddress: error.deniedIPAddress)
        }
        guard answer.isSuccess else { throw .refused(status: answer.status) }
        if answer.body.isEmpty { throw .empty }
        if answer.body.looksLikeText, purpose != .key || answer.body.count != keySize { throw .notMedia }
        let body = try requestedBytes(of: answer)
        if answer.endsAtClose, !acceptsTruncated, purpose != .key, body.isTruncated(isEncrypted: isEncrypted) {
            throw .truncated
        }
        if answer.endsAtClose, !acceptsShort, !isEncrypted, let duration, body.isShort(of: duration) { throw .tooShort }
        return (body, answer.finalURL)
    }

    private func requestedBytes(of answer: FetchAnswer) throws(FetchFailure) -> [UInt8] {
        guard let byteRange else { return answer.body }
        guard answer.body.count >= byteRange.length else { throw .shortRange }
        if answer.status == 206 || answer.body.count == byteRange.length { return answer.body }
        guard let range = byteRange.range, range.upperBound <= answer.body.count else { throw .shortRange }
        return Array(answer.body[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

/// Bytes of an AES-128 key.
private let keySize = 16

extension [UInt8] {
    /// Whether the bytes are HTML, XML, JSON or a playlist, after optional white space.
    ///
    /// Encrypted media may hold any bytes, but sixteen printable characters after such a start are very unlikely.
    package var looksLikeText: Bool {
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
    /// Printable ASCII or white space.
    fileprivate var isText: Bool { isBlank || (0x20..<0x7F).contains(self) }
}
