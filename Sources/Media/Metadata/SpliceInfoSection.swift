/// A splice_info_section (SCTE 35 §9.6): all of its bytes, and the fields about the time of splices.
package struct SpliceInfoSection: Equatable, Sendable {
    package static let tableID: UInt8 = 0xFC
    static let section = "SCTE 35 §9.6"

    package enum Command: Equatable, Sendable {
        /// splice_null or bandwidth_reservation.
        case none
        case insert(SpliceInsert)
        case timeSignal
        /// Any other command, or an encrypted one, which only a receiver with the key can read.
        case other
    }

    /// From table_id to CRC_32.
    package let bytes: [UInt8]
    /// pts_adjustment, 0 ..< 2³³; `spliceTime` already includes it.
    package let ptsAdjustment: Ticks
    /// Whether only a receiver with the key can read the command. pts_adjustment is in the clear all the same.
    package let isEncrypted: Bool
    package let command: Command
    /// Splice time on the program's clock, 0 ..< 2³³; nil for an immediate splice or a command without a time.
    package let spliceTime: Ticks?
    package let segmentations: [SegmentationDescriptor]

    /// - Parameter bytes: one section, from table_id to CRC_32.
    /// - Throws: `.badSection` if the CRC or a field is wrong, `.truncated` if the section ends too early.
    package init(_ bytes: [UInt8]) throws(MediaError) {
        guard bytes.count >= 17, bytes[0] == Self.tableID, SectionCRC.isIntact(bytes) else {
            throw MediaError(.badSection, section: Self.section)
        }
        self.bytes = bytes
        var bits = BitReader(bytes[..<(bytes.count - 4)], section: Self.section)
        try bits.skip(32)  // table_id … section_length, protocol_version
        isEncrypted = try bits.flag()
        try bits.skip(6)
        ptsAdjustment = try bits.clockTime()
        try bits.skip(20)  // cw_index, tier
        let length = try bits.u(12)
        let type = UInt8(try bits.u(8))
        guard !isEncrypted else {
            (command, spliceTime, segmentations) = (.other, nil, [])
            return
        }
        let bitsBeforeCommand = bits.bitsLeft
        let time: Ticks?
        (command, time) = try Self.command(type, &bits)
        let adjustment = ptsAdjustment
        spliceTime = time.map { ($0 + adjustment).wire }
        let unread = length * 8 - (bitsBeforeCommand - bits.bitsLeft)
        if length != Self.unknownLength, unread > 0 { try bits.skip(unread) }
        segmentations = try Self.segmentations(&bits)
    }

    /// - Returns: the section with all of its times later by `shift`; only pts_adjustment and CRC_32 differ (§9.6.1).
    package func moved(by shift: Ticks) -> SpliceInfoSection { SpliceInfoSection(self, movedBy: shift) }

    private init(_ section: SpliceInfoSection, movedBy shift: Ticks) {
        bytes = section.bytes(movedBy: shift)
        ptsAdjustment = (section.ptsAdjustment + shift).wire
        spliceTime = section.spliceTime.map { ($0 + shift).wire }
        (isEncrypted, command, segmentations) = (section.isEncrypted, section.command, section.segmentations)
    }

    private func bytes(movedBy shift: Ticks) -> [UInt8] {
        let adjustment = (ptsAdjustment + shift).wire.count
        var moved = Array(bytes.dropLast(4))
        // encrypted_packet and encryption_algorithm are before the 33 bits.
        moved[4] = moved[4] & 0xFE | UInt8(adjustment >> 32)
        for index in 0..<4 { moved[5 + index] = UInt8(truncatingIfNeeded: adjustment >> Int64(24 - 8 * index)) }
        return moved + SectionCRC.bytes(of: moved)
    }

    /// The splice_command_length of encoders that do not state the length.
    private static let unknownLength = 0xFFF

    private static func command(_ type: UInt8, _ bits: inout BitReader) throws(MediaError) -> (Command, Ticks?) {
        switch type {
        case 0x00, 0x07: return (.none, nil)
        case 0x05:
            let (insert, time) = try SpliceInsert.read(&bits)
            return (.insert(insert), time)
        case 0x06: return (.timeSignal, try bits.spliceTime())
        case 0xFF:
            try bits.skip(32)  // identifier
            return (.other, nil)
        default: return (.other, nil)
        }
    }

    private static func segmentations(_ bits: inout BitReader) throws(MediaError) -> [SegmentationDescriptor] {
        guard bits.bitsLeft >= 16 else { return [] }
        var remaining = try bits.u(16)
        var found: [SegmentationDescriptor] = []
        while remaining >= 2 {
            let tag = try bits.u(8)
            let size = try bits.u(8)
            guard size + 2 <= remaining else { throw bits.fault(.badSection) }
            remaining -= size + 2
            var body: [UInt8] = []
            for _ in 0..<size { body.append(UInt8(try bits.u(8))) }
            if tag == SegmentationDescriptor.tag, let segmentation = try SegmentationDescriptor(body) {
                found.append(segmentation)
            }
        }
        return found
    }
}

