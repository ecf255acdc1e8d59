import Demux
package import Media
import Mux
import Transcode

/// Finds `moov` in an MP4 file (ISO/IEC 14496-12 §4.2, §8.2.1) by the headers of the boxes in front of it, wherever it
/// stands. It says which bytes it wants next and is handed them.
package struct MoovLocator: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// The header of a box, or as much of it as the file has.
        case header(Range<UInt64>)
        case movie(Range<UInt64>)
        /// The whole box, its header included.
        case found(moov: [UInt8])
    }

    /// The moov of an hour has one or two megabytes.
    static let largestMovie: UInt64 = 1 << 26
    /// Boxes in front of moov: ftyp, free, wide and mdat, and what tools put beside them.
    static let mostBoxes = 1000

    private static let firstTypes: Set<BoxType> = [
        "ftyp", "moov", "mdat", "wide", "free", "skip", "styp", "pdin", "uuid", "pnot",
    ]

    package private(set) var state: State
    private let byteCount: UInt64
    private var boxes = 0

    /// - Parameter byteCount: of the file.
    package init(byteCount: UInt64) {
        self.byteCount = byteCount
        state = .header(0..<min(16, byteCount))
    }

    /// What is to be handed in; nil when moov is found. At most 64 MiB, and inside the file.
    package var neededRange: Range<UInt64>? {
        switch state {
        case .header(let range), .movie(let range): range
        case .found: nil
        }
    }

    /// Empty until nothing more is wanted.
    package var moov: [UInt8] {
        if case .found(let moov) = state { moov } else { [] }
    }

    /// - Parameter bytes: of `wanted`, all of them.
    package mutating func append(_ bytes: [UInt8]) throws(MediaError) {
        guard let neededRange, UInt64(bytes.count) == neededRange.upperBound - neededRange.lowerBound else {
            throw .slate(.noMovie)
        }
        switch state {
        case .header(let range): try readHeader(bytes, at: range.lowerBound)
        case .movie: state = .found(moov: bytes)
        case .found: break
        }
    }

    private mutating func readHeader(_ bytes: [UInt8], at start: UInt64) throws(MediaError) {
        guard let header = Header(bytes, left: byteCount - start) else {
            throw .slate(boxes == 0 ? .notMP4 : .noMovie)
        }
        if boxes == 0, !Self.firstTypes.contains(header.type) { throw .slate(.notMP4) }
        if header.type == "moof" { throw .slate(.fragmented) }
        boxes += 1
        guard header.size <= byteCount - start, boxes <= Self.mostBoxes else { throw .slate(.noMovie) }
        let end = start + header.size
        if header.type == "moov" {
            guard header.size <= Self.largestMovie else { throw .slate(.movieTooLarge(bytes: header.size)) }
            state = .movie(start..<end)
        } else {
            guard end < byteCount else { throw .slate(.noMovie) }
            state = .header(end..<min(end + 16, byteCount))
        }
    }

    private struct Header {
        let type: BoxType
        /// The header's own bytes included.
        let size: UInt64

        /// - Parameter left: bytes from the header to the end of the file, which a size of 0 stands for.
        /// - Returns: nil when it ends too early, or says that it is shorter than itself.
        init?(_ bytes: [UInt8], left: UInt64) {
            var fields = BoxFields(bytes[...])
            do throws(MediaError) {
                let size = try fields.u32()
                type = BoxType(code: try fields.u32())
                self.size = size == 0 ? left : size == 1 ? try fields.u64() : UInt64(size)
            } catch {
                return nil
            }
            guard size >= UInt64(fields.index) else { return nil }
        }
    }
}
