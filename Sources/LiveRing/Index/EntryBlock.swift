import Playlist
import Support

/// Consecutive entries in a fiftieth of their memory, for entries that are rarely read.
///
/// Most entries differ from the preceding one in a few numbers. An entry that differs in more is kept whole, as a base,
/// and the following entries are kept as their differences from the base, also those of the next blocks. The upstream
/// position and the times of further audio tracks are kept in full only for the last entry, because a restart continues
/// from the newest. The other entries keep the source and its media sequence number.
struct EntryBlock: Sendable {
    /// The number of entries of each block.
    static let size = 128

    /// The entries that others are differences from. The first may be an entry of an earlier block.
    private(set) var bases: [RingEntry]
    private(set) var differences: PackedDifferences
    /// The properties that only few entries have, in the order of the entries.
    private var details: [EntryDetails]
    /// The bytes of the subtitles of each entry that is no base; empty if none has subtitles.
    private var subtitleBytes: [UInt32]
    /// The duration of the entries in 90 kHz ticks.
    private(set) var ticks: Int64

    /// - Parameters:
    ///   - entries: `size` consecutive ones.
    ///   - previous: the block before them, if its last base may be that of these entries.
    init(_ entries: some Collection<RingEntry>, after previous: EntryBlock? = nil) {
        var bases = previous?.lastBase ?? []
        var differences: [EntryDifference] = []
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
                if differences.isEmpty { bases = [] }
                bases.append(entry)
                differences.append(EntryDifference(base: bases.count - 1))
            }
        }
        self.init(bases: bases, differences, details: details)
        for (position, entry) in entries.enumerated() where entry.subtitleBytes > 0 {
            setSubtitleBytes(entry.subtitleBytes, at: position)
        }
    }

    private init(bases: [RingEntry], _ differences: [EntryDifference], details: [EntryDetails]) {
        (self.bases, self.details, subtitleBytes) = (bases, details, [])
        self.differences = PackedDifferences(differences)
        ticks = differences.reduce(0) { $0 + ($1.isBase ? bases[Int($1.base)].duration : Int64($1.duration)) }
    }

    /// The base that a following block may use, in an array that blocks without another base share. The figures of
    /// entries are not known from a gap.
    private var lastBase: [RingEntry] {
        guard let last = bases.last, !last.isGap else { return [] }
        return bases.count == 1 ? bases : [last]
    }

    /// The entry at a position in 0 ..< `size`.
    subscript(position: Int) -> RingEntry {
        get {
            let difference = differences[position]
            return difference.isBase ? bases[Int(difference.base)] : entry(at: position, difference)
        }
        set {
            let difference = differences[position]
            let index = Int(difference.base)
            if !difference.isBase, let new = EntryDifference(newValue, from: bases[index], at: index),
                entry(at: position, new).withSubtitles(newValue.subtitleBytes) == newValue
            {
                ticks += newValue.duration - Int64(difference.duration)
                var all = differences.all
                all[position] = new
                differences = PackedDifferences(all)
                setSubtitleBytes(newValue.subtitleBytes, at: position)
            } else {
                self = EntryBlock((0..<Self.size).map { $0 == position ? newValue : self[$0] })
            }
        }
    }

    private func entry(at position: Int, _ difference: EntryDifference) -> RingEntry {
        var entry = difference.entry(from: bases[Int(difference.base)])
        entry.subtitleBytes = subtitleBytes.isEmpty ? 0 : UInt64(subtitleBytes[position])
        if !details.isEmpty { details(at: position)?.restore(&entry) }
        return entry
    }

    /// Changes the bytes of the subtitles of an entry.
    mutating func setSubtitleBytes(_ byteCount: UInt64, at position: Int) {
        let difference = differences[position]
        guard !difference.isBase else {
            bases[Int(difference.base)].subtitleBytes = byteCount
            return
        }
        if subtitleBytes.isEmpty {
            guard byteCount > 0 else { return }
            subtitleBytes = Array(repeating: 0, count: Self.size)
        }
        subtitleBytes[position] = UInt32(clamping: byteCount)
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
        guard subtitleBytes.isEmpty else { return Array(repeating: nil, count: Self.size) }
        // An entry is large, so each base is read once.
        let known = bases.map { (figures: $0.figures, isGap: $0.isGap) }
        var figures = differences.all.map { difference -> EntryFigures? in
            let base = known[Int(difference.base)]
            guard !difference.isBase, !difference.isGap, !base.isGap else { return nil }
            return difference.figures(from: base.figures)
        }
        // The files that entries share are looked up once for each block.
        figures[0] = nil
        for detail in details { figures[detail.position] = nil }
        return figures
    }

    /// The fingerprint in the name of an entry that has `figures`.
    func fingerprint(at position: Int) -> UInt32 { differences[position].fingerprint }

    /// Whether the entry at a position has properties other than numbers.
    func hasDetails(at position: Int) -> Bool {
        differences[position].isBase || details(at: position) != nil
    }

    /// The extent of the transport stream of an entry, and whether the entry is a gap.
    func extent(at position: Int) -> (extent: TransportStreamExtent?, isGap: Bool) {
        let difference = differences[position]
        guard difference.isBase else {
            return (details(at: position)?.extent ?? difference.extent, difference.isGap)
        }
        let base = bases[Int(difference.base)]
        return (base.transportStream?.extent, base.isGap)
    }

    private func details(at position: Int) -> EntryDetails? {
        let index = details.indices.partitioningIndex { details[$0].position >= position }
        return index < details.count && details[index].position == position ? details[index] : nil
    }
}

