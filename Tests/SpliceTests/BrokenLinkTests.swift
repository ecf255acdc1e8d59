import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
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
        "every slice of the picture, no other unit", [unit(39), unit(21), unit(21), unit(40)],
        [unit(39), unit(18), unit(18), unit(40)]
    ),
    ("the highest bit of nuh_layer_id is kept", [unit(21, layer: 1)], [unit(18, layer: 1)]),
    ("other random access points", [unit(16), unit(19), unit(20)], [unit(16), unit(19), unit(20)]),
    ("leading parameter sets", [unit(32), unit(33), unit(34), unit(21)], [unit(32), unit(33), unit(34), unit(18)]),
    ("an empty unit", [[], unit(21)], [[], unit(18)]),
]

@Test(arguments: rows.indices) func firstFrameBecomesBrokenLink(_ index: Int) {
    let (what, units, becomes) = rows[index]
    #expect(Array(BrokenLink.payload(of: sample(units)[...], codec: .hevc)) == sample(becomes), "\(what)")
}

/// An excessive length ends the conversion.
@Test func malformedSampleIsUnchanged() {
    let whole = sample([unit(21)])
    for count in 0..<whole.count {
        let truncated = whole.prefix(count)
        let expected = count > 4 ? truncated.prefix(4) + [18 << 1] + truncated.dropFirst(5) : truncated
        #expect(BrokenLink.payload(of: truncated, codec: .hevc) == expected, "\(count) bytes")
    }
}

@Test func groupOfPicturesHasBrokenLink() {
    let (header, picture): ([UInt8], [UInt8]) = ([0, 0, 1, 0xB3, 0x2D], [0, 0, 1, 0, 0, 8])
    for (before, after) in [(0x80, 0xA0), (0xA0, 0xA0)] as [(UInt8, UInt8)] {
        let group: [UInt8] = [0, 0, 1, 0xB8, 0, 8, 0]
        let payload = BrokenLink.payload(of: (header + group + [before] + picture)[...], codec: .mpeg2)
        #expect(Array(payload) == header + group + [after] + picture)
    }
    #expect(Array(BrokenLink.payload(of: (header + picture)[...], codec: .mpeg2)) == header + picture)
}

/// Only the first frame of a period is rewritten, and only if it is a CRA picture.
@Test func onlyFirstFrameOfPeriodIsBrokenLink() {
    let packet = SyntheticPackets.videoPacket(dts: 0, sync: .cleanRandomAccess, payload: sample([unit(21)]))
    var timed = TimedVideo(packet: packet, dts: .zero, pts: .zero)
    #expect(Array(timed.payload) == sample([unit(21)]) && timed.randomAccess == nil)
    timed.beginsPeriod = true
    #expect(Array(timed.payload) == sample([unit(18)]) && timed.randomAccess == .instantaneousRefresh)
}