/// splice_insert() (SCTE 35 §9.7.3).
package struct SpliceInsert: Equatable, Sendable {
    package let eventID: UInt32
    /// Whether the event was canceled; all other fields are then empty.
    package let isCanceled: Bool
    /// out_of_network_indicator: whether a break begins; otherwise it ends.
    package let isOutOfNetwork: Bool
    package let duration: BreakDuration?

    package struct BreakDuration: Equatable, Sendable {
        /// Whether the break ends after `duration` without a second command.
        package let autoReturn: Bool
        package let duration: Ticks
    }

    static func read(_ bits: inout BitReader) throws(MediaError) -> (SpliceInsert, Ticks?) {
        let eventID = UInt32(try bits.u(32))
        let isCanceled = try bits.flag()
        try bits.skip(7)
        if isCanceled {
            return (SpliceInsert(eventID: eventID, isCanceled: true, isOutOfNetwork: false, duration: nil), nil)
        }
        let isOut = try bits.flag()
        let coversWholeProgram = try bits.flag()
        let hasDuration = try bits.flag()
        let isImmediate = try bits.flag()
        try bits.skip(4)
        var time = coversWholeProgram && !isImmediate ? try bits.spliceTime() : nil
        if !coversWholeProgram { time = try componentTime(&bits, isImmediate: isImmediate) }
        let duration = hasDuration ? try breakDuration(&bits) : nil
        try bits.skip(32)  // unique_program_id, avail_num, avails_expected
        return (SpliceInsert(eventID: eventID, isCanceled: false, isOutOfNetwork: isOut, duration: duration), time)
    }

    private static func componentTime(_ bits: inout BitReader, isImmediate: Bool) throws(MediaError) -> Ticks? {
        var first: Ticks?
        for _ in 0..<(try bits.u(8)) {
            try bits.skip(8)
            guard !isImmediate else { continue }
            let time = try bits.spliceTime()
            first = first ?? time
        }
        return first
    }

    private static func breakDuration(_ bits: inout BitReader) throws(MediaError) -> BreakDuration {
        let autoReturn = try bits.flag()
        try bits.skip(6)
        return BreakDuration(autoReturn: autoReturn, duration: try bits.clockTime())
    }
}

extension BitReader {
    mutating func clockTime() throws(MediaError) -> Ticks {
        let high = try u(1)
        return Ticks(Int64(high) << 32 | Int64(try u(32)))
    }

    /// Reads splice_time() (SCTE 35 §9.8.1); nil if no time is specified.
    mutating func spliceTime() throws(MediaError) -> Ticks? {
        guard try flag() else {
            try skip(7)
            return nil
        }
        try skip(6)
        return try clockTime()
    }
}

