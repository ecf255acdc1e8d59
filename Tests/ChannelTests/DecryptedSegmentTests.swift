import Foundation
import Splice
import TestSupport
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

    /// How the last block is filled.
    enum Padding: Sendable {
        case standard, none
        case zeros
        /// Bytes that are none of the others.
        case junk
    }

    private static let fragment: [UInt8] = {
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(8 + body.count)] + Array(type.utf8) + body
        }
        return box("styp", [UInt8](repeating: 1, count: 8)) + box("moof", [UInt8](repeating: 1, count: 40))
            + box("mdat", [UInt8](repeating: 1, count: 24))
    }()

    /// 188 × 4 is a multiple of 16. The last byte is one of PKCS #7 padding.
    private static let packets: [UInt8] = (0..<8).flatMap { index in
        [0x47, 1, 0, 0x10 | UInt8(index)] + [UInt8](repeating: 1, count: 184)
    }

    private static let tables: [UInt8] = {
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: 0x1B)])
        return builder.cut()
    }()

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var mediaKey: [UInt8]?
        var mapKey: [UInt8]?
        /// The IV attributes; nil: the media sequence number is used.
        var vector: [UInt8]? = explicit
        /// Whether the section is clear although a key is in force.
        var isMapLeftClear = false
        var isMediaLeftClear = false
        var media = DecryptedSegmentTests.media
        var section = DecryptedSegmentTests.section
        var padding = Padding.standard

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
        Row(
            when: "a section of a transport stream left clear under a key", mediaKey: first, mapKey: first,
            isMapLeftClear: true, section: tables),
        Row(
            when: "packets left clear under a key", mediaKey: first, mapKey: first, isMediaLeftClear: true,
            media: packets),
        Row(
            when: "boxes left clear under a key", mediaKey: first, mapKey: first, isMediaLeftClear: true,
            media: fragment),
        Row(when: "packets with padding", mediaKey: first, media: packets + tables),
        Row(when: "packets without padding", mediaKey: first, media: packets, padding: .none),
        Row(when: "boxes without padding", mediaKey: first, media: fragment, padding: .none),
        Row(when: "packets, and zeros", mediaKey: first, media: packets + tables, padding: .zeros),
        Row(when: "packets, and other bytes", mediaKey: first, media: packets + tables, padding: .junk),
    ]

    @Test(arguments: rows)
    func segmentAndMapAreDecrypted(row: Row) throws {
        var segment = MediaSegment(uri: "seg", duration: .seconds(6), mediaSequence: 0x0102)
        segment.keys = key(row.mediaKey, row.vector)
        segment.map = MediaInitialization(uri: "init", keys: key(row.mapKey, row.vector))
        let vector = row.vector ?? [UInt8](repeating: 0, count: 14) + [1, 2]
        let tracked = TrackedSegment(
            segment: segment, url: "seg",
            body: row.isMediaLeftClear ? row.media : try encrypt(row.media, row.mediaKey, vector, row.padding),
            key: row.mediaKey,
            map: row.isMapLeftClear ? row.section : try encrypt(row.section, row.mapKey, vector), mapKey: row.mapKey)
        let clear = try SegmentInput(decrypting: tracked, of: .main)
        // What fills a block in place of padding stays.
        #expect(clear.bytes.starts(with: row.media) && clear.bytes.count < row.media.count + 16)
        #expect(row.padding == .zeros || row.padding == .junk || clear.bytes == row.media)
        #expect(clear.initialization == row.section)
    }

    /// Without padding, another key gives an error as exact as with it.
    @Test(arguments: [Padding.standard, .none, .zeros]) func wrongKeyIsTheFault(padding: Padding) throws {
        var segment = MediaSegment(uri: "seg", duration: .seconds(6))
        segment.keys = key(Self.first, Self.explicit)
        let body = try encrypt(Self.packets + Self.tables, Self.second, Self.explicit, padding)
        let tracked = TrackedSegment(segment: segment, url: "seg", body: body, key: Self.first, keyURL: "http://k")
        #expect(throws: DecryptError(reason: .badPadding, mediaSequence: 0, keyURL: "http://k")) {
            _ = try SegmentInput(decrypting: tracked, of: .main)
        }
    }

    /// A segment that is cut short has neither padding nor whole blocks; its packets are media nevertheless.
    @Test func truncatedSegment() throws {
        var segment = MediaSegment(uri: "seg", duration: .seconds(6))
        segment.keys = key(Self.first, Self.explicit)
        let body = try encrypt(Self.packets, Self.first, Self.explicit, .none).dropLast(100)
        let tracked = TrackedSegment(segment: segment, url: "seg", body: Array(body), key: Self.first)
        let clear = try SegmentInput(decrypting: tracked, of: .main)
        #expect(clear.bytes == Array(Self.packets.prefix(body.count / 16 * 16)))
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

    private func encrypt(
        _ clear: [UInt8], _ key: [UInt8]?, _ vector: [UInt8], _ padding: Padding = .standard
    ) throws -> [UInt8] {
        guard let key else { return clear }
        let missing = (16 - clear.count % 16) % 16
        let text =
            switch padding {
            case .standard, .none: clear
            case .zeros: clear + [UInt8](repeating: 0, count: missing)
            case .junk: clear + (0..<missing).map { UInt8(0x80 + $0) }
            }
        let hexadecimal = { (bytes: [UInt8]) in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl", "enc", "-aes-128-cbc", "-K", hexadecimal(key), "-iv", hexadecimal(vector)]
        if padding != .standard { process.arguments?.append("-nopad") }
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text))
        try input.fileHandleForWriting.close()
        let encrypted = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(encrypted)
    }
}
