import Media
import Support

// Decides whether an answer is the media, key or map that was requested, or a media file.

extension FetchRequest {
    /// Returns the requested bytes and the URL that they came from.
    ///
    /// `ResourcePart` finds the bytes of a range in the answer.
    ///
    /// - Parameters:
    ///   - isEncrypted: whether the whole resource is encrypted with AES-128.
    ///   - mediaStart: finds the offset at which media begins in a body whose end nothing marks; nil if there is none.
    ///   - acceptsTruncated: whether a body that looks truncated is returned, because this is the last attempt.
    ///   - acceptsShort: whether a complete body that is much shorter than its EXTINF is returned.
    package func media(
        in outcome: FetchOutcome, isEncrypted: Bool = false, mediaStart: ([UInt8]) -> Int? = { _ in 0 },
        acceptsTruncated: Bool = false, acceptsShort: Bool = true
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
        guard answer.endsAtClose, purpose != .key, !acceptsTruncated || !acceptsShort else {
            return (body, answer.finalURL)
        }
        let start = isEncrypted || byteRange != nil || body.isWebVTT ? 0 : mediaStart(body)
        // Other bytes before the media may be all that came.
        if start == nil, !acceptsTruncated { throw .truncated }
        let media = start.map { $0 == 0 ? body : Array(body.dropFirst($0)) } ?? body
        if !acceptsTruncated, media.isTruncated(isEncrypted: isEncrypted) { throw .truncated }
        if !acceptsShort, !isEncrypted, let duration, media.isShort(of: duration) { throw .tooShort }
        return (body, answer.finalURL)
    }

    private func requestedBytes(of answer: FetchAnswer) throws(FetchFailure) -> [UInt8] {
        let range = byteRange?.range
        guard byteRange == nil || range != nil else { throw .shortRange }
        do throws(ResourcePart.Failure) { return try ResourcePart(of: answer, range: range).bytes } catch {
            throw error == .short ? .shortRange : .wrongRange
        }
    }
}

/// Bytes of an AES-128 key.
private let keySize = 16

extension [UInt8] {
    fileprivate var isWebVTT: Bool { drop { !$0.isLetter }.starts(with: "WEBVTT".utf8) }

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

// MARK: - Media that ends inside its own structure, if nothing else marks the end of the body

extension [UInt8] {
    /// Whether the bytes end inside a cipher block, a transport packet or a box.
    ///
    /// - Parameter isEncrypted: whether all bytes are encrypted with AES-128, in whole blocks.
    func isTruncated(isEncrypted: Bool) -> Bool {
        if isEncrypted { return count % 16 != 0 }
        if isTransportStream { return count % PacketStride.packetSize != 0 }
        let isFragmentedMP4 = count >= 8 && topLevelTypes.contains { self[4..<8].elementsEqual($0.utf8) }
        return isFragmentedMP4 && !endsWithBox
    }

    /// Whether the last top-level box ends where the bytes end (ISO/IEC 14496-12 §4.2). The boxes are not stored,
    /// because a hostile body may contain a box in every eight bytes.
    private var endsWithBox: Bool {
        var offset = 0
        while offset < count {
            guard let size = boxSize(at: offset), size <= count - offset else { return false }
            offset += size
        }
        return true
    }

    /// Returns the size of the box at `offset`; nil if its header is incomplete or invalid.
    private func boxSize(at offset: Int) -> Int? {
        guard let short = bigEndian(4, at: offset) else { return nil }
        switch short {
        case 0: return count - offset  // to the end of the file
        case 1: return bigEndian(8, at: offset + 8).flatMap { Int(exactly: $0) }.flatMap { $0 >= 16 ? $0 : nil }
        default: return short >= 8 ? Int(short) : nil
        }
    }

    private func bigEndian(_ width: Int, at offset: Int) -> UInt64? {
        guard offset + width <= count else { return nil }
        return self[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether sync bytes are found where packets begin (ISO/IEC 13818-1 §2.4.3.2).
    private var isTransportStream: Bool {
        let packetSize = PacketStride.packetSize
        return first == PacketStride.syncByte && (count <= packetSize || self[packetSize] == PacketStride.syncByte)
    }
}

private let topLevelTypes = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "mdat", "free", "skip"]

// MARK: - The playing time of a transport stream, if nothing else marks the end of the body

extension [UInt8] {
    /// Whether the bytes are a clear transport stream that plays for much shorter than `duration`.
    ///
    /// The last PES packet of each stream counts as nothing, and EXTINF may be rounded. Therefore half a second or an
    /// eighth of the duration may be missing.
    func isShort(of duration: Duration) -> Bool {
        guard let playingTime = transportPlayingTime else { return false }
        return playingTime + Swift.max(.milliseconds(500), duration / 8) < duration
    }

