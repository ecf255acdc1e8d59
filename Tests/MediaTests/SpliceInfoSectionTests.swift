import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// The examples of SCTE 35 (§14) with the values in the standard.
private let examples: [(when: String, section: String, time: Int64?, cues: [SpliceCue])] = [
    (
        "a placement opportunity begins",
        "FC3034000000000000FFFFF00506FE72BD0050001E021C435545494800008E7FCF0001A599B00808000000002CA0A18A3402009AC9D17E",
        0x0_72BD_0050, [SpliceCue(.out(autoReturn: false), eventID: 0x4800_008E, duration: Ticks(27_630_000))]
    ),
    (
        "a break is spliced in",
        "FC302F000000000000FFFFF014054800008F7FEFFE7369C02EFE0052CCF500000000000A0008435545490000013562DBA30A",
        0x0_7369_C02E, [SpliceCue(.out(autoReturn: true), eventID: 0x4800_008F, duration: Ticks(0x0052_CCF5))]
    ),
    (
        "a placement opportunity ends",
        "FC302F000000000000FFFFF00506FE746290A000190217435545494800008E7F9F0808000000002CA0A18A350200A9CC6758",
        0x0_7462_90A0, [SpliceCue(.in(endsAnyEvent: false), eventID: 0x4800_008E)]
    ),
    (
        "a program ends, another begins",
        """
        FC3048000000000000FFFFF00506FE7A4D88B60032021743554549480000187F9F0808000000002CCBC344110000\
        021743554549480000197F9F0808000000002CA4DBA01000009972E343
        """,
        0x0_7A4D_88B6, [SpliceCue(.command, eventID: 0x4800_0018), SpliceCue(.command, eventID: 0x4800_0019)]
    ),
]

@Test(arguments: examples.indices)
func examplesOfTheStandard(_ index: Int) throws {
    let row = examples[index]
    let information = try SpliceInfoSection(bytes(row.section))
    #expect(information.spliceTime?.count == row.time, "\(row.when)")
    #expect(information.cues == row.cues, "\(row.when)")
    #expect(information.bytes == bytes(row.section), "\(row.when)")
}

@Test func fieldsOfAnExample() throws {
    let opportunity = try SpliceInfoSection(bytes(examples[0].section))
    let segmentation = try #require(opportunity.segmentations.first)
    #expect(segmentation.typeID == 0x34 && !segmentation.isCanceled)
    #expect(opportunity.command == .timeSignal && opportunity.ptsAdjustment == .zero)
    guard case .insert(let insert) = try SpliceInfoSection(bytes(examples[1].section)).command else {
        Issue.record("no splice_insert")
        return
    }
    #expect(insert.duration == .init(autoReturn: true, duration: Ticks(5_426_421)) && insert.isOutOfNetwork)
}

private let sketches: [(when: String, sketch: SectionSketch, time: Int64?, cues: [SpliceCue])] = [
    ("nothing", SectionSketch(), nil, []),
    ("a bandwidth reservation", SectionSketch(type: 7), nil, []),
    ("an immediate break", .out(event: 7, at: nil), nil, [SpliceCue(.out(autoReturn: false), eventID: 7)]),
    ("the end of a break", .back(event: 7, at: 900), 900, [SpliceCue(.in(endsAnyEvent: true), eventID: 7)]),
    (
        "times are adjusted around the wrap",
        {
            var sketch = SectionSketch.back(event: 7, at: 900)
            sketch.adjustment = (1 << 33) - 1000
            return sketch
        }(), (1 << 33) - 100, [SpliceCue(.in(endsAnyEvent: true), eventID: 7)]
    ),
    (
        "a cancelled event", SectionSketch(type: 5, command: [0, 0, 0, 7, 0xFF]), nil,
        [SpliceCue(.canceled, eventID: 7)]
    ),
    (
        "components instead of a program",
        SectionSketch(
            type: 5,
            command: [0, 0, 0, 7, 0x7F, 0x8F, 2, 1] + SectionSketch.clock(500, flag: 0xFE) + [2]
                + SectionSketch.clock(600, flag: 0xFE) + [0, 0, 0, 0]), 500,
        [SpliceCue(.out(autoReturn: false), eventID: 7)]
    ),
    (
        "a time signal without descriptors", SectionSketch(type: 6, command: SectionSketch.clock(500, flag: 0xFE)),
        500, [SpliceCue(.command, eventID: nil)]
    ),
    (
        "an unknown splice_command_length",
        SectionSketch(hasLength: false, type: 6, command: SectionSketch.clock(500, flag: 0xFE)), 500,
        [SpliceCue(.command, eventID: nil)]
    ),
    ("private", SectionSketch(type: 0xFF, command: [1, 2, 3, 4, 5]), nil, [SpliceCue(.command, eventID: nil)]),
    ("an unknown type", SectionSketch(type: 0x42, command: [9]), nil, [SpliceCue(.command, eventID: nil)]),
    (
        "an encrypted command", SectionSketch(isEncrypted: true, type: 5, command: [0xFF]), nil,
        [SpliceCue(.command, eventID: nil)]
    ),
    (
        "a private descriptor",
        SectionSketch(
            type: 6, command: SectionSketch.clock(5, flag: 0xFE), descriptors: [2, 5] + Array("ELSE".utf8) + [1]), 5,
        [SpliceCue(.command, eventID: nil)]
    ),
    (
        "a cancelled segmentation",
        SectionSketch(
            type: 6, command: SectionSketch.clock(5, flag: 0xFE),
            descriptors: [2, 9] + Array("CUEI".utf8) + [0, 0, 0, 9, 0xFF]), 5,
        [SpliceCue(.canceled, eventID: 9)]
    ),
]

