import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A picture for each mark but `.`, where one is missing.
private func units(_ marks: String, from start: Int = 0) -> [TimedVideo] {
    marks.enumerated().filter { $1 != "." }.map { index, mark in
        let time = Int64(start + index) * 3600
        let packet = SyntheticPackets.videoPacket(dts: time, sync: mark == "I" ? .instantaneousRefresh : .none)
        return TimedVideo(packet: packet, dts: Ticks(time), pts: Ticks(mark == "P" ? time + 3600 : time))
    }
}

private func text(_ pieces: [SegmentCutter.CutSegment]) -> [String] {
    pieces.map { $0.units.map { $0.isSync ? "I" : $0.pts > $0.dts ? "P" : "p" }.joined() }
}

/// Pieces that came out after each segment, and what is left when the run ends.
private let cuts: [(when: String, segments: [String], pieces: [[String]], rest: [String])] = [
    ("each begins with an IDR", ["Ippp", "IppIpp", "Ipp"], [[], ["Ippp", "IppIpp"], ["Ipp"]], []),
    ("cut in the middle of a group", ["IpppIp", "ppIp", "ppIp"], [[], ["IpppIppp"], ["Ippp"]], ["Ip"]),
    ("longer than the target allows", ["IpppppIpppppIppppp"], [["Ippppp", "Ippppp"]], ["Ippppp"]),
    ("a group longer than the target, in one segment", ["Ippppppppppp"], [["Ippppppp"]], ["pppp"]),
    (
        "a group longer than the target is cut where its segments are", ["Ippppp", "pppppp", "pppIpp"],
        [[], ["Ippppp"], ["pppppp", "ppp"]], ["Ipp"]
    ),
    (
        "in the middle of a group once, when nobody thought so any more", ["Ippp", "Ippp", "ppIp", "Ipp", "Ipp", "Ip"],
        [[], ["Ippp", "Ippp"], ["pp"], ["Ip"], ["Ipp", "Ipp"], ["Ip"]], []
    ),
    (
        "pictures that are shown before the last one are still to come", ["Ip", "Ip", "IP", "pIp"],
        [[], ["Ip", "Ip"], [], ["IPp"]], ["Ip"]
    ),
    (
        "a hole is part of what follows it", ["Ippp", "Ippp", "....IppppIpp"],
        [[], ["Ippp", "Ippp"], ["Ippp", "pIpp"]], []
    ),
    ("a hole as long as a segment may be", ["Ippp", "Ippp", ".......Ip"], [[], ["Ippp", "Ippp"], ["I", "p"]], []),
    ("pictures that last nearly as long as a segment may", ["I.....p.....p.....p"], [["I", "p"]], ["pp"]),
    ("and no place fits", ["I.........p.........p"], [["I", "p"]], ["p"]),
    ("and it was a false alarm", ["Ip", "Ip", "IP", "Ip"], [[], ["Ip", "Ip"], [], ["IP", "Ip"]], []),
]

@Test(arguments: cuts.indices)
func segmentsEndWhereTheUpstreamsDo(_ index: Int) {
    let row = cuts[index]
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var at = 0
    for (number, (segment, pieces)) in zip(row.segments, row.pieces).enumerated() {
        let given = cutter.append(
            units(segment, from: at), of: UInt64(number), continuesPeriod: at > 0, frameDuration: Ticks(3600),
            reordering: .zero)
        #expect(text(given) == pieces, "\(row.when)")
        at += segment.count
    }
    #expect(text(cutter.finish()) == row.rest, "\(row.when)")
}

/// A restart goes on with the upstream segment in which the last picture published came.
@Test func aPartKnowsInWhichSegmentItEnds() {
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var ends: [UInt64] = []
    for (index, segment) in ["IpppIp", "ppIp", "ppIp", "Ippp"].enumerated() {
        let from = [0, 6, 10, 14][index]
        let pieces = cutter.append(
            units(segment, from: from), of: UInt64(40 + index), continuesPeriod: index > 0, frameDuration: Ticks(3600),
            reordering: .zero)
        ends += pieces.map(\.mediaSequence)
    }
    #expect(ends == [41, 42, 42, 43], "each ends with the group that the next segment shows to be whole")
    #expect(cutter.finish().isEmpty)
}

@Test func aGroupWithoutEndIsNotKept() {
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    var given = 0
    for segment in 0..<100 {
        let mark = segment == 0 ? "Ippppp" : "pppppp"
        let pieces = cutter.append(
            units(mark, from: 6 * segment), of: UInt64(segment), continuesPeriod: segment > 0,
            frameDuration: Ticks(3600),
            reordering: .zero)
        given += pieces.reduce(0) { $0 + $1.units.count }
        #expect(6 * (segment + 1) - given <= 8, "after \(segment)")
        #expect(pieces.allSatisfy { $0.units.count <= 8 })
    }
}
