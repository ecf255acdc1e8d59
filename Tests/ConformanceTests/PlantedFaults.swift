@testable import Conformance

private typealias Stream = ScheduledStream
private let (video, audio) = (Stream.videoPID, Stream.audioPID)

extension TransportCheckerTests {
    static let syncRows = [
        PlantedRow("no fault"),
        PlantedRow("nothing", [(.syncLoss, nil)], bytes: { [] }),
        PlantedRow("text", [(.syncLoss, nil)], bytes: { Array(String(repeating: "#EXTM3U\n", count: 500).utf8) }),
        PlantedRow("one wrong sync byte", [(.syncByte, nil)]) { $0.packets[1005][0] = 0x46 },
        PlantedRow("two wrong sync bytes in a row", [(.syncByte, nil), (.syncLoss, nil)]) {
            $0.packets[1005][0] = 0x46
            $0.packets[1006][0] = 0x48
        },
        PlantedRow("the last sync byte is wrong", [(.syncByte, nil)]) { $0.packets[2499][0] = 0 },
        PlantedRow("begins in the middle of a packet", [(.syncLoss, nil)]) {
            $0.packets.insert([UInt8](repeating: 0x11, count: 100), at: 0)
        },
        PlantedRow("13 bytes between two packets", [(.syncByte, nil), (.syncLoss, nil)]) {
            // In a slot's null packets, and before the PCRs that show a constant rate.
            $0.packets.insert([UInt8](repeating: 0x11, count: 13), at: 1095)
        },
        PlantedRow("ends in the middle of a packet", [(.syncLoss, nil)]) { $0.packets[2499] = [0x47, 0x1F, 0xFF] },
    ]

    static let tableRows = [
        PlantedRow("no PAT for 0.6 s", [(.association, 0)]) { $0.remove(0, in: 10..<24) },
        PlantedRow("no PAT for 0.48 s") { $0.remove(0, in: 10..<20) },
        PlantedRow("no PAT at all", [(.association, 0)]) { $0.remove(0, in: 0..<50) },
        PlantedRow("another table on PID 0", [(.association, 0)]) {
            $0.insert(Stream.sectionPacket(0, Stream.section(0x02, [0, 1, 0xE0, 0])), at: 45)
        },
        PlantedRow("a scrambled PAT", [(.association, 0), (.conditionalAccess, 0)]) { $0.packets[1000][3] |= 0x80 },
        PlantedRow("no PMT for 0.6 s", [(.map, 0x1000)]) { $0.remove(0x1000, in: 10..<24) },
        PlantedRow("no PMT at all", [(.map, 0x1000)]) { $0.remove(0x1000, in: 0..<50) },
        PlantedRow("no PMT in a stream of 0.2 s", [(.map, 0x1000)], options: .init(slots: 5)) {
            $0.remove(0x1000, in: 0..<5)
        },
        PlantedRow("a scrambled PMT", [(.map, 0x1000), (.conditionalAccess, 0x1000)]) { $0.packets[1001][3] |= 0x80 },
        PlantedRow("an audio PID without a packet", [(.missingPID, audio)]) { $0.remove(audio, in: 0..<50) },
        PlantedRow(
            "an audio PID that ends", [(.missingPID, audio), (.presentationTime, audio)], options: .init(slots: 200)
        ) { $0.remove(audio, in: 20..<190) },
        PlantedRow(
            "audio for the hearing impaired may be absent",
            options: .audio([0x0A, 4, 0x75, 0x6E, 0x64, 2])
        ) { $0.remove(audio, in: 0..<50) },
        PlantedRow(
            "a PMT that names another audio PID", [(.missingPID, 0x111)], options: .audio(pid: 0x111)),
        PlantedRow("a PAT with a wrong CRC_32", [(.checksum, 0)]) { $0.packets[1000][10] ^= 1 },
        PlantedRow("a PMT with a wrong CRC_32", [(.checksum, 0x1000)]) { $0.packets[1001][12] ^= 1 },
        PlantedRow("an SDT with a wrong CRC_32", [(.checksum, 0x11)]) { stream in
            stream.insert(Stream.sectionPacket(0x11, Stream.section(0x42, [0, 1, 0xFF])), at: 45)
            stream.packets[45][10] ^= 1
        },
        PlantedRow("an SDT of two packets") { stream in
            let section = Stream.section(0x42, [UInt8](repeating: 7, count: 250))
            stream.insert(Stream.sectionPacket(0x11, Array(section.prefix(183))), at: 45)
            stream.insert(Stream.packet(0x11, startsUnit: false, payload: Array(section.dropFirst(183))), at: 46)
        },
        PlantedRow("a TDT has no CRC_32") { stream in
            stream.insert(Stream.sectionPacket(0x14, [0x70, 0x70, 5, 1, 2, 3, 4, 5]), at: 45)
        },
        PlantedRow(
            "a splice_info_section with a wrong CRC_32", [(.checksum, 0x1F0)],
            options: .audio(type: 0x86, pid: 0x1F0)
        ) { stream in
            stream.insert(Stream.sectionPacket(0x1F0, Stream.section(0xFC, hasSyntax: false, [1, 2, 3])), at: 45)
            stream.packets[45][10] ^= 1
        },
        PlantedRow("pointer_field leads out of the packet", [(.checksum, 0)]) { $0.packets[1000][4] = 200 },
    ]