@Test(arguments: sketches.indices)
func cuesOfCommand(_ index: Int) throws {
    let row = sketches[index]
    let information = try SpliceInfoSection(row.sketch.bytes)
    #expect(information.spliceTime?.count == row.time, "\(row.when)")
    #expect(information.cues == row.cues, "\(row.when)")
}

/// pts_adjustment is in the clear, so also the times of a command that nobody else can read are moved (§9.6.1).
@Test(arguments: [
    (
        sketch: SectionSketch.back(event: 7, at: 900), shift: Ticks(-1000), adjustment: Int64(1 << 33 - 1000),
        time: Int64?(1 << 33 - 100)
    ),
    (SectionSketch(isEncrypted: true, adjustment: 1 << 33 - 5, type: 5, command: [0xFF]), Ticks(90_000), 89_995, nil),
    (SectionSketch(isEncrypted: true, type: 5, command: [0xFF]), Ticks(1 << 33 + 1), 1, nil),
])
func movedSectionsHaveAnotherAdjustment(
    _ row: (sketch: SectionSketch, shift: Ticks, adjustment: Int64, time: Int64?)
) throws {
    let moved = try SpliceInfoSection(row.sketch.bytes).moved(by: row.shift)
    #expect(try SpliceInfoSection(moved.bytes) == moved)
    #expect(moved.ptsAdjustment.count == row.adjustment && moved.spliceTime?.count == row.time)
    #expect(moved.isEncrypted == row.sketch.isEncrypted)
    var expected = row.sketch
    expected.adjustment = row.adjustment
    #expect(moved.bytes == expected.bytes)
}

@Test func damagedSectionsAreRefused() throws {
    let whole = bytes(examples[0].section)
    for index in whole.indices {
        var damaged = whole
        damaged[index] ^= 0x10
        #expect(throws: MediaError.self) { try SpliceInfoSection(damaged) }
        #expect(throws: MediaError.self) { try SpliceInfoSection(Array(whole[..<index])) }
    }
    // Contradictory fields with a correct CRC.
    #expect(throws: MediaError.self) { try SpliceInfoSection(SectionSketch(type: 5, command: [0]).bytes) }
    #expect(throws: MediaError.self) { try SpliceInfoSection(SectionSketch(descriptors: [2, 200, 0]).bytes) }
}

/// Random bytes with a correct CRC are parsed or refused.
@Test func randomSectionsTerminate() {
    var random = SeededGenerator(seed: 35)
    var refused = 0
    for _ in 0..<3000 {
        var sketch = SectionSketch()
        sketch.type = [0, 4, 5, 6, 7, 0xFF].randomElement(using: &random) ?? 0
        sketch.hasLength = Bool.random(using: &random)
        sketch.command = (0..<Int.random(in: 0...30, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        sketch.descriptors = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            .random(in: 0...255, using: &random)
        }
        if (try? SpliceInfoSection(sketch.bytes)) == nil { refused += 1 }
    }
    #expect((1..<3000).contains(refused))
}
