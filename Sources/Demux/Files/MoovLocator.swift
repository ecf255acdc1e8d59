package import Media

/// Finds `moov` anywhere in an MP4 file by the box headers before it (ISO/IEC 14496-12 §4.2, §8.2.1).
///
/// The caller reads `neededRange` of the file and passes the bytes to `append(_:)` until no range is needed.
package struct MoovLocator: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// The byte range of a box header, cut off at the end of the file.
        case header(Range<UInt64>)
        case movie(Range<UInt64>)
        /// The whole box with its header, and its offset in the file.
        case found(at: UInt64, moov: [UInt8])
    }

    /// Largest accepted `moov`, bytes. The `moov` of an hour has one to three megabytes.
    package static let largestMovie: UInt64 = 16 << 20
    /// Most boxes accepted up to `moov`: ftyp, free, wide, mdat and what tools add.
    static let maxBoxes = 1000

    private static let firstTypes: Set<BoxType> = [
        "ftyp", "moov", "mdat", "wide", "free", "skip", "styp", "pdin", "uuid", "pnot",
    ]

    package private(set) var state: State
    private let byteCount: UInt64
    private let largest: UInt64
    private var boxes = 0

    /// - Parameter largestMovie: the largest accepted `moov`, bytes.
    package init(byteCount: UInt64, largestMovie: UInt64 = Self.largestMovie) {
        (self.byteCount, largest) = (byteCount, largestMovie)
        state = .header(0..<min(16, byteCount))
    }

    /// File range to pass to `append(_:)` next, at most 16 MiB; nil when `moov` is found.
    package var neededRange: Range<UInt64>? {
        switch state {
        case .header(let range), .movie(let range): range
        case .found: nil
        }
    }

    package var moov: [UInt8] {
        if case .found(_, let moov) = state { moov } else { [] }
    }

    package mutating func append(_ bytes: [UInt8]) throws(MediaError) {
        guard let neededRange, UInt64(bytes.count) == neededRange.upperBound - neededRange.lowerBound else {
            throw .movie(.noMovie)
        }
        switch state {
        case .header(let range): try readHeader(bytes, at: range.lowerBound)
        case .movie(let range): state = .found(at: range.lowerBound, moov: bytes)
        case .found: break
        }
    }

    private mutating func readHeader(_ bytes: [UInt8], at start: UInt64) throws(MediaError) {
        guard let header = Header(bytes, remaining: byteCount - start) else {
            throw .movie(boxes == 0 ? .notMP4 : .noMovie)
        }
        if boxes == 0, !Self.firstTypes.contains(header.type) { throw .movie(.notMP4) }
        if header.type == "moof" { throw .movie(.fragmented) }
        boxes += 1
        guard header.size <= byteCount - start, boxes <= Self.maxBoxes else { throw .movie(.noMovie) }
        let end = start + header.size
        if header.type == "moov" {
            guard header.size <= largest else { throw .movie(.movieTooLarge(bytes: header.size)) }
            state = .movie(start..<end)
        } else {
            guard end < byteCount else { throw .movie(.noMovie) }
            state = .header(end..<min(end + 16, byteCount))
        }
    }

    struct Header {
        let type: BoxType
        let size: UInt64

        /// - Parameter remaining: bytes from the header to the end of the file, the meaning of a size of 0.
        /// - Returns: nil if the header is truncated, or its size is smaller than the header.
        init?(_ bytes: [UInt8], remaining: UInt64) {
            var fields = BoxFields(bytes[...])
            do throws(MediaError) {
                let size = try fields.u32()
                type = BoxType(code: try fields.u32())
                self.size = size == 0 ? remaining : size == 1 ? try fields.u64() : UInt64(size)
            } catch {
                return nil
            }
            guard size >= UInt64(fields.index) else { return nil }
        }
    }
}