/// An ad break boundary in a splice command, one for each event.
package struct SpliceCue: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A break begins. `autoReturn`: the break ends after its duration without a second command.
        case out(autoReturn: Bool)
        /// A break ends. `endsAnyEvent`: the command is a splice_insert, which may omit the event that it ends.
        case `in`(endsAnyEvent: Bool)
        /// Neither a break's beginning nor its end: for example, a program or a chapter begins.
        case command
        /// An announced event was canceled.
        case canceled
    }

    package let kind: Kind
    package let eventID: UInt32?
    package let duration: Ticks?

    package init(_ kind: Kind, eventID: UInt32?, duration: Ticks? = nil) {
        self.kind = kind
        self.eventID = eventID
        self.duration = duration
    }
}

extension SpliceInfoSection {
    /// The ad break boundaries of the command; empty for heartbeats without descriptors.
    package var cues: [SpliceCue] {
        switch command {
        case .none: segmentations.map(\.cue)
        case .insert(let insert): [insert.cue]
        case .timeSignal: segmentations.isEmpty ? [SpliceCue(.command, eventID: nil)] : segmentations.map(\.cue)
        case .other: [SpliceCue(.command, eventID: nil)]
        }
    }
}

extension SpliceInsert {
    fileprivate var cue: SpliceCue {
        if isCanceled { return SpliceCue(.canceled, eventID: eventID) }
        guard isOutOfNetwork else { return SpliceCue(.in(endsAnyEvent: true), eventID: eventID) }
        return SpliceCue(
            .out(autoReturn: duration?.autoReturn ?? false), eventID: eventID, duration: duration?.duration)
    }
}

extension SegmentationDescriptor {
    /// Breaks, advertisements and placement opportunities: even types begin, odd types end.
    private static let breaks: Set<UInt8> = [0x22, 0x30, 0x32, 0x34, 0x36, 0x38, 0x3A, 0x3C, 0x3E, 0x44, 0x46]

    fileprivate var cue: SpliceCue {
        if isCanceled { return SpliceCue(.canceled, eventID: eventID) }
        guard Self.breaks.contains(typeID & 0xFE) else {
            return SpliceCue(.command, eventID: eventID, duration: duration)
        }
        guard typeID & 1 == 0 else { return SpliceCue(.in(endsAnyEvent: false), eventID: eventID) }
        return SpliceCue(.out(autoReturn: false), eventID: eventID, duration: duration)
    }
}

/// segmentation_descriptor() (SCTE 35 §10.3.3): the subject of a time signal.
package struct SegmentationDescriptor: Equatable, Sendable {
    static let tag = 0x02
    private static let identifier = 0x4355_4549  // "CUEI"

    package let eventID: UInt32
    /// Whether the event was canceled; all other fields are then empty.
    package let isCanceled: Bool
    package let duration: Ticks?
    /// segmentation_type_id (SCTE 35 Table 23).
    let typeID: UInt8

    /// - Parameter body: the bytes after descriptor_length.
    /// - Returns: nil if another organization's identifier makes the descriptor private.
    init?(_ body: [UInt8]) throws(MediaError) {
        var bits = BitReader(body[...], section: "SCTE 35 §10.3.3")
        guard try bits.u(32) == Self.identifier else { return nil }
        eventID = UInt32(try bits.u(32))
        isCanceled = try bits.flag()
        try bits.skip(7)
        guard !isCanceled else {
            (duration, typeID) = (nil, 0)
            return
        }
        let coversWholeProgram = try bits.flag()
        let hasDuration = try bits.flag()
        try bits.skip(6)
        if !coversWholeProgram { try bits.skip(try bits.u(8) * 48) }
        duration = hasDuration ? Ticks(Int64(try bits.u(8)) << 32 | Int64(try bits.u(32))) : nil
        try bits.skip(8)  // segmentation_upid_type
        try bits.skip(try bits.u(8) * 8)
        typeID = UInt8(try bits.u(8))
    }
}
