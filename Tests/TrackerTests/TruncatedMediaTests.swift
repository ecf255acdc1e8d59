import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support
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

@Test func bodiesWithoutMediaAreTruncatedIfNothingMarksTheirEnd() throws {
    let request = FetchRequest(.segment, url: "http://origin.example/1.ts")
    let answer = { (body: [UInt8], endsAtClose: Bool) in
        FetchOutcome.success(
            FetchAnswer(status: 200, finalURL: request.url, headers: [], body: body, endsAtClose: endsAtClose))
    }
    let image: [UInt8] = [0x89, 0x50, 0x4E, 0x47] + Array(repeating: 1, count: 300)
    #expect(throws: FetchFailure.truncated) {
        try request.media(in: answer(image, true), mediaStart: { _ in nil })
    }
    #expect(try request.media(in: answer(image, false), mediaStart: { _ in nil }).body == image)
    let subtitles = Array("WEBVTT".utf8)
    #expect(try request.media(in: answer(subtitles, true), mediaStart: { _ in nil }).body == subtitles)
    let last = try request.media(in: answer(image, true), mediaStart: { _ in nil }, acceptsTruncated: true)
    #expect(last.body == image)
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

/// A transport stream of one PES packet every 40 ms, with a PTS in each.
private func stream(seconds: Double, from start: Int64 = 900_000, pid: UInt8 = 0) -> [UInt8] {
    (0..<Int(seconds * 25)).flatMap { index -> [UInt8] in
        let pts = (start + Int64(index) * 3600) & (1 << 33 - 1)
        let stamp = [
            0x21 | UInt8(pts >> 29 & 0x0E), UInt8(pts >> 22 & 0xFF), UInt8(pts >> 14 & 0xFE) | 1,
            UInt8(pts >> 7 & 0xFF),
            UInt8(pts << 1 & 0xFE) | 1,
        ]
        let head: [UInt8] = [0x47, 0x41, pid, 0x10, 0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5] + stamp
        return head + [UInt8](repeating: 0xAA, count: 188 - head.count)
    }
}

private let shortRows: [(when: String, body: [UInt8], extinf: Duration, isShort: Bool)] = [
    ("as long as its EXTINF", stream(seconds: 6), .seconds(6), false),
    ("an EXTINF that is rounded up", stream(seconds: 5.6), .seconds(6), false),
    ("half of it", stream(seconds: 3), .seconds(6), true),
    ("half of a short one", stream(seconds: 1), .seconds(2), true),
    ("longer than its EXTINF", stream(seconds: 9), .seconds(6), false),
    ("a clock that wraps", stream(seconds: 6, from: (1 << 33) - 200_000), .seconds(6), false),
    ("another stream is long enough", stream(seconds: 1) + stream(seconds: 6, pid: 1), .seconds(6), false),
    ("no timestamps", packet + packet, .seconds(6), false),
    ("other data", [0x47] + Array(repeating: 1, count: 187 + 188), .seconds(6), false),
    ("fragmented MP4", box("moof", 20) + box("mdat", 100), .seconds(6), false),
]

@Test(arguments: shortRows.indices) func isShort(_ index: Int) {
    #expect(
        shortRows[index].body.isShort(of: shortRows[index].extinf) == shortRows[index].isShort,
        "\(shortRows[index].when)")
}

/// Bodies of one segment, each ended by the close of its connection, in bytes of media that is accepted in the end.
private let shortFetchRows: [(when: String, bodies: [[UInt8]], requests: Int, accepted: Int)] = [
    ("whole at once", [stream(seconds: 6)], 1, 150),
    ("cut at a packet border, then whole", [stream(seconds: 3), stream(seconds: 6)], 2, 150),
    ("cut twice: the longer", [stream(seconds: 3), stream(seconds: 2)], 2, 75),
    ("cut, and then refused", [stream(seconds: 3), [], [], []], 2, 75),
]

@Test(arguments: shortFetchRows)
func shortBodyIsRequestedOnceMore(when: String, bodies: [[UInt8]], requests: Int, accepted: Int) {
    var queue = SegmentQueue()
    let media = fetch(&queue, bodies)
    #expect(media.requests == requests && media.bytes == accepted * 188, "\(when)")
}

/// EXTINFs that are always wrong do not cost two requests for each segment.
@Test func wrongDurationsAreBelievedInTheEnd() {
    var queue = SegmentQueue()
    let requests = (0..<6).map { _ in fetch(&queue, [stream(seconds: 3), stream(seconds: 3)]).requests }
    #expect(requests == [2, 2, 1, 1, 1, 1])
}

/// Fetches the next segment of 6 s with `bodies` as answers, and delivers it. An empty body is a refusal.
private func fetch(_ queue: inout SegmentQueue, _ bodies: [[UInt8]]) -> (requests: Int, bytes: Int) {
    let request = FetchRequest(.segment, url: "http://origin.example/a.ts", duration: .seconds(6))
    var segment = MediaSegment(uri: "http://origin.example/a.ts", duration: .seconds(6), discontinuitySequence: 0)
    segment.mediaSequence = 1
    guard let requests = try? SegmentRequests(segment, base: "http://origin.example/") else { return (0, 0) }
    queue.append(segment, requests, at: .zero)
    var now = Duration.zero
    var count = 0
    for body in bodies {
        now += .seconds(1)
        guard
            let startable = queue.startable(
                FetchAdmission(limiter: HostLimiter(maxConnections: nil), pacing: ErrorPacing(), now: now))
        else { break }
        count += 1
        let id = FetchID(number: UInt64(count))
        _ = queue.start(startable, as: id, at: now)
        let answer = FetchAnswer(status: body.isEmpty ? 404 : 200, finalURL: request.url, body: body, endsAtClose: true)
        _ = queue.settle(id, request, .success(answer), at: now)
        now += .seconds(5)
    }
    defer { _ = queue.popReady(ResourceCache()) }
    return (count, queue.totals.heldBytes)
}