// MARK: - In a file

extension EntryBlock {
    /// The media sequence numbers of the entries, which are consecutive.
    var mediaSequences: Range<UInt64> {
        let first = mediaSequence(at: 0)
        return first..<max(first, mediaSequence(at: Self.size - 1) + 1)
    }

    private func mediaSequence(at position: Int) -> UInt64 {
        let difference = differences[position]
        let base = bases[Int(difference.base)].mediaSequence
        return difference.isBase ? base : difference.number(from: base)
    }

    /// Calls `body` for each entry that is not a gap, with the number and the fingerprint in its segment's name.
    func forEachSegment(from position: Int, _ body: (UInt64, UInt32) -> Void) {
        let numbers = bases.map(\.mediaSequence)
        for difference in differences.all[position...] {
            let index = Int(difference.base)
            if !difference.isBase {
                if !difference.isGap { body(difference.number(from: numbers[index]), difference.fingerprint) }
            } else if !bases[index].isGap {
                SpoolName.numberAndFingerprint(ofSegment: bases[index].segment.name.utf8).map(body)
            }
        }
    }

    /// The block as bytes of a file: the number of entries with details and their positions, the size of the records
    /// and the records, and the differences. The records are those of the bases and of the entries with details. The
    /// sizes of subtitles are not included; they are added when a ring is opened.
    /// - Parameter record: returns the record of an entry.
    func bytes(writing record: (RingEntry) -> String) -> [UInt8] {
        let differences = differences.all
        guard differences[0].isBase else {
            // A file contains all bases of each of its blocks.
            return EntryBlock((0..<Self.size).map { self[$0] }).bytes(writing: record)
        }
        let positions = differences.indices.filter { differences[$0].isBase } + details.map(\.position)
        let records = positions.map { record(self[$0]) }.joined().utf8
        var bytes = [UInt8(details.count)] + details.map { UInt8($0.position) }
        bytes += UInt32(records.count).littleEndianBytes
        bytes += records
        unsafe differences.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Reads bytes that the same version wrote; nil if they are not a block.
    /// - Parameters:
    ///   - previous: the block before it.
    ///   - entries: returns the entries of records; nil if one of them cannot be read.
    init?(
        bytes: ArraySlice<UInt8>, after previous: EntryBlock? = nil,
        reading entries: (ArraySlice<UInt8>) -> [RingEntry]?
    ) {
        guard let count = bytes.first.map(Int.init), bytes.count > count + 5 else { return nil }
        let positions = bytes.dropFirst().prefix(count).map(Int.init)
        let recordsStart = bytes.startIndex + 1 + count + 4
        let recordsEnd = recordsStart + Int(UInt32(littleEndianBytes: bytes[recordsStart - 4..<recordsStart]))
        let stride = MemoryLayout<EntryDifference>.stride
        guard recordsEnd <= bytes.endIndex, bytes.endIndex - recordsEnd == Self.size * stride,
            let entries = entries(bytes[recordsStart..<recordsEnd]), entries.count > count
        else { return nil }
        let differences = unsafe bytes[recordsEnd...].withUnsafeBytes { bytes in
            (0..<Self.size).map {
                unsafe bytes.loadUnaligned(fromByteOffset: $0 * stride, as: EntryDifference.self)
            }
        }
        let bases = Array(entries.dropLast(count))
        let details = zip(entries.suffix(count), positions).compactMap {
            EntryDetails($0, at: $1, keepsPosition: true)
        }
        guard differences.allSatisfy({ $0.base < bases.count }), positions.allSatisfy({ $0 < Self.size }) else {
            return nil
        }
        let shared = previous.flatMap { Self.sharing($0.lastBase, bases, differences, details) }
        self = shared ?? EntryBlock(bases: bases, differences, details: details)
        guard mediaSequences.count == Self.size else { return nil }
    }

    /// A block whose first base is that of an earlier block; nil if its entries do not fit that base.
    private static func sharing(
        _ shared: [RingEntry], _ bases: [RingEntry], _ differences: [EntryDifference], _ details: [EntryDetails]
    ) -> EntryBlock? {
        guard let base = shared.first, differences[0].isBase, differences[0].base == 0,
            let first = EntryDifference(bases[0], from: base, at: 0)
        else { return nil }
        var raised = [first]
        raised.reserveCapacity(size)
        for difference in differences.dropFirst() {
            guard difference.base == 0 else {
                raised.append(difference)
                continue
            }
            guard !difference.isBase, let difference = difference.raised(by: first) else { return nil }
            raised.append(difference)
        }
        let found = EntryDetails(bases[0], at: 0, keepsPosition: false)
        return EntryBlock(
            bases: bases.count == 1 ? shared : shared + bases.dropFirst(), raised,
            details: (found.map { [$0] } ?? []) + details)
    }

    /// Whether an entry has its upstream position in full.
    var hasPosition: Bool { details.contains(where: \.hasPosition) }

    /// Drops the upstream position, because a later block has one.
    mutating func dropPosition() { details = details.compactMap(\.withoutPosition) }
}

/// The properties of an entry that are neither in its base nor in its `EntryDifference`.
private struct EntryDetails: Sendable {
    let position: Int
    private let adMarkers: SegmentAdMarkers
    private let privateData: SpoolFile?
    /// nil if the extent is in the difference.
    let extent: TransportStreamExtent?
    private let audioFiles: [TrackFile?]
    private let videoFiles: [VariantMedia<TrackFile>]
    private let leadingAudioBytes: Int
    private var upstream: UpstreamPosition?
    private var audioTracks: [AudioTrackPoint]

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
        if isEmpty { return nil }
    }

