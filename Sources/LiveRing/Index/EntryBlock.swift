import Playlist
import Support

/// Consecutive entries that take a tenth of their memory, for entries that are rarely read.
///
/// Most entries differ from the preceding one in a few numbers. An entry that differs in more is kept whole, as a base,
/// and the following entries are kept as their differences from the base. The upstream position and the times of
/// further audio tracks are kept in full only for the last entry, because a restart continues from the newest. The
/// other entries keep the source and its media sequence number.
struct EntryBlock: Sendable {
    /// The number of entries of each block.
    static let size = 128

    private let bases: [RingEntry]
    private var differences: [EntryDifference] = []
    /// The properties that only few entries have, in the order of the entries.
    private let details: [EntryDetails]
    /// The duration of the entries in 90 kHz ticks.
    private(set) var ticks: Int64 = 0

    /// - Parameter entries: `size` consecutive ones.
    init(_ entries: some Collection<RingEntry>) {
        var bases: [RingEntry] = []
        var details: [EntryDetails] = []
        differences.reserveCapacity(Self.size)
        let positioned = entries.reversed().first { $0.resumePoint.upstream != nil }?.mediaSequence
        for entry in entries {
            StepCounter.add(1)
            if let base = bases.last, let difference = EntryDifference(entry, from: base, at: bases.count - 1) {
                differences.append(difference)
                let found = EntryDetails(
                    entry, at: differences.count - 1, keepsPosition: entry.mediaSequence == positioned)
                if let found { details.append(found) }
            } else {
                bases.append(entry)
                differences.append(EntryDifference(base: bases.count - 1))
            }
        }
        (self.bases, self.details) = (bases, details)
        ticks = sumOfDurations
    }

    private var sumOfDurations: Int64 { (0..<Self.size).reduce(0) { $0 + duration(at: $1) } }

    /// The entry at a position in 0 ..< `size`.
    subscript(position: Int) -> RingEntry {
        get {
            let difference = differences[position]
            return difference.isBase ? bases[Int(difference.base)] : entry(at: position, difference)
        }
        set {
            let index = Int(differences[position].base)
            if !differences[position].isBase, let new = EntryDifference(newValue, from: bases[index], at: index),
                entry(at: position, new) == newValue
            {
                ticks += newValue.duration - duration(at: position)
                differences[position] = new
            } else {
                self = EntryBlock((0..<Self.size).map { $0 == position ? newValue : self[$0] })
            }
        }
    }

    private func entry(at position: Int, _ difference: EntryDifference) -> RingEntry {
        var entry = difference.entry(from: bases[Int(difference.base)])
        if !details.isEmpty { restoreDetails(of: &entry, at: position) }
        return entry
    }

    func duration(at position: Int) -> Int64 {
        let difference = differences[position]
        return difference.isBase ? bases[Int(difference.base)].duration : Int64(difference.duration)
    }

    func isGap(at position: Int) -> Bool {
        let difference = differences[position]
        return difference.isBase ? bases[Int(difference.base)].isGap : difference.isGap
    }

    /// The numbers of each entry with the same texts as the preceding entry; nil for other entries, which have to be
    /// made.
    var figures: [EntryFigures?] {
        var figures = differences.map { difference -> EntryFigures? in
            let base = bases[Int(difference.base)]
            return difference.isBase || difference.isGap || base.isGap ? nil : difference.figures(from: base)
        }
        for detail in details { figures[detail.position] = nil }
        return figures
    }

    /// The extent of an entry that has `figures`.
    func extent(at position: Int) -> TransportStreamExtent? { differences[position].extent }

    /// The fingerprint in the name of an entry that has `figures`.
    func fingerprint(at position: Int) -> UInt32 { differences[position].fingerprint }

    /// Whether the entry at a position has properties other than numbers.
    func hasDetails(at position: Int) -> Bool {
        differences[position].isBase || details.contains { $0.position == position }
    }

    private func restoreDetails(of entry: inout RingEntry, at position: Int) {
        let index = details.indices.partitioningIndex { details[$0].position >= position }
        guard index < details.count, details[index].position == position else { return }
        details[index].restore(&entry)
    }
}

// MARK: - In a file

extension EntryBlock {
    /// The media sequence numbers of the entries, which are consecutive.
    var mediaSequences: Range<UInt64> {
        let first = self[0].mediaSequence
        return first..<max(first, self[Self.size - 1].mediaSequence + 1)
    }

    /// Calls `body` for each entry that is not a gap, with the number and the fingerprint in its segment's name.
    func forEachSegment(from position: Int, _ body: (UInt64, UInt32) -> Void) {
        for difference in differences[position...] {
            let base = bases[Int(difference.base)]
            if !difference.isBase {
                if !difference.isGap { body(difference.number(from: base), difference.fingerprint) }
            } else if !base.isGap {
                SpoolName.numberAndFingerprint(ofSegment: base.segment.name.utf8).map(body)
            }
        }
    }

