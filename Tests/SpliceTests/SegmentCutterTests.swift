import Testing

@testable import Splice

private func units(_ marks: String, from start: Int = 0) -> [TimedVideo] {
    marks.enumerated().map { index, mark in
        let time = Int64(start + index) * 3600
        let packet = Synthetic.picture(dts: time, sync: mark == "I" ? .instantaneousRefresh : .none)
        return TimedVideo(packet: packet, dts: Ticks(time), pts: Ticks(time))
    }
}

private func text(_ pieces: [[TimedVideo]]) -> [String] {
    pieces.map { $0.map { $0.isSync ? "I" : "p" }.joined() }
}

private let cuts: [(when: String, segments: [String], pieces: [[String]], rest: [String])] = [
    ("each begins with an IDR", ["Ippp", "IppIpp"], [["Ippp"], ["IppIpp"]], []),
    ("cut in the middle of a group", ["IpppIp", "ppIp", "ppIp"], [["Ippp"], ["Ippp"], ["Ippp"]], ["Ip"]),
    ("longer than the target allows", ["IpppppIpppppIppppp"], [["Ippppp", "Ippppp", "Ippppp"]], []),
    ("longer, but nowhere to cut", ["Ippppppppppp"], [["Ippppppppppp"]], []),
]

@Test(arguments: cuts.indices)
func segmentsEndWhereTheUpstreamsDo(_ index: Int) {
    let row = cuts[index]
    var cutter = SegmentCutter(longest: Ticks(3600 * 8))
    if row.when.hasPrefix("cut") { cutter.noteCutsMidGroup() }
    var at = 0
    for (segment, pieces) in zip(row.segments, row.pieces) {
        #expect(text(cutter.append(units(segment, from: at))) == pieces, "\(row.when)")
        at += segment.count
    }
    #expect(text(cutter.finish()) == row.rest, "\(row.when)")
}
