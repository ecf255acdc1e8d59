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

    /// Returns the splice time of the first component; each component has its own.
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