    /// The block as bytes of a file: the number of entries with details and their positions, the size of the records
    /// and the records, and the differences. The records are those of the bases and of the entries with details. The
    /// sizes of subtitles are not included; they are added when a ring is opened.
    /// - Parameter record: returns the record of an entry.
    func bytes(writing record: (RingEntry) -> String) -> [UInt8] {
        let positions = differences.indices.filter { differences[$0].isBase } + details.map(\.position)
        let records = positions.map { record(self[$0]) }.joined().utf8
        var bytes = [UInt8(details.count)] + details.map { UInt8($0.position) }
        bytes += UInt32(records.count).littleEndianBytes
        bytes += records
        unsafe differences.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Reads bytes that the same version wrote; nil if they are not a block.
    /// - Parameter entries: returns the entries of records; nil if one of them cannot be read.
    init?(bytes: ArraySlice<UInt8>, reading entries: (ArraySlice<UInt8>) -> [RingEntry]?) {
        guard let count = bytes.first.map(Int.init), bytes.count > count + 5 else { return nil }
        let positions = bytes.dropFirst().prefix(count).map(Int.init)
        let recordsStart = bytes.startIndex + 1 + count + 4
        let recordsEnd = recordsStart + Int(UInt32(littleEndianBytes: bytes[recordsStart - 4..<recordsStart]))
        let stride = MemoryLayout<EntryDifference>.stride
        guard recordsEnd <= bytes.endIndex, bytes.endIndex - recordsEnd == Self.size * stride,
            let entries = entries(bytes[recordsStart..<recordsEnd]), entries.count > count
        else { return nil }
        differences = unsafe bytes[recordsEnd...].withUnsafeBytes { bytes in
            (0..<Self.size).map {
                var difference = unsafe bytes.loadUnaligned(fromByteOffset: $0 * stride, as: EntryDifference.self)
                difference.subtitleBytes = 0
                return difference
            }
        }
        bases = Array(entries.dropLast(count))
        details = zip(entries.suffix(count), positions).compactMap { EntryDetails($0, at: $1, keepsPosition: true) }
        guard differences.allSatisfy({ $0.base < bases.count }), positions.allSatisfy({ $0 < Self.size }),
            mediaSequences.count == Self.size
        else { return nil }
        ticks = sumOfDurations
    }
}

/// The properties of an entry that are neither in its base nor in its `EntryDifference`.
private struct EntryDetails: Sendable {
    let position: Int
    private let adMarkers: SegmentAdMarkers
    private let privateData: SpoolFile?
    private let extent: TransportStreamExtent?
    private let audioFiles: [TrackFile?]
    private let videoFiles: [VariantMedia<TrackFile>]
    private let leadingAudioBytes: Int
    private let upstream: UpstreamPosition?
    private let audioTracks: [AudioTrackPoint]

    /// - Returns: nil if the entry has no such properties.
    init?(_ entry: RingEntry, at position: Int, keepsPosition: Bool) {
        self.position = position
        adMarkers = entry.adMarkers
        privateData = entry.transportStream?.privateData
        let whole = entry.transportStream?.extent
        extent = whole.flatMap { PackedExtent($0)?.extent == $0 ? nil : $0 }
        (audioFiles, videoFiles) = (entry.audioFiles, entry.videoFiles)
        leadingAudioBytes = entry.leadingAudioBytes
        upstream = keepsPosition ? entry.resumePoint.upstream : nil
        audioTracks = keepsPosition ? entry.resumePoint.audioTracks : []
        let hasFiles = privateData != nil || !audioFiles.isEmpty || !videoFiles.isEmpty
        let isEmpty = adMarkers == SegmentAdMarkers() && extent == nil && !hasFiles
        if isEmpty, upstream == nil, audioTracks.isEmpty { return nil }
    }

    func restore(_ entry: inout RingEntry) {
        entry.adMarkers = adMarkers
        entry.transportStream?.privateData = privateData
        if let extent { entry.transportStream?.extent = extent }
        (entry.audioFiles, entry.videoFiles) = (audioFiles, videoFiles)
        entry.leadingAudioBytes = leadingAudioBytes
        if let upstream { entry.resumePoint.upstream = upstream }
        if !audioTracks.isEmpty { entry.resumePoint.audioTracks = audioTracks }
    }
}

/// The sizes of an extent. The sizes of early audio are in packets; 0 if they do not fit.
struct PackedExtent: Sendable {
    private static let packetSize = 188

    private var byteCount: UInt32 = 0
    private var earlyAudioPackets: UInt16 = 0
    private var removedPackets: UInt16 = 0