    static let packetRows = [
        PlantedRow("a lost packet", [(.continuity, video)]) { $0.packets[1010] = Stream.null },
        PlantedRow(
            "two packets in the wrong order", [(.continuity, video), (.continuity, video), (.continuity, video)]
        ) { $0.packets.swapAt(1010, 1011) },
        PlantedRow("a duplicate") { $0.packets[1044] = $0.packets[1040] },
        PlantedRow("a packet three times", [(.continuity, audio)]) {
            $0.packets[1044] = $0.packets[1040]
            $0.packets[1045] = $0.packets[1040]
        },
        PlantedRow("a duplicate with other bytes", [(.continuity, audio)]) {
            $0.packets[1044] = $0.packets[1040]
            $0.packets[1044][187] ^= 1
        },
        PlantedRow("a duplicate with another byte in its middle", [(.continuity, audio)]) {
            $0.packets[1044] = $0.packets[1040]
            $0.packets[1044][100] ^= 1
        },
        PlantedRow("a duplicate with another PCR", options: .init(slots: 100)) { stream in
            let first = stream.video(20)
            for index in (first + 1...first + Stream.videoSize).reversed() {
                stream.packets[index] = stream.packets[index - 1]
            }
            stream.shiftClock(at: first + 1, by: 0)
        },
        PlantedRow("an adaptation field that leaves no byte of the payload counts") { stream in
            let counter = stream.packets[1040][3] & 15
            stream.packets[1040] = [0x47, 1, 1, 0x30 | counter, 183] + [UInt8](repeating: 0, count: 183)
        },
        PlantedRow("15 lost packets", [(.continuity, video)]) { stream in
            for index in 1003..<1018 { stream.packets[index] = Stream.null }
        },
        PlantedRow("a lost packet that discontinuity_indicator announces") { stream in
            stream.packets[1010] = Stream.null
            let counter = stream.packets[1011][3] & 15
            stream.packets[1011] = Stream.packet(video, startsUnit: false, announces: true)
            stream.packets[1011][3] |= counter
            // That PID has the PCRs: the next PCR is on another clock.
        },
        PlantedRow("a packet without payload that counts", [(.continuity, audio), (.continuity, audio)]) { stream in
            let counter = stream.packets[1040][3] & 15
            stream.packets[1044] = [0x47, 1, 1, 0x20 | (counter + 1) & 15, 183] + [UInt8](repeating: 0, count: 183)
        },
        PlantedRow("a packet without payload that does not count") { stream in
            let counter = stream.packets[1040][3] & 15
            stream.packets[1044] = [0x47, 1, 1, 0x20 | counter, 183] + [UInt8](repeating: 0, count: 183)
        },
        PlantedRow("transport_error_indicator", [(.transport, video)]) { $0.packets[1010][1] |= 0x80 },
        PlantedRow("transport_error_indicator, and another PID", [(.transport, 0x1F1), (.continuity, video)]) {
            $0.packets[1010][1] = 0x81
            $0.packets[1010][2] = 0xF1
        },
        PlantedRow("a scrambled packet without a CAT", [(.conditionalAccess, video)]) { $0.packets[1010][3] |= 0xC0 },
        PlantedRow("a scrambled packet with a CAT") { stream in
            stream.packets[1010][3] |= 0xC0
            stream.insert(Stream.sectionPacket(1, Stream.section(0x01, [])), at: 1045)
        },
        PlantedRow("another table on PID 1", [(.conditionalAccess, 1)]) {
            $0.insert(Stream.sectionPacket(1, Stream.section(0x00, [])), at: 45)
        },
    ]

