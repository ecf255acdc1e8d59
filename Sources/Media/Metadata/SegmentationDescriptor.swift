/// segmentation_descriptor() (SCTE 35 §10.3.3): what a time signal is about.
package struct SegmentationDescriptor: Equatable, Sendable {
    static let tag = 0x02
    private static let identifier = 0x4355_4549  // "CUEI"

    package let eventID: UInt32
    /// The event is not going to happen; nothing else is said of it.
    package let isCanceled: Bool
    package let duration: Ticks?
    /// SCTE 35 Table 23.
    package let typeID: UInt8
    package let upidType: UInt8
    package let upid: [UInt8]

    /// - Parameter body: behind descriptor_length.
    /// - Returns: nil when it is private to somebody else.
    init?(_ body: [UInt8]) throws(MediaError) {
        var bits = BitReader(body[...], section: "SCTE 35 §10.3.3")
        guard try bits.u(32) == Self.identifier else { return nil }
        eventID = UInt32(try bits.u(32))
        isCanceled = try bits.flag()
        try bits.skip(7)
        guard !isCanceled else {
            (duration, typeID, upidType, upid) = (nil, 0, 0, [])
            return
        }
        let isOfWholeProgram = try bits.flag()
        let hasDuration = try bits.flag()
        try bits.skip(6)
        if !isOfWholeProgram { try bits.skip(try bits.u(8) * 48) }
        duration = hasDuration ? Ticks(Int64(try bits.u(8)) << 32 | Int64(try bits.u(32))) : nil
        upidType = UInt8(try bits.u(8))
        var upid: [UInt8] = []
        for _ in 0..<(try bits.u(8)) { upid.append(UInt8(try bits.u(8))) }
        self.upid = upid
        typeID = UInt8(try bits.u(8))
    }
}

/// What a splice command asks of a player, one for each event in it.
package struct SpliceCue: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A break begins. `returnsByItself`: and ends after its duration, without a word.
        case out(returnsByItself: Bool)
        /// A break is over. `ofAnyEvent`: a splice_insert, which need not name the event that it ends.
        case `in`(ofAnyEvent: Bool)
        /// Neither: a programme or a chapter begins, and the like.
        case command
        /// What was announced is not going to happen.
        case canceled
    }

    package let kind: Kind
    /// nil when the command has no event.
    package let eventID: UInt32?
    package let duration: Ticks?

    package init(_ kind: Kind, eventID: UInt32?, duration: Ticks? = nil) {
        self.kind = kind
        self.eventID = eventID
        self.duration = duration
    }
}

extension SpliceInfoSection {
    /// Empty for commands that keep a receiver company and say nothing.
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
        guard isOutOfNetwork else { return SpliceCue(.in(ofAnyEvent: true), eventID: eventID) }
        return SpliceCue(
            .out(returnsByItself: duration?.autoReturn ?? false), eventID: eventID, duration: duration?.duration)
    }
}

extension SegmentationDescriptor {
    /// Breaks, advertisements and opportunities to place them; what is even begins, what is odd ends.
    private static let breaks: Set<UInt8> = [0x22, 0x30, 0x32, 0x34, 0x36, 0x38, 0x3A, 0x3C, 0x3E, 0x44, 0x46]

    fileprivate var cue: SpliceCue {
        if isCanceled { return SpliceCue(.canceled, eventID: eventID) }
        guard Self.breaks.contains(typeID & 0xFE) else {
            return SpliceCue(.command, eventID: eventID, duration: duration)
        }
        guard typeID & 1 == 0 else { return SpliceCue(.in(ofAnyEvent: false), eventID: eventID) }
        return SpliceCue(.out(returnsByItself: false), eventID: eventID, duration: duration)
    }
}
