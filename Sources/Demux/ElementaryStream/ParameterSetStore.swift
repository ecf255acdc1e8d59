import Media

/// The parameter sets a decoder would hold, and the configuration in force since the last sync access unit.
struct ParameterSetStore: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let bytes: [UInt8]
        var isInAccessUnit: Bool
    }

    private let codec: VideoConfiguration.Codec
    /// By kind, then ascending by id.
    private var sets: [[Entry]] = [[], [], []]
    private var isChanged = false
    /// Nil before the first complete sets. An equal configuration stays the same value.
    private(set) var configuration: VideoConfiguration?
    /// The sets of `configuration`, each behind its length in four bytes.
    private(set) var prefix: [UInt8] = []

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    /// A parameter set came by.
    /// - Returns: a decoder did not hold these bytes yet.
    mutating func insert(_ bytes: ArraySlice<UInt8>, _ kind: NALUnitRole.ParameterSet) -> Bool {
        if let index = sets[kind.rawValue].firstIndex(where: { $0.bytes.elementsEqual(bytes) }) {
            sets[kind.rawValue][index].isInAccessUnit = true
            return false
        }
        guard let id = ParameterSetID.read(Array(bytes), kind, codec: codec) else { return false }
        sets[kind.rawValue].removeAll { $0.id == id }
        let place = sets[kind.rawValue].firstIndex { $0.id > id } ?? sets[kind.rawValue].endIndex
        sets[kind.rawValue].insert(Entry(id: id, bytes: Array(bytes), isInAccessUnit: true), at: place)
        isChanged = true
        return true
    }

    /// Before the sets of an access unit are taken.
    mutating func beginAccessUnit() {
        for kind in sets.indices {
            for index in sets[kind].indices { sets[kind][index].isInAccessUnit = false }
        }
    }

    /// After the sets of a sync access unit: one that carries an SPS names all that holds from here on, kind by kind,
    /// so that nothing of the programme before stays.
    mutating func activate() {
        if sets[NALUnitRole.ParameterSet.sequence.rawValue].contains(where: \.isInAccessUnit) {
            for kind in sets.indices where sets[kind].contains(where: \.isInAccessUnit) {
                guard !sets[kind].allSatisfy(\.isInAccessUnit) else { continue }
                sets[kind].removeAll { !$0.isInAccessUnit }
                isChanged = true
            }
        }
        updateConfiguration()
    }

    /// After the sets of any other access unit: only the first complete sets count at once.
    mutating func activateFirst() {
        if configuration == nil { updateConfiguration() }
    }

    private mutating func updateConfiguration() {
        guard isChanged, let settled = current() else { return }
        isChanged = false
        guard settled != configuration else { return }
        configuration = settled
        let sets = settled.videoParameterSets + settled.sequenceParameterSets + settled.pictureParameterSets
        prefix = sets.flatMap { set in NALUnitLength.bytes(set.count) + set }
    }

    private func current() -> VideoConfiguration? {
        let sets = sets.map { $0.map(\.bytes) }
        guard !sets[1].isEmpty, !sets[2].isEmpty, codec == .h264 || !sets[0].isEmpty else { return nil }
        return VideoConfiguration(
            codec: codec, videoParameterSets: sets[0], sequenceParameterSets: sets[1], pictureParameterSets: sets[2])
    }
}

/// The length in front of a NAL unit in a sample (ISO/IEC 14496-15 §5.3.4.2.1): four bytes, big-endian.
enum NALUnitLength {
    static func bytes(_ length: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }

    @inline(__always)
    static func append(_ length: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: length >> 24))
        bytes.append(UInt8(truncatingIfNeeded: length >> 16))
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
    }
}

/// The number under which a parameter set is activated.
enum ParameterSetID {
    /// Nil when the set ends before its id.
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
            }
            return try bits.ue("parameter_set_id", in: 0...255)
        } catch {
            return nil
        }
    }

    /// ISO/IEC 23008-2 §7.3.2.2.1 up to the SPS id, and §7.3.3.
    private static func skipProfileTierLevel(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(16 + 4)
        let subLayers = try bits.u(3)
        try bits.skip(1 + 96)
        guard subLayers > 0 else { return }
        var skipped = 0
        for _ in 0..<subLayers {
            skipped += try bits.flag() ? 88 : 0
            skipped += try bits.flag() ? 8 : 0
        }
        try bits.skip((8 - subLayers) * 2 + skipped)
    }
}
