import Playlist
import Support

/// The numbers of an entry that count in the sums over all entries, without its texts.
struct EntryFigures: Equatable, Sendable {
    let mediaSequence: UInt64
    /// As in `RingEntry`.
    let listedFrom: UInt64
    /// 90 kHz ticks.
    let duration: Int64
    let programDateTime: ProgramDateTime
    let isIndependent: Bool
    /// The bytes of the segment.
    let byteCount: Int
    /// An upper bound of the segment's size as a transport stream; nil if it is not offered as one.
    let transportStreamByteCount: Int?
    /// As in `RingEntry`.
    let storedBytes: UInt64

    var programDateTimeEnd: ProgramDateTime {
        programDateTime.advanced(byMilliseconds: PlaylistTicks.milliseconds(ticks: duration))
    }

    /// An upper bound for the bit rate of a transport stream: packet headers, tables, PCR, and packets that fill chunks.
    static func transportStreamByteCount(of byteCount: Int, lasting duration: Int64) -> Int {
        let perSecond: Int64 = 18_000
        return byteCount * 26 / 25 + Int(duration * perSecond / PlaylistTicks.ticksPerSecond)
    }
}

extension RingEntry {
    var figures: EntryFigures {
        EntryFigures(
            mediaSequence: mediaSequence, listedFrom: listedFrom, duration: duration, programDateTime: programDateTime,
            isIndependent: isIndependent, byteCount: segment.byteCount,
            transportStreamByteCount: transportStream.map(transportStreamByteCount), storedBytes: storedBytes)
    }

    private func transportStreamByteCount(_ point: TransportStreamPoint) -> Int {
        if point.privateData != nil || !audioFiles.isEmpty, let extent = point.extent { return extent.byteCount }
        return EntryFigures.transportStreamByteCount(of: segment.byteCount, lasting: duration)
    }
}
