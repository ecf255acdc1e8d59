import Foundation
import TestSupport
import Testing

@testable import HTTP
@testable import Support
@testable import WebServer

@Suite struct HTTPFieldTests {
    static let encodings: [(when: String, field: String?, gzip: Bool)] = [
        ("no field", nil, false),
        ("empty field", "", false),
        ("alone", "gzip", true),
        ("in a browser's field", "gzip, deflate, br, zstd", true),
        ("deprecated name", "x-gzip", true),
        ("capitals", "GZIP", true),
        ("with a weight", "gzip;q=0.5", true),
        ("refused", "gzip;q=0", false),
        ("refused with decimals", "br, gzip ; q=0.000", false),
        ("smallest weight", "gzip;q=0.001", true),
        ("wildcard", "*", true),
        ("wildcard, gzip refused", "gzip;q=0, *", false),
        ("wildcard refused", "*;q=0", false),
        ("wildcard refused, gzip accepted", "*;q=0, gzip", true),
        ("other codings", "br, deflate, identity", false),
        ("a longer name", "gzip2", false),
        ("named twice", "gzip, gzip;q=0.5", true),
        ("named twice, refused once", "gzip;q=0, x-gzip", false),
    ]

    @Test(arguments: encodings)
    func acceptEncoding(when: String, field: String?, gzip: Bool) {
        #expect(AcceptField.allowsGzip(field) == gzip, "\(when)")
    }

    static let conditions: [(when: String, field: String, matches: Bool)] = [
        ("the tag", "\"a1\"", true),
        ("another", "\"a2\"", false),
        ("weak, compared weakly", "W/\"a1\"", true),
        ("in a list", "\"x\", \"a1\", \"y\"", true),
        ("list without spaces", "\"x\",\"a1\"", true),
        ("any", "*", true),
        ("a tag with a comma in it", "\"x,a1\"", false),
        ("part of a longer tag", "\"a1-gzip\"", false),
        ("without quotes", "a1", false),
        ("unclosed", "\"a1", false),
        ("empty", "", false),
    ]

    @Test(arguments: conditions)
    func ifNoneMatch(when: String, field: String, matches: Bool) {
        #expect(EntityTag.isListed("\"a1\"", inIfNoneMatch: field) == matches, "\(when)")
    }

    static let rangeConditions: [(when: String, tag: String?, field: String?, allows: Bool)] = [
        ("no condition", "\"a1\"", nil, true),
        ("the tag", "\"a1\"", "\"a1\"", true),
        ("another", "\"a1\"", "\"a2\"", false),
        ("weak never matches", "\"a1\"", "W/\"a1\"", false),
        ("a date never matches", "\"a1\"", "Sun, 06 Nov 1994 08:49:37 GMT", false),
        ("no tag", nil, "\"a1\"", false),
    ]

    @Test(arguments: rangeConditions)
    func ifRange(when: String, tag: String?, field: String?, allows: Bool) {
        #expect(EntityTag.allowsRange(tag, ifRange: field) == allows, "\(when)")
    }

    /// Compares with date(1) over five centuries: leap days, ends of years and 2100, which is no leap year.
    @Test func dateTextsEqualThoseOfDate() throws {
        var random = SeededGenerator(seed: 5322)
        var moments = [0, 784_111_777, 951_782_400, 1_709_164_800, 1_735_689_599, 4_107_542_399, 4_107_542_400]
        for _ in 0..<200 { moments.append(Int.random(in: 0...15_000_000_000, using: &random)) }
        let input = moments.map { "@\($0)\n" }.joined()
        let output = try runTool("date", ["-u", "-f", "-", "+%a, %d %b %Y %T GMT"], input: Array(input.utf8))
        let expected = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(moments.map { HTTPDate.text(secondsSince1970: $0) } == expected)
    }

    static let bodies: [BriefArgument<[UInt8]>] = [
        BriefArgument("nothing", []),
        BriefArgument("one byte", [0]),
        BriefArgument("a playlist", Array(String(repeating: "#EXTINF:6.006,\nseg-1234.m4s\n", count: 200).utf8)),
        BriefArgument("incompressible bytes", noise(100_000)),
    ]

    /// Decompresses with gzip(1).
    @Test(arguments: bodies)
    func compressedBodyIsReadByGzip(body: BriefArgument<[UInt8]>) throws {
        let compressed = try #require(Gzip.compress(body.value))
        let isRead = try runTool("gzip", ["-dc"], input: compressed) == body.value
        let isDeterministic = Gzip.compress(body.value) == compressed
        #expect(isRead && isDeterministic, "\(body.name)")
    }

    private static func noise(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 1952)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    static let fileNames: [(name: String, type: MimeType?)] = [
        ("live.m3u8", .playlist), ("init-7f3a.mp4", .videoMP4), ("seg-1.m4s", .videoMP4), ("seg-1.m4a", .audioMP4),
        ("subtitles.vtt", .webVTT), ("status.json", .json), ("status.JSON", .json), ("no-extension", nil),
        ("archive.tar.gz", .gzip), (".m3u8", .playlist),
    ]

    @Test(arguments: fileNames)
    func mimeType(name: String, type: MimeType?) {
        #expect(MimeType(fileName: name) == type)
    }
}

/// Runs a program of the system with `input` and returns its output.
func runTool(_ name: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let inputFile = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(input).write(to: inputFile)
    defer { try? FileManager.default.removeItem(at: inputFile) }
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(name) \(arguments) ended with \(process.terminationStatus)")
    return Array(printed)
}
