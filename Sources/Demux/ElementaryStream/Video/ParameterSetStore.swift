package import Media
import Support

/// The parameter sets that a decoder would hold, and the configuration that applies since the last sync access unit.
struct ParameterSetStore: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let bytes: [UInt8]
        /// Whether the set is an SPS of H.264 that allows one reference frame at most.
        let hasSingleReference: Bool
        var isInAccessUnit: Bool
    }

    /// The size limit of one set in bytes. Sets have some hundreds; damage can make one of a slice.
    private static let largestSet = 16 << 10
    /// The size limit of all sets in bytes, because every sync sample repeats them.
    static let largestSize = 64 << 10

    private let codec: VideoConfiguration.Codec
    /// Sets by kind, then in ascending order of identifier.
    private var sets: [[Entry]] = [[], [], []]
    /// Whole boxes that the container has beside the sets.
    var dynamicRangeBoxes: [UInt8] = [] {
        didSet { isChanged = isChanged || dynamicRangeBoxes != oldValue }
    }
    private var size = 0
    private var isChanged = false
    /// The configuration that applies; nil before the first complete sets. It changes only if its value changes.
    private(set) var configuration: VideoConfiguration?
    /// The sets of `configuration`, as they stand in samples.
    private(set) var prefix: [UInt8] = []
    /// H.264: whether every SPS of `configuration` allows one reference frame at most.
    private(set) var hasSingleReference = false

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    /// - Returns: Whether a decoder did not hold these bytes yet.
    mutating func insert(_ bytes: ArraySlice<UInt8>, _ kind: NALUnitRole.ParameterSet) -> Bool {
        let unit = Array(bytes)
        guard unit.count <= Self.largestSet, let id = ParameterSetID.read(unit, kind, codec: codec) else {
            return false
        }
        StepCounter.add(unit.count)
        if let index = sets[kind.rawValue].firstIndex(where: { $0.id == id }) {
            guard sets[kind.rawValue][index].bytes != unit else {
                sets[kind.rawValue][index].isInAccessUnit = true
                return false
            }
            size -= sets[kind.rawValue].remove(at: index).bytes.count
        }
        if size + unit.count > Self.largestSize { removeEarlierSets() }
        guard size + unit.count <= Self.largestSize else { return false }
        let isSequence = codec == .h264 && kind == .sequence
        let entry = Entry(
            id: id, bytes: unit, hasSingleReference: isSequence && Self.hasSingleReference(unit), isInAccessUnit: true)
        sets[kind.rawValue].insert(entry, at: sets[kind.rawValue].partitioningIndex { $0.id > id })
        size += unit.count
        isChanged = true
        return true
    }

    /// Makes room for a set: no stream needs as many as there are.
    private mutating func removeEarlierSets() {
        for kind in sets.indices { sets[kind].removeAll { !$0.isInAccessUnit } }
        updateSize()
    }

    private mutating func updateSize() { size = sets.joined().reduce(0) { $0 + $1.bytes.count } }

    mutating func beginAccessUnit() {
        for kind in sets.indices {
            for index in sets[kind].indices { sets[kind][index].isInAccessUnit = false }
        }
    }

    /// Applies the sets after those of a sync access unit were inserted. If an SPS is among them, they replace all
    /// earlier sets of their kinds, so that no set of a preceding program remains.
    mutating func activate() {
        if sets[NALUnitRole.ParameterSet.sequence.rawValue].contains(where: \.isInAccessUnit) {
            for kind in sets.indices where sets[kind].contains(where: \.isInAccessUnit) {
                guard !sets[kind].allSatisfy(\.isInAccessUnit) else { continue }
                sets[kind].removeAll { !$0.isInAccessUnit }
                isChanged = true
            }
            updateSize()
        }
        updateConfiguration()
    }

    /// Applies the sets after those of a recovery point were inserted, if any of them is new. A new SPS replaces all
    /// earlier sets; a recovery point may repeat fewer sets than apply, so known ones replace nothing.
    mutating func activateAtRecoveryPoint(hasNewSequence: Bool) {
        if hasNewSequence { activate() } else { updateConfiguration() }
    }

    /// The sets that a decoder of the whole stream holds, as they stand in samples.
    var held: [UInt8] {
        guard isChanged else { return prefix }
        StepCounter.add(size)
        return current().map(\.inBandParameterSets) ?? []
    }

    /// Applies the sets after those of any other access unit were inserted: only the first complete sets apply at once.
    mutating func activateFirst() {
        if configuration == nil { updateConfiguration() }
    }

    private mutating func updateConfiguration() {
        guard isChanged, let latest = current() else { return }
        StepCounter.add(size)
        isChanged = false
        guard latest != configuration else { return }
        configuration = latest
        prefix = latest.inBandParameterSets
        hasSingleReference = sets[NALUnitRole.ParameterSet.sequence.rawValue].allSatisfy(\.hasSingleReference)
    }

    private static func hasSingleReference(_ unit: [UInt8]) -> Bool {
        (try? H264SequenceParameterSet(nalUnit: unit)).map { $0.maxNumRefFrames <= 1 } ?? false
    }

    private func current() -> VideoConfiguration? {
        let sets = sets.map { $0.map(\.bytes) }
        guard !sets[1].isEmpty, !sets[2].isEmpty, codec != .hevc || !sets[0].isEmpty else { return nil }
        return VideoConfiguration(
            codec: codec, videoParameterSets: sets[0], sequenceParameterSets: sets[1], pictureParameterSets: sets[2],
            dynamicRangeBoxes: dynamicRangeBoxes)
    }
}

extension VideoConfiguration {
    /// The bytes with which each unit of MPEG-2 begins, without the byte that tells what it is.
    static let startCode: [UInt8] = [0, 0, 1]

    /// All parameter sets as they stand in samples: each with its four-byte length, or with its start code.
    package var inBandParameterSets: [UInt8] {
        (videoParameterSets + sequenceParameterSets + pictureParameterSets).flatMap {
            (codec == .mpeg2 ? Self.startCode : NALUnitLength.bytes($0.count)) + $0
        }
    }
}

enum ParameterSetID {
    static func read(_ unit: [UInt8], _ kind: NALUnitRole.ParameterSet, codec: VideoConfiguration.Codec) -> Int? {
        var bits = BitReader(
            nalUnit: unit, section: codec == .h264 ? "ISO/IEC 14496-10 §7.3.2" : "ISO/IEC 23008-2 §7.3.2")
        do {
            switch (codec, kind) {
            case (.h264, .sequence): try bits.skip(8 + 24)  // NAL header, profile, constraints, level
            case (.h264, _): try bits.skip(8)
            case (.hevc, .video):
                try bits.skip(16)
                return try bits.u(4)
            case (.hevc, .sequence): try skipProfileTierLevel(&bits)
            case (.hevc, .picture): try bits.skip(16)
            case (.mpeg2, .picture): return unit.count > 1 ? Int(unit[1] >> 4) : nil
            case (.mpeg2, _): return 0
            }
            return try bits.ue("parameter_set_id", in: 0...255)
        } catch {
            return nil
        }
    }

    /// Skips the fields before the identifier of an SPS (ISO/IEC 23008-2 §7.3.2.2.1).
    private static func skipProfileTierLevel(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(16 + 4)  // NAL header, sps_video_parameter_set_id
        let maxSubLayersMinus1 = try bits.u(3)
        try bits.skip(1)  // sps_temporal_id_nesting_flag
        _ = try HEVCProfileTierLevel(&bits, maxSubLayersMinus1: maxSubLayersMinus1)
    }
}