    private var isEmpty: Bool {
        let hasFiles = privateData != nil || !audioFiles.isEmpty || !videoFiles.isEmpty
        return adMarkers == SegmentAdMarkers() && extent == nil && !hasFiles && !hasPosition
    }

    var hasPosition: Bool { upstream != nil || !audioTracks.isEmpty }

    /// nil if nothing else is left.
    var withoutPosition: EntryDetails? {
        var details = self
        (details.upstream, details.audioTracks) = (nil, [])
        return details.isEmpty ? nil : details
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
    /// Nothing: it keeps the layout of the file.
    private let unused: UInt32 = 0

    init(base: Int) {
        self.base = UInt16(base)
        flags = .isBase
    }

    var isBase: Bool { flags.contains(.isBase) }

    var isGap: Bool { flags.contains(.isGap) }

    /// - Parameter base: the media sequence number of the base.
    func number(from base: UInt64) -> UInt64 { base + UInt64(mediaSequence) }

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
            _ = try Self.rise(entry.subtitleBytes, 0)
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

    /// The figures of an entry without `EntryDetails` and without subtitles.
    func figures(from base: EntryFigures) -> EntryFigures {
        let (byteCount, duration) = (Int(byteCount), Int64(duration))
        return EntryFigures(
            mediaSequence: number(from: base.mediaSequence), listedFrom: base.listedFrom + UInt64(listedFrom),
            duration: duration, programDateTime: base.programDateTime.advanced(byMilliseconds: Int64(milliseconds)),
            isIndependent: flags.contains(.isIndependent), byteCount: byteCount,
            transportStreamByteCount: base.transportStreamByteCount == nil
                ? nil : EntryFigures.transportStreamByteCount(of: byteCount, lasting: duration),
            storedBytes: UInt64(byteCount), extent: extent)
    }

    /// The difference from another base, from which the base differs by `other`; nil if a number does not fit.
    func raised(by other: EntryDifference) -> EntryDifference? {
        var raised = self
        do throws(Overflow) {
            try Self.raise(&raised.mediaSequence, by: other.mediaSequence)
            try Self.raise(&raised.milliseconds, by: other.milliseconds)
            try Self.raise(&raised.videoDecodeTime, by: other.videoDecodeTime)
            try Self.raise(&raised.audioDecodeTime, by: other.audioDecodeTime)
            try Self.raise(&raised.fragmentSequenceNumber, by: other.fragmentSequenceNumber)
            try Self.raise(&raised.presentationEnd, by: other.presentationEnd)
            try Self.raise(&raised.listedFrom, by: other.listedFrom)
            if flags.contains(.hasUpstream) {
                try Self.raise(&raised.upstreamMediaSequence, by: other.upstreamMediaSequence)
            }
        } catch { return nil }
        return raised
    }

    private static func raise(_ number: inout UInt32, by other: UInt32) throws(Overflow) {
        let (sum, overflows) = number.addingReportingOverflow(other)
        guard !overflows else { throw Overflow() }
        number = sum
    }

    /// The entry without its `EntryDetails` and its subtitles.
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
    fileprivate func withSubtitles(_ byteCount: UInt64) -> RingEntry {
        var entry = self
        entry.subtitleBytes = byteCount
        return entry
    }

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
