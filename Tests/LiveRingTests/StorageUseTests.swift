import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// The bytes of a channel on the disk. A segment has 6 s and 53 or 54 bytes, so a day has about 770,000.
struct StorageUseTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        var policy = RetentionPolicy(rewind: .seconds(3600), archive: .seconds(86_400), freeReserve: 1000)
        var segments = 100
        var free: UInt64? = 1 << 40
        var perDay: ClosedRange<UInt64>? = 760_000...780_000
        var whenFull: ClosedRange<UInt64>?
        var untilFull: ClosedRange<Int64>?
        var testDescription: String { when }
    }

    private static let rows = [
        Row(when: "less than a minute of media", segments: 9, perDay: nil),
        Row(when: "an archive of a day and the rewind of an hour", whenFull: 790_000...813_000),
        Row(
            when: "a rewind, whose segments stay as long again", policy: .init(rewind: .seconds(86_400)),
            whenFull: 1_520_000...1_560_000),
        Row(
            when: "bytes limit it before",
            policy: .init(rewind: .seconds(3600), archive: .seconds(86_400), byteLimit: 9000),
            whenFull: 9000...9000),
        Row(when: "no limit, and room for ever", policy: .init(rewind: nil, freeReserve: 0), free: nil),
        Row(
            when: "no limit: the disk is full some day", policy: .init(rewind: nil, freeReserve: 0), free: 770_000,
            untilFull: 84_000...88_000),
        Row(
            when: "the disk has room for half a day", free: 386_000, whenFull: 790_000...813_000,
            untilFull: 42_000...44_000),
        Row(when: "nothing is free but what stays free", free: 900, whenFull: 790_000...813_000, untilFull: 0...0),
        Row(when: "the disk has room for what is still to come", free: 900_000, whenFull: 790_000...813_000),
    ]

    @Test(arguments: rows) func measures(row: Row) {
        let index = RingIndex.filled(row.segments, policy: row.policy)
        let space = row.free.map { FileSystemSpace(freeBytes: $0, byteCount: 1 << 40) }
        let storage = StorageUse(index, space: space)
        #expect(storage.bytes == index.listedBytes + index.retiredBytes, "\(row.when)")
        func isIn<Number>(_ range: ClosedRange<Number>?, _ value: Number?) -> Bool {
            value.map { range?.contains($0) ?? false } ?? (range == nil)
        }
        #expect(isIn(row.perDay, storage.bytesPerDay), "\(row.when): \(storage)")
        #expect(isIn(row.whenFull, storage.bytesWhenFull), "\(row.when): \(storage)")
        #expect(isIn(row.untilFull, storage.secondsUntilFull), "\(row.when): \(storage)")
    }
}
