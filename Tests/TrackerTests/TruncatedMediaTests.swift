import TestSupport
import Testing

@testable import Tracker

private let packet: [UInt8] = [0x47] + Array(repeating: 0xFF, count: 187)

private func box(_ type: String, _ payload: Int, size: UInt32? = nil) -> [UInt8] {
    let size = size ?? UInt32(payload + 8)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(type.utf8)
        + Array(repeating: 0, count: payload)
}

private let longBox: [UInt8] = box("mdat", 0, size: 1) + [0, 0, 0, 0, 0, 0, 0, 20] + [1, 2, 3, 4]

private let rows: [(when: String, body: [UInt8], isEncrypted: Bool, isTruncated: Bool)] = [
    ("whole packets", packet + packet + packet, false, false),
    ("one packet", packet, false, false),
    ("half a packet", packet + packet + packet.prefix(90), false, true),
    ("less than one packet", Array(packet.prefix(90)), false, true),
    ("other data that begins with 0x47", [0x47] + Array(repeating: 1, count: 300), false, false),
    ("whole boxes", box("moof", 20) + box("mdat", 100), false, false),
    ("box with size 0", box("styp", 4) + box("mdat", 50, size: 0), false, false),
    ("box with a 64-bit size", box("moof", 20) + longBox, false, false),
    ("truncated box", box("moof", 20) + box("mdat", 100).dropLast(), false, true),
    ("truncated box with a 64-bit size", box("moof", 20) + longBox.dropLast(), false, true),
    ("truncated box header", box("moof", 20) + box("mdat", 0).prefix(6), false, true),
    ("truncated 64-bit size", box("moof", 20) + longBox.prefix(12), false, true),
    ("box smaller than its header", box("moof", 20) + box("mdat", 0, size: 7), false, true),
    ("box of 2^64 bytes", box("moof", 20) + box("mdat", 8, size: 1).map { $0 == 0 ? 0xFF : $0 }, false, true),
    ("whole cipher blocks", Array(repeating: 9, count: 32), true, false),
    ("half a cipher block", Array(repeating: 9, count: 40), true, true),
    ("encrypted, and looks like packets", packet + packet, true, true),
    ("packed audio, not checked", [0xFF, 0xF1, 0x50], false, false),
    ("text", Array("WEBVTT".utf8), false, false),
]

@Test(arguments: rows.indices) func isTruncated(_ index: Int) {
    #expect(
        rows[index].body.isTruncated(isEncrypted: rows[index].isEncrypted) == rows[index].isTruncated,
        "\(rows[index].when)")
}

@Test func randomBytesDoNotTrap() {
    var generator = SeededGenerator(seed: 7)
    let samples = rows.map(\.body)
    for _ in 0..<20_000 {
        var body = samples[Int.random(in: 0..<samples.count, using: &generator)]
        if body.isEmpty { continue }
        for _ in 0..<4 {
            body[Int.random(in: 0..<body.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        _ = Array(body.prefix(Int.random(in: 0...body.count, using: &generator))).isTruncated(isEncrypted: false)
    }
}

private let textRows: [(when: String, body: String, isText: Bool)] = [
    ("HTML page", "<!DOCTYPE html><p>soon", true), ("HTML page in capitals", "<HTML><BODY>", true),
    ("HTML page after blank lines", "\r\n\t <html>", true),
    ("HTML page after a byte order mark", "\u{FEFF}<html>", true),
    ("XML error of an object store", "<?xml version=\"1.0\"?><Error/>", true), ("short XML error", "<Error/>", true),
    ("JSON error", "{\"error\":\"expired\"}", true), ("JSON array", "[ {\"code\": 403} ]", true),
    ("a playlist", "#EXTM3U\n#EXT-X-VERSION:3", true), ("subtitles", "WEBVTT\n\n", false),
    ("subtitles after a byte order mark", "\u{FEFF}WEBVTT", false), ("empty body", "", false),
    ("white space", "  \n", false),
    ("repeated bytes", "<<<<<<<<<<<<<<<<", false), ("bytes that begin like HTML", "<\u{1}\u{2}\u{3}", false),
    ("bytes that begin like JSON", "{\u{7F}aaaaaaaaaaaaaa", false),
]

@Test(arguments: textRows.indices) func looksLikeText(_ index: Int) {
    #expect(Array(textRows[index].body.utf8).looksLikeText == textRows[index].isText, "\(textRows[index].when)")
}

@Test func randomBytesDoNotLookLikeText() {
    var generator = SeededGenerator(seed: 3)
    let count = (0..<100_000).count { _ in
        (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }.looksLikeText
    }
    #expect(count == 0)
}
