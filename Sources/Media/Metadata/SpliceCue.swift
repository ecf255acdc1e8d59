/// An ad break boundary in a splice command, one for each event.
package struct SpliceCue: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A break begins. `autoReturn`: the break ends after its duration without a second command.
        case out(autoReturn: Bool)
        /// A break ends. `endsAnyEvent`: the command is a splice_insert, which need not name the event that it ends.
        case `in`(endsAnyEvent: Bool)
        /// Neither: for example, a program or a chapter begins.
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
        case .null, .bandwidthReservation: segmentations.map(\.cue)
        case .insert(let insert): [insert.cue]
        case .timeSignal: segmentations.isEmpty ? [SpliceCue(.command, eventID: nil)] : segmentations.map(\.cue)
        case .schedule, .privateCommand, .unknown, .encrypted: [SpliceCue(.command, eventID: nil)]
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