    init() {}

    /// - Returns: nil if the segment is too large.
    init?(_ extent: TransportStreamExtent) {
        guard let byteCount = UInt32(exactly: extent.byteCount) else { return nil }
        self.byteCount = byteCount
        let packets = (extent.earlyAudioByteCount / Self.packetSize, extent.removedByteCount / Self.packetSize)
        if let alone = UInt16(exactly: packets.0), let removed = UInt16(exactly: packets.1) {
            (earlyAudioPackets, removedPackets) = (alone, removed)
        }
    }

    var extent: TransportStreamExtent {
        TransportStreamExtent(
            byteCount: Int(byteCount), earlyAudioByteCount: Int(earlyAudioPackets) * Self.packetSize,
            removedByteCount: Int(removedPackets) * Self.packetSize)
    }
}

/// An entry as its differences from an earlier one, the base.
struct EntryDifference: Sendable {
    private struct Flags: OptionSet {
        let rawValue: UInt16
        static let isBase = Flags(rawValue: 1)
        static let isDiscontinuous = Flags(rawValue: 2)
        static let isIndependent = Flags(rawValue: 4)
        static let isGap = Flags(rawValue: 8)
        static let isTransportStreamDiscontinuous = Flags(rawValue: 16)
        static let hasExtent = Flags(rawValue: 32)
        static let hasUpstream = Flags(rawValue: 64)
    }

    /// The index of the base in the block.
    let base: UInt16
    private var flags = Flags()
    // Differences from the base.
    private var mediaSequence: UInt32 = 0
    private var milliseconds: UInt32 = 0
    private var videoDecodeTime: UInt32 = 0
    private var audioDecodeTime: UInt32 = 0
    private var fragmentSequenceNumber: UInt32 = 0
    private var presentationEnd: UInt32 = 0
    private var listedFrom: UInt32 = 0
    private var upstreamMediaSequence: UInt32 = 0
    // The entry's own values.
    private(set) var duration: UInt32 = 0
    private var byteCount: UInt32 = 0
    private(set) var fingerprint: UInt32 = 0
    private var transportStream = PackedExtent()
    var subtitleBytes: UInt32 = 0

    init(base: Int) {
        self.base = UInt16(base)
        flags = .isBase
    }

    var isBase: Bool { flags.contains(.isBase) }

    var isGap: Bool { flags.contains(.isGap) }

    func number(from base: borrowing RingEntry) -> UInt64 { base.mediaSequence + UInt64(mediaSequence) }

    /// - Returns: nil if `entry` differs in more than this value holds, or by more.
    init?(_ entry: RingEntry, from base: RingEntry, at index: Int) {
        guard entry.hasConstants(of: base),
            let name = SpoolName.numberAndFingerprint(ofSegment: entry.segment.name.utf8),
            // Entries of several relays in one archive have other numbers than their files.
            name.number == entry.mediaSequence,
            let transport = entry.transportStream?.extent.map({ PackedExtent($0) }) ?? PackedExtent()
        else { return nil }
        self.base = UInt16(index)
        (fingerprint, transportStream) = (name.fingerprint, transport)
        let (point, origin) = (entry.resumePoint, base.resumePoint)
        do throws(Overflow) {
            mediaSequence = try Self.rise(entry.mediaSequence, base.mediaSequence)
            milliseconds = try Self.rise(
                entry.programDateTime.millisecondsSince1970, base.programDateTime.millisecondsSince1970)
            videoDecodeTime = try Self.rise(point.videoDecodeTime, origin.videoDecodeTime)
            audioDecodeTime = try Self.rise(point.audioDecodeTime, origin.audioDecodeTime)
            fragmentSequenceNumber = try Self.rise(point.fragmentSequenceNumber, origin.fragmentSequenceNumber)
            presentationEnd = try Self.rise(point.presentationEnd, origin.presentationEnd)
            listedFrom = try Self.rise(entry.listedFrom, base.listedFrom)
            if let upstream = point.upstream {
                upstreamMediaSequence = try Self.rise(
                    upstream.mediaSequence, origin.upstream?.mediaSequence ?? 0)
            }
            duration = try Self.rise(entry.duration, 0)
            byteCount = try Self.rise(entry.segment.byteCount, 0)
            subtitleBytes = try Self.rise(entry.subtitleBytes, 0)
        } catch { return nil }
        setFlags(entry)
    }

    private mutating func setFlags(_ entry: RingEntry) {
        if entry.isDiscontinuous { flags.insert(.isDiscontinuous) }
        if entry.isIndependent { flags.insert(.isIndependent) }
        if entry.isGap { flags.insert(.isGap) }
        if entry.transportStream?.isDiscontinuous == true { flags.insert(.isTransportStreamDiscontinuous) }
        if entry.transportStream?.extent != nil { flags.insert(.hasExtent) }
        if entry.resumePoint.upstream != nil { flags.insert(.hasUpstream) }
    }