    /// The longest time between two timestamps of one stream (ISO/IEC 13818-1 §2.4.3.7); nil for another format, or if
    /// no timestamps are found.
    private var transportPlayingTime: Duration? {
        let packetSize = PacketStride.packetSize
        guard count >= packetSize, count % packetSize == 0, self[0] == PacketStride.syncByte else { return nil }
        var spans: [UInt16: TimestampSpan] = [:]
        for offset in stride(from: 0, to: count, by: packetSize) {
            guard self[offset] == PacketStride.syncByte else { return nil }
            guard let time = timestamp(ofPacketAt: offset) else { continue }
            let pid = UInt16(self[offset + 1] & 0x1F) << 8 | UInt16(self[offset + 2])
            spans[pid, default: TimestampSpan(first: time)].extend(to: time)
        }
        return spans.values.map(\.length).max().map { .microseconds($0 * 100 / 9) }
    }

    /// Returns the PTS of the PES packet that begins in the packet at `offset`; nil if no PES packet with a PTS begins
    /// there.
    private func timestamp(ofPacketAt offset: Int) -> Int64? {
        guard self[offset + 1] & 0x40 != 0, self[offset + 3] & 0xD0 == 0x10 else { return nil }
        let end = offset + PacketStride.packetSize
        let payload = offset + 4 + (self[offset + 3] & 0x20 != 0 ? 1 + Int(self[offset + 4]) : 0)
        guard payload + 14 <= end, self[payload..<payload + 3].elementsEqual([0, 0, 1]),
            self[payload + 6] & 0xC0 == 0x80, self[payload + 7] & 0x80 != 0
        else { return nil }
        let bytes = self[payload + 9..<payload + 14].map { Int64($0) }
        let high = (bytes[0] >> 1 & 7) << 30
        let middle = bytes[1] << 22 | (bytes[2] >> 1) << 15
        return high | middle | bytes[3] << 7 | bytes[4] >> 1
    }
}

/// The timestamps of one stream, which count modulo 2³³.
private struct TimestampSpan {
    private let first: Int64
    private var earliest: Int64 = 0
    private var latest: Int64 = 0

    init(first: Int64) { self.first = first }

    /// Time from the earliest to the latest, in 90 kHz ticks.
    var length: Int64 { latest - earliest }

    mutating func extend(to time: Int64) {
        let wrap: Int64 = 1 << 33
        let ahead = (time - first) & (wrap - 1)
        let distance = ahead < wrap / 2 ? ahead : ahead - wrap
        earliest = min(earliest, distance)
        latest = max(latest, distance)
    }
}

// MARK: - Answers that are a media file or a part of one

extension FetchAnswer {
    package var isMediaFile: Bool { isSuccess && Self.isMediaFile(body, headers: headers) }

    /// Whether a body begins as an MP4 file, or as a transport stream of finite length.
    ///
    /// A stream without end may have a Content-Length too, but no byte ranges.
    static func isMediaFile(_ beginning: [UInt8], headers: [Header]) -> Bool {
        if beginning.beginsWithMovieBox { return true }
        let answer = FetchAnswer(status: 200, finalURL: "", headers: headers, body: [])
        let length = answer.header("content-length").flatMap { UInt64($0) } ?? 0
        return length > 0 && answer.header("accept-ranges")?.lowercased() == "bytes"
            && answer.header("content-encoding") == nil && StreamPart.isStream(beginning)
    }

    /// The bytes of a file in the answer to a request for a byte range, and the size of the file; nil if the answer
    /// does not answer such a request. The range may extend beyond the end of the file.
    package func filePart(of range: Range<UInt64>) -> (bytes: [UInt8], fileSize: UInt64)? {
        guard isSuccess, let part = try? ResourcePart(of: self, range: range, mayEndEarly: true),
            let size = part.resourceSize
        else { return nil }
        return (part.bytes, size)
    }
}

extension [UInt8] {
    private static let fileTypes = [
        "ftyp", "styp", "moov", "moof", "mdat", "wide", "free", "skip", "pdin", "pnot",
    ]

    /// Whether the bytes begin with the header of a box that an MP4 file may begin with.
    fileprivate var beginsWithMovieBox: Bool {
        count >= 8 && self[0] == 0 && Self.fileTypes.contains { self[4..<8].elementsEqual($0.utf8) }
    }
}