    static let clockRows = [
        PlantedRow("no PCR for 120 ms", [(.clockRepetition, video)]) { stream in
            for slot in 10..<12 { stream.removeClock(slot: slot) }
        },
        PlantedRow("no PCR for 80 ms") { $0.removeClock(slot: 10) },
        PlantedRow("no PCR for 1.4 s", [(.clockRepetition, video), (.clockDiscontinuity, video)]) { stream in
            for slot in 10..<45 { stream.removeClock(slot: slot) }
        },
        PlantedRow("no PCR at all", [(.clockRepetition, video)]) { stream in
            for slot in 0..<50 { stream.removeClock(slot: slot) }
        },
        PlantedRow("no PCR in a stream of 0.2 s", [(.clockRepetition, video)], options: .init(slots: 5)) { stream in
            for slot in 0..<5 { stream.removeClock(slot: slot) }
        },
        PlantedRow("the PMT names no PID for the PCR", [(.clockRepetition, nil)], options: .init(clockPID: 0x1FFF)),
        PlantedRow("the clock jumps forward", [(.clockDiscontinuity, video)]) {
            $0.shiftTime(from: 20, by: 27_000_000 * 60)
        },
        PlantedRow("the clock jumps back", [(.clockDiscontinuity, video)]) {
            $0.shiftTime(from: 20, by: -27_000_000 / 2)
        },
        PlantedRow("the clock jumps, and discontinuity_indicator says so") { stream in
            stream.shiftTime(from: 20, by: 27_000_000 * 60)
            stream.packets[stream.video(20)][5] |= 0x80
        },
        PlantedRow("discontinuity_indicator comes a packet before the PCR") { stream in
            stream.shiftTime(from: 20, by: 27_000_000 * 60)
            let last = stream.video(19) + Stream.videoSize - 1
            let counter = stream.packets[last][3] & 15
            stream.packets[last] = Stream.packet(video, startsUnit: false, announces: true)
            stream.packets[last][3] |= counter
        },
        PlantedRow("the clock wraps", options: .init(firstClock: ((1 << 33) - 45_000) * 300)),
    ]

    static let timeRows = [
        PlantedRow("no audio for 0.8 s", [(.presentationTime, audio)]) { $0.remove(audio, in: 10..<30) },
        PlantedRow("no audio for 0.68 s") { $0.remove(audio, in: 10..<26) },
        PlantedRow("PES packets without PTS for 0.8 s", [(.presentationTime, audio)]) { stream in
            for slot in 10..<29 { stream.setAudioLead(nil, slot: slot) }
        },
        PlantedRow("PES packets without PTS for 0.68 s") { stream in
            for slot in 10..<26 { stream.setAudioLead(nil, slot: slot) }
        },
        PlantedRow("the PTS wraps", options: .init(firstClock: ((1 << 33) - 90_000) * 300)),
        PlantedRow(
            "audio in a private stream is audio", [(.presentationTime, audio)],
            options: .audio(type: 0x06, [0x6A, 1, 0])
        ) { $0.remove(audio, in: 10..<30) },
        PlantedRow("data in a private stream is none", options: .audio(type: 0x06)) {
            $0.remove(audio, in: 10..<30)
        },
    ]

    static let bufferRows = [
        PlantedRow("a frame ends 1 ms before its decode time", options: .init(lead: 29 * 72 + 90 + 72)),
        // Of the last frame, nothing says when it ended.
        PlantedRow(
            "all frames end after their decode time",
            options: .init(slots: 3, lead: 1000), expected: 2),
        PlantedRow("a frame ends 1 ms after its decode time", [(.bufferUnderflow, video)]) { stream in
            let index = stream.video(20)
            let decode = stream.clock(at: index + Stream.videoSize) / 300 - 90
            stream.setHeader(at: index, from: 12, Stream.pesHeader(0xE0, pts: decode + 7200, dts: decode))
        },
        PlantedRow("audio comes 10 ms late", [(.bufferUnderflow, audio)]) { $0.setAudioLead(-900, slot: 20) },
        PlantedRow("a frame comes 1.1 s early", [(.dataDelay, video)]) { stream in
            let index = stream.video(20)
            let decode = stream.clock(at: index) / 300 + 99_000
            stream.setHeader(at: index, from: 12, Stream.pesHeader(0xE0, pts: decode, dts: decode))
        },
        PlantedRow("audio comes 1.1 s early", [(.dataDelay, audio)]) { $0.setAudioLead(99_000, slot: 20) },
    ]
}

extension ScheduledStream {
    /// Removes the PCR of a slot; its field becomes stuffing.
    fileprivate mutating func removeClock(slot: Int) {
        packets[video(slot)].replaceSubrange(5..<12, with: [0] + [UInt8](repeating: 0xFF, count: 6))
    }
}

extension PlantedRow {
    /// Only the number of late video frames counts.
    fileprivate init(
        _ when: String, options: ScheduledStream.Options, expected late: Int
    ) {
        self.init(when, Array(repeating: (.bufferUnderflow, video), count: late), options: options)
    }
}