    var extent: TransportStreamExtent? {
        flags.contains(.hasExtent) ? transportStream.extent : nil
    }

    /// The figures of an entry without `EntryDetails`; nil if it has subtitles.
    func figures(from base: borrowing RingEntry) -> EntryFigures? {
        guard subtitleBytes == 0 else { return nil }
        let (byteCount, duration) = (Int(byteCount), Int64(duration))
        return EntryFigures(
            mediaSequence: number(from: base), listedFrom: base.listedFrom + UInt64(listedFrom),
            duration: duration,
            programDateTime: base.programDateTime.advanced(byMilliseconds: Int64(milliseconds)),
            isIndependent: flags.contains(.isIndependent), byteCount: byteCount,
            transportStreamByteCount: base.transportStream == nil
                ? nil : EntryFigures.transportStreamByteCount(of: byteCount, lasting: duration),
            storedBytes: UInt64(byteCount))
    }

    /// The entry without its `EntryDetails`.
    func entry(from base: RingEntry) -> RingEntry {
        var entry = base
        entry.mediaSequence += UInt64(mediaSequence)
        entry.isDiscontinuous = flags.contains(.isDiscontinuous)
        (entry.isAfterInterruption, entry.adBreak.isEdge) = (false, false)
        entry.isIndependent = flags.contains(.isIndependent)
        entry.isGap = flags.contains(.isGap)
        entry.segment = SpoolFile(
            name: SpoolName.segment(mediaSequence: entry.mediaSequence, fingerprint: fingerprint),
            byteCount: Int(byteCount))
        entry.duration = Int64(duration)
        entry.programDateTime = base.programDateTime.advanced(byMilliseconds: Int64(milliseconds))
        entry.listedFrom += UInt64(listedFrom)
        entry.subtitleBytes = UInt64(subtitleBytes)
        entry.adMarkers = SegmentAdMarkers()
        (entry.audioFiles, entry.videoFiles, entry.leadingAudioBytes) = ([], [], 0)
        entry.resumePoint.videoDecodeTime += UInt64(videoDecodeTime)
        entry.resumePoint.audioDecodeTime += UInt64(audioDecodeTime)
        entry.resumePoint.fragmentSequenceNumber += UInt64(fragmentSequenceNumber)
        entry.resumePoint.presentationEnd += Int64(presentationEnd)
        entry.resumePoint.upstream = flags.contains(.hasUpstream) ? base.resumePoint.upstream : nil
        entry.resumePoint.upstream?.mediaSequence += UInt64(upstreamMediaSequence)
        entry.resumePoint.upstream?.programDateTime = nil
        entry.resumePoint.upstream?.publishedFrames = nil
        entry.transportStream?.isDiscontinuous = flags.contains(.isTransportStreamDiscontinuous)
        entry.transportStream?.privateData = nil
        entry.transportStream?.extent = extent
        return entry
    }

    private struct Overflow: Error {}

    /// How much larger a number is. Throws if it is smaller, or by more than fits.
    private static func rise<Number: FixedWidthInteger>(_ new: Number, _ base: Number) throws(Overflow) -> UInt32 {
        let (difference, overflows) = new.subtractingReportingOverflow(base)
        guard !overflows, let rise = UInt32(exactly: difference) else { throw Overflow() }
        return rise
    }
}

extension RingEntry {
    /// Whether this entry equals `base` in everything that differences do not contain.
    fileprivate func hasConstants(of base: RingEntry) -> Bool {
        let (point, origin) = (resumePoint, base.resumePoint)
        guard !isAfterInterruption, !adBreak.isEdge, adBreak.isInside == base.adBreak.isInside,
            adBreak.edges == base.adBreak.edges, discontinuitySequence == base.discontinuitySequence,
            initialization == base.initialization,
            format == base.format, point.compositionOffset == origin.compositionOffset,
            point.audioConfiguration == origin.audioConfiguration, point.videoTracks == origin.videoTracks,
            point.audioTracks.elementsEqual(
                origin.audioTracks,
                by: { $0.identity == $1.identity && $0.configuration == $1.configuration })
        else { return false }
        if let upstream = point.upstream, upstream.sourceIndex != origin.upstream?.sourceIndex { return false }
        guard let stream = transportStream, let other = base.transportStream else {
            return transportStream == nil && base.transportStream == nil
        }
        return stream.parameters == other.parameters && stream.still == other.still
            && stream.discontinuitySequence == other.discontinuitySequence
    }
}

extension UInt32 {
    var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }

    /// - Parameter bytes: four.
    init(littleEndianBytes bytes: ArraySlice<UInt8>) { self = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
}
