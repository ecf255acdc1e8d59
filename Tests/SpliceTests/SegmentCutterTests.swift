import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Returns a frame for each letter; `.` stands for a missing frame.
private func units(_ letters: String, from start: Int = 0) -> [TimedVideo] {
    letters.enumerated().filter { $1 != "." }.map { index, letter in
        let time = Int64(start + index) * 3600
        let packet = SyntheticPackets.videoPacket(dts: time, sync: letter == "I" ? .instantaneousRefresh : .none)
        return TimedVideo(packet: packet, dts: Ticks(time), pts: Ticks(letter == "P" ? time + 3600 : time))
    }
}

private func text(_ segments: [SegmentCutter.CutSegment]) -> [String] {
    segments.map { $0.units.map { $0.randomAccess != nil ? "I" : $0.pts > $0.dts ? "P" : "p" }.joined() }
}

/// Output segments after each upstream segment, and the rest when the period ends.
private let cuts: [(when: String, upstream: [String], output: [[String]], rest: [String])] = [
    ("each begins with an IDR", ["Ippp", "IppIpp", "Ipp"], [[], ["Ippp", "IppIpp"], ["Ipp"]], []),
    ("cut in the middle of a GOP", ["IpppIp", "ppIp", "ppIp"], [[], ["IpppIppp"], ["Ippp"]], ["Ip"]),
    ("longer than the target allows", ["IpppppIpppppIppppp"], [["Ippppp", "Ippppp"]], ["Ippppp"]),
    ("a GOP longer than the target, in one segment", ["Ippppppppppp"], [["Ippppppp"]], ["pppp"]),
    (
        "a GOP longer than the target is cut at upstream boundaries", ["Ippppp", "pppppp", "pppIpp"],
        [[], ["Ippppp"], ["pppppp", "ppp"]], ["Ipp"]
    ),
    (
        "cut in the middle of a GOP once, after aligned segments", ["Ippp", "Ippp", "ppIp", "Ipp", "Ipp", "Ip"],
        [[], ["Ippp", "Ippp"], ["pp"], ["Ip"], ["Ipp", "Ipp"], ["Ip"]], []
    ),
    (
        "frames presented before the last one are still missing", ["Ip", "Ip", "IP", "pIp"],
        [[], ["Ip", "Ip"], [], ["IPp"]], ["Ip"]
    ),
    (
        "a gap is part of the segment after it", ["Ippp", "Ippp", "....IppppIpp"],
        [[], ["Ippp", "Ippp"], ["Ippp", "pIpp"]], []
    ),
    ("a gap as long as a segment may be", ["Ippp", "Ippp", ".......Ip"], [[], ["Ippp", "Ippp"], ["I", "p"]], []),
    ("frames nearly as long as a segment may be", ["I.....p.....p.....p"], [["I", "p"]], ["pp"]),
    ("frames longer than a segment may be", ["I.........p.........p"], [["I", "p"]], ["p"]),
    ("no frame was missing: a false alarm", ["Ip", "Ip", "IP", "Ip"], [[], ["Ip", "Ip"], [], ["IP", "Ip"]], []),
]

@Test(arguments: cuts.indices)
func segmentsEndWhereTheUpstreamsDo(_ index: Int) {
    let row = cuts[index]
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var start = 0
    for (number, (segment, expected)) in zip(row.upstream, row.output).enumerated() {
        let output = cutter.append(
            units(segment, from: start), of: UInt64(number), continuesPeriod: start > 0, frameDuration: Ticks(3600),
            reordering: .zero)
        #expect(text(output) == expected, "\(row.when)")
        start += segment.count
    }
    #expect(text(cutter.finish()) == row.rest, "\(row.when)")
}

/// A restart resumes with the upstream segment that contains the last published frame.
@Test func outputSegmentNamesTheUpstreamSegmentOfItsEnd() {
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var ends: [UInt64] = []
    for (index, segment) in ["IpppIp", "ppIp", "ppIp", "Ippp"].enumerated() {
        let from = [0, 6, 10, 14][index]
        let output = cutter.append(
            units(segment, from: from), of: UInt64(40 + index), continuesPeriod: index > 0, frameDuration: Ticks(3600),
            reordering: .zero)
        ends += output.map(\.mediaSequence)
    }
    #expect(ends == [41, 42, 42, 43], "each ends with the GOP that the next segment completes")
    #expect(cutter.finish().isEmpty)
}

@Test func endlessGOPIsNotHeld() {
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var returned = 0
    for segment in 0..<100 {
        let letters = segment == 0 ? "Ippppp" : "pppppp"
        let output = cutter.append(
            units(letters, from: 6 * segment), of: UInt64(segment), continuesPeriod: segment > 0,
            frameDuration: Ticks(3600),
            reordering: .zero)
        returned += output.reduce(0) { $0 + $1.units.count }
        #expect(6 * (segment + 1) - returned <= 8, "after \(segment)")
        #expect(output.allSatisfy { $0.units.count <= 8 })
    }
}
