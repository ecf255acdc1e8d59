import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

private func unit(_ type: UInt8, layer: UInt8 = 0, _ body: [UInt8] = [0x01, 0x88, 0x2A]) -> [UInt8] {
    [type << 1 | layer] + body
}

private func sample(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { NALUnitLength.bytes($0.count) + $0 } }

private let rows: [(what: String, units: [[UInt8]], becomes: [[UInt8]])] = [
    ("a slice of a CRA picture", [unit(21)], [unit(18)]),
    (
        "each of its slices, not what stands with them", [unit(39), unit(21), unit(21), unit(40)],
        [unit(39), unit(18), unit(18), unit(40)]
    ),
    ("the highest bit of the layer stays", [unit(21, layer: 1)], [unit(18, layer: 1)]),
    ("other random access points", [unit(16), unit(19), unit(20)], [unit(16), unit(19), unit(20)]),
    ("parameter sets in front", [unit(32), unit(33), unit(34), unit(21)], [unit(32), unit(33), unit(34), unit(18)]),
    ("one without a byte", [[], unit(21)], [[], unit(18)]),
]

@Test(arguments: rows.indices) func aPeriodBeginsWithABrokenLink(_ index: Int) {
    let (what, units, becomes) = rows[index]
    #expect(Array(BrokenLink.payload(of: sample(units)[...])) == sample(becomes), "\(what)")
}

/// A length that is too long ends what is read.
@Test func whatIsTornStaysAsItIs() {
    let whole = sample([unit(21)])
    for count in 0..<whole.count {
        let torn = whole.prefix(count)
        let expected = count > 4 ? torn.prefix(4) + [18 << 1] + torn.dropFirst(5) : torn
        #expect(BrokenLink.payload(of: torn) == expected, "\(count) bytes")
    }
}

/// Only the first picture of a run, and only where it is a CRA picture, is written otherwise than it came.
@Test func onlyAPeriodsFirstFrameIsOne() {
    let packet = SyntheticPackets.videoPacket(dts: 0, sync: .cleanRandomAccess, payload: sample([unit(21)]))
    var timed = TimedVideo(packet: packet, dts: .zero, pts: .zero)
    #expect(Array(timed.payload) == sample([unit(21)]) && !timed.isSync)
    timed.beginsPeriod = true
    #expect(Array(timed.payload) == sample([unit(18)]) && timed.isSync)
}
