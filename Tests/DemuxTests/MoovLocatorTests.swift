import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Finding moov by headers alone.
@Suite struct MoovLocatorTests {
    /// A file that is never there as a whole: boxes of any size, of which only headers are real.
    struct Row: Sendable {
        let when: String
        /// Type, the header's size field, and what the box takes.
        let boxes: [(type: String, size: UInt64, isLong: Bool)]
        var fault: MovieFault?
        /// Of the file, if it is not what the boxes take.
        var byteCount: UInt64?
    }

    static let rows = [
        Row(when: "in front", boxes: [("ftyp", 32, false), ("moov", 500, false), ("mdat", 1 << 30, false)]),
        Row(when: "behind 64-bit mdat", boxes: [("ftyp", 32, false), ("mdat", 1 << 40, true), ("moov", 500, false)]),
        Row(
            when: "behind what cameras write",
            boxes: [("wide", 8, false), ("mdat", 999, false), ("free", 8, false), ("moov", 500, true)]),
        Row(when: "no MP4", boxes: [("ID3\u{4}", 100, false)], fault: .notMP4),
        Row(when: "empty", boxes: [], fault: .notMP4),
        Row(when: "shorter than a header", boxes: [("ftyp", 32, false)], fault: .notMP4, byteCount: 7),
        Row(when: "no moov", boxes: [("ftyp", 32, false), ("mdat", 4000, false)], fault: .noMovie),
        Row(
            when: "cut in mdat", boxes: [("ftyp", 32, false), ("mdat", 4000, false)], fault: .noMovie, byteCount: 3000),
        Row(
            when: "cut in moov", boxes: [("ftyp", 32, false), ("moov", 4000, false)], fault: .noMovie, byteCount: 4031),
        Row(
            when: "cut in a header", boxes: [("ftyp", 32, false), ("moov", 50, false)], fault: .noMovie, byteCount: 36),
        Row(when: "a box shorter than its header", boxes: [("ftyp", 4, false)], fault: .notMP4, byteCount: 100),
        Row(when: "a size that overflows", boxes: [("ftyp", .max, true)], fault: .noMovie, byteCount: 100),
        Row(when: "fragments", boxes: [("styp", 24, false), ("moof", 500, false)], fault: .fragmented),
        Row(
            when: "an enormous moov", boxes: [("ftyp", 32, false), ("moov", 1 << 27, false)],
            fault: .movieTooLarge(bytes: 1 << 27)),
        Row(
            when: "nothing but boxes", boxes: [(String, UInt64, Bool)](repeating: ("free", 8, false), count: 100_000),
            fault: .noMovie),
    ]

    @Test(arguments: rows.indices)
    func finds(_ index: Int) {
        let row = Self.rows[index]
        var headers: [UInt64: [UInt8]] = [:]
        var end: UInt64 = 0
        for box in row.boxes {
            headers[end] = Self.header(box.type, box.size, isLong: box.isLong)
            end = end.addingReportingOverflow(box.size).partialValue
        }
        var index = MoovLocator(byteCount: row.byteCount ?? end)
        var fault: MovieFault?
        var bytesRead = 0
        do throws(MediaError) {
            while let wanted = index.neededRange {
                bytesRead += wanted.count
                let bytes = (headers[wanted.lowerBound] ?? []) + [UInt8](repeating: 0, count: wanted.count)
                try index.append(Array(bytes.prefix(wanted.count)))
            }
        } catch {
            if case .unusableMovie(let found) = error.reason { fault = found }
        }
        #expect(fault == row.fault, "\(row.when)")
        #expect(bytesRead <= 600 + 16 * MoovLocator.maxBoxes, "\(row.when)")
        if row.fault == nil { #expect(index.moov.count == 500, "\(row.when)") }
    }

    private static func header(_ type: String, _ size: UInt64, isLong: Bool) -> [UInt8] {
        var writer = BoxWriter()
        writer.u32(isLong ? 1 : UInt32(truncatingIfNeeded: size))
        writer.append(type.utf8)
        if isLong { writer.u64(size) }
        return writer.bytes
    }

    @Test func bytesThatAreNotThereAreAnError() throws {
        var index = MoovLocator(byteCount: 100)
        #expect(throws: MediaError.movie(.noMovie)) { try index.append([0, 0, 0, 32]) }
    }
}
