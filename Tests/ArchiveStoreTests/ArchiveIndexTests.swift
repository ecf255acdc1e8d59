import Testing

@testable import ArchiveStore
@testable import LiveRing
@testable import Support

@Test func anIndexIsReadBack() throws {
    var index = head
    for n in 5..<400 { index.append(.numbered(n), isLost: n == 7) }
    let digest = String(repeating: "0a", count: 32) + ".m4s"
    index.append(
        ArchiveIndex.Object(name: digest, files: [5, 6].map { RingEntry.numbered($0).segment }))
    let read = try ArchiveIndex(index.text, name: "index")
    #expect(read == index)
    #expect(read.entries.map(\.isGap) == (5..<400).map { $0 == 7 })
    let name = RingEntry.numbered(6).segment.name
    #expect(read.places[name] == ArchiveIndex.Place(object: 0, start: 105))
}

private let badIndexes: [(what: String, line: String)] = [
    ("an object of another name", "#LIVERELAY-OBJECT:../../x seg-1-0a0a0a0a.m4s:5"),
    ("a file of another name", "#LIVERELAY-OBJECT:\(String(repeating: "0", count: 64)).m4s passwd:5"),
    ("a negative size", "#LIVERELAY-OBJECT:\(String(repeating: "0", count: 64)).m4s seg-1-0a0a0a0a.m4s:-5"),
]

@Test(arguments: badIndexes) func indexesFromOutsideAreChecked(what: String, line: String) {
    let text = Array(String(decoding: head.text, as: UTF8.self).replacing("#EXTM3U\n", with: "#EXTM3U\n\(line)\n").utf8)
    #expect(throws: RingError.self, "\(what)") { try ArchiveIndex(text, name: "index") }
}

private let keyRows: [(text: String, isKey: Bool)] = [
    ("index/2026-01-02T12/w-0.m3u8", true), ("index/2026-01-02T12/w.m3u8", false),
    ("index/2026-01-02/w-0.m3u8", false), ("index/2026-13-02T12/w-0.m3u8", false),
    ("media/2026-01-02T12/w-0.m3u8", false),
    ("index/2026-01-02T12/-0.m3u8", false), ("index/2026-01-02T12/w-0.m3u8.part", false), ("", false),
]

@Test(arguments: keyRows) func keysOfIndexes(text: String, isKey: Bool) {
    #expect((IndexKey(text)?.text == text) == isKey)
}

@Test func hoursBefore1970AreHoursToo() {
    #expect(IndexKey.hour(of: ProgramDateTime(millisecondsSince1970: -1)) == -1)
    #expect(IndexKey.hour(of: ProgramDateTime(millisecondsSince1970: 3_599_999)) == 0)
}

/// What a sweep at 12:00 removes of an archive of some hours.
private let sweepRows: [(what: String, key: String, hours: Int64, isExpired: Bool)] = [
    ("an hour before the archive", "media/2026-01-02T09/x.m4s", 2, true),
    ("the hour in which it begins", "media/2026-01-02T10/x.m4s", 2, false),
    ("its index", "index/2026-01-02T10/w-0.m3u8", 2, false),
    ("an index of another writer", "index/2026-01-02T09/v-7.m3u8", 2, true),
    ("the day before", "media/2026-01-01T23/x.m4s", 12, true), ("midnight", "media/2026-01-02T00/x.m4s", 12, false),
    ("the future of a relay whose clock was wrong", "media/2027-01-01T00/x.m4s", 2, false),
    ("what nobody here put", "media/other/x.m4s", 2, false), ("a file of all hours", "files/init-a.mp4", 2, false),
]

@Test(arguments: sweepRows) func aSweepRemovesWholeHours(what: String, key: String, hours: Int64, isExpired: Bool) {
    let oldest = ArchiveSweep.oldestHour(at: noon, keeping: .seconds(hours * 3600))
    let folder = key.prefix { $0 != "/" } + "/"
    #expect(ArchiveSweep.isExpired(key, in: String(folder), before: oldest) == isExpired, "\(what)")
}

// MARK: - Several writers

private func words(_ entries: [RingEntry]) -> [String] {
    entries.map {
        "\($0.mediaSequence):\($0.segment.byteCount - 100)\($0.isDiscontinuous ? "!" : "")\($0.isGap ? "-" : "")"
    }
}

@Test func oneWriterKeepsItsNumbers() {
    #expect(words(ArchiveTimeline.merge([[.numbered(3), .numbered(5)]])) == ["3:3", "5:5"])
    #expect(ArchiveTimeline.merge([]).isEmpty)
}

private let numberRows: [(what: String, entries: [RingEntry], words: [String])] = [
    ("missing numbers stay", [.numbered(3), .numbered(90)], ["3:3", "90:90"]),
    ("an index that was put twice", [.numbered(3), .numbered(4), .numbered(3), .numbered(5)], ["3:3", "4:4", "5:5"]),
    (
        "numbers that went back", [.numbered(70, at: noon), .numbered(3), .numbered(4)], ["70:70", "71:3!", "72:4"]
    ),
    (
        "more missing numbers than a range has gaps",
        [.numbered(3), .numbered(80_000), .numbered(90_000), .numbered(90_002)],
        ["3:3", "80000:80000", "80001:90000!", "80003:90002"]
    ),
]

@Test(arguments: numberRows) func numbersOfOneWriter(what: String, entries: [RingEntry], words expected: [String]) {
    #expect(words(ArchiveTimeline.merge([entries])) == expected, "\(what)")
}

@Test func missingNumbersStayWhereAnotherWriterHasNothingEither() {
    let one: [RingEntry] = [.numbered(0), .numbered(1), .numbered(4)]
    let other: [RingEntry] = [.numbered(50, at: noon.advanced(byMilliseconds: 40_000))]
    #expect(words(ArchiveTimeline.merge([one, other])) == ["0:0", "1:1", "4:4", "5:50!"])
}

@Test func anotherWriterGoesOnWhereOneEnds() {
    let one = (0..<4).map { RingEntry.numbered($0) }
    let other = (50..<56).map { RingEntry.numbered($0, at: noon.advanced(byMilliseconds: Int64($0 - 50) * 4000 + 100)) }
    #expect(words(ArchiveTimeline.merge([one, other])) == ["0:0", "1:1", "2:2", "3:3", "4:54!", "5:55"])
}

@Test func anotherWriterFillsTheGapOfOne() {
    var one = (0..<5).map { RingEntry.numbered($0) }
    for n in 2...3 { one[n].isGap = true }
    let other = (50..<55).map { RingEntry.numbered($0, at: noon.advanced(byMilliseconds: Int64($0 - 50) * 4000)) }
    let merged = ArchiveTimeline.merge([one, other])
    #expect(words(merged) == ["0:0", "1:1", "2:52!", "3:53", "4:54"], "a range changes its writer as seldom as it can")
}
