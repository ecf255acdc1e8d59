import Foundation
import Splice
import Testing

@testable import Channel
@testable import Decrypt
@testable import Fetch
@testable import Playlist
@testable import Support
@testable import Tracker

/// A segment and its EXT-X-MAP section under one key, two keys or none (RFC 8216 §4.3.2.4, §4.3.2.5).
@Suite struct DecryptedSegmentTests {
    private static let media = [UInt8]("moof and its media".utf8)
    private static let section = [0, 0, 0, 8] + "ftyp".utf8 + [0, 0, 0, 8] + "moov".utf8
    private static let (first, second) = ([UInt8](1...16), [UInt8](21...36))
    private static let explicit = [UInt8](repeating: 9, count: 16)

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var mediaKey: [UInt8]?
        var mapKey: [UInt8]?
        /// The IV attributes; nil: the media sequence number is used.
        var vector: [UInt8]? = explicit
        /// Whether the section is clear although a key is in force.
        var isMapLeftClear = false

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "both clear"),
        Row(when: "a clear section before an encrypted segment", mediaKey: first),
        Row(when: "both under one key", mediaKey: first, mapKey: first),
        Row(when: "the key changed after the section", mediaKey: second, mapKey: first),
        Row(when: "an encrypted section before a clear segment", mapKey: first),
        Row(when: "vectors from the media sequence number", mediaKey: first, mapKey: first, vector: nil),
        Row(when: "a section left clear under a key", mediaKey: first, mapKey: first, isMapLeftClear: true),
    ]

    @Test(arguments: rows)
    func segmentAndMapAreDecrypted(row: Row) throws {
        var segment = MediaSegment(uri: "seg", duration: .seconds(6), mediaSequence: 0x0102)
        segment.keys = key(row.mediaKey, row.vector)
        segment.map = MediaInitialization(uri: "init", keys: key(row.mapKey, row.vector))
        let vector = row.vector ?? [UInt8](repeating: 0, count: 14) + [1, 2]
        let tracked = TrackedSegment(
            segment: segment, url: "seg", body: try encrypt(Self.media, row.mediaKey, vector), key: row.mediaKey,
            map: row.isMapLeftClear ? Self.section : try encrypt(Self.section, row.mapKey, vector), mapKey: row.mapKey)
        let clear = try SegmentInput(decrypting: tracked, of: .main)
        #expect(clear.bytes == Self.media)
        #expect(clear.initialization == Self.section)
    }

    @Test func segmentWithoutMapHasNoInitSection() throws {
        let segment = MediaSegment(uri: "seg", duration: .seconds(6))
        #expect(
            try SegmentInput(decrypting: TrackedSegment(segment: segment, url: "seg", body: Self.media), of: .main)
                .initialization == nil)
    }

    @Test func wrongKeyErrorNamesKeyURL() throws {
        var segment = MediaSegment(uri: "seg", duration: .seconds(6))
        segment.map = MediaInitialization(uri: "init", keys: key(Self.first, Self.explicit))
        let tracked = TrackedSegment(
            segment: segment, url: "seg", body: Self.media, map: [1, 2, 3], mapKey: Self.first, mapKeyURL: "http://k")
        #expect(throws: DecryptError(reason: .notBlockAligned(3), mediaSequence: 0, keyURL: "http://k")) {
            _ = try SegmentInput(decrypting: tracked, of: .main)
        }
    }

    private func key(_ key: [UInt8]?, _ vector: [UInt8]?) -> [SegmentKey] {
        key == nil ? [] : [SegmentKey(method: .aes128, uri: "key", initializationVector: vector)]
    }

    private func encrypt(_ clear: [UInt8], _ key: [UInt8]?, _ vector: [UInt8]) throws -> [UInt8] {
        guard let key else { return clear }
        let hexadecimal = { (bytes: [UInt8]) in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl", "enc", "-aes-128-cbc", "-K", hexadecimal(key), "-iv", hexadecimal(vector)]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(clear))
        try input.fileHandleForWriting.close()
        let encrypted = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(encrypted)
    }
}
