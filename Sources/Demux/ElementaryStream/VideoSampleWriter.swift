import Media

/// From the NAL units of access units to samples as fragmented MP4 wants them: the same, whether the units come from a
/// byte stream or stood in samples already.
struct VideoSampleWriter: Sendable {
    /// What is known of an access unit besides its NAL units.
    struct Timing: Equatable, Sendable {
        let pts: Ticks?
        let dts: Ticks?
        let isDamaged: Bool
    }

    private struct Sample {
        let configuration: VideoConfiguration
        let timing: Timing
        let sync: VideoPacket.Sync
        let payload: Range<Int>
    }

    private let pid: UInt16
    private let codec: VideoConfiguration.Codec
    private var parameterSets: ParameterSetStore
    private var samples: [Sample] = []
    private var arena: [UInt8] = []
    /// Bytes that the arena may have: every sync sample repeats its parameter sets, and an upstream may make these as
    /// large and those as many as it likes.
    private(set) var maxArenaSize: Int
    /// What any segment may take. NAL units behind one byte of length become less than four times as long.
    private static let arenaHeadroom = 1 << 20

    /// - Parameters:
    ///   - pid: of the packets; 0 when the container has none.
    ///   - room: bytes that may be written until it is told for how many.
    init(pid: UInt16, codec: VideoConfiguration.Codec, room: Int = 0) {
        self.maxArenaSize = room
        self.pid = pid
        self.codec = codec
        parameterSets = ParameterSetStore(codec: codec)
    }

    /// - Parameter bytes: from which samples are written until `take`.
    mutating func reserve(bytes: Int) {
        arena.reserveCapacity(arena.count + bytes)
        maxArenaSize = arena.count + 4 * bytes + Self.arenaHeadroom
    }

    /// Parameter sets that stand outside the stream: they hold from here on, and nothing else does.
    mutating func activate(_ sets: [(kind: NALUnitRole.ParameterSet, unit: ArraySlice<UInt8>)]) {
        parameterSets.beginAccessUnit()
        for set in sets { _ = parameterSets.insert(set.unit, set.kind) }
        parameterSets.activate()
    }

    /// Appends one access unit.
    /// - Parameters:
    ///   - units: of the access unit, in order, none empty.
    ///   - roles: of the same.
    /// - Returns: false when no picture is in it, no parameter sets were there to decode it with, or there is no room.
    mutating func write(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, of bytes: [UInt8], _ timing: Timing
    ) -> Bool {
        let sync = syncKind(units, roles, bytes)
        let isRandomAccess = sync?.isRandomAccess ?? false
        let start = arena.count
        if isRandomAccess { activateParameterSets(units, roles, bytes) }
        for (unit, role) in zip(units, roles) where isKept(unit, role, bytes, isRandomAccess: isRandomAccess) {
            NALUnitLength.append(unit.end - unit.start, to: &arena)
            arena.append(contentsOf: bytes[unit.start..<unit.end])
        }
        if !isRandomAccess { parameterSets.activateFirst() }
        guard let configuration = parameterSets.configuration, let sync, arena.count <= maxArenaSize else {
            arena.removeLast(arena.count - start)
            return false
        }
        samples.append(
            Sample(configuration: configuration, timing: timing, sync: sync, payload: start..<arena.count))
        return true
    }

    /// Everything written since the last time, as slices of one array.
    mutating func drain() -> [VideoPacket] {
        let bytes = arena
        arena = []
        defer { samples.removeAll(keepingCapacity: true) }
        return samples.map { sample in
            VideoPacket(
                pid: pid, configuration: sample.configuration, pts: sample.timing.pts, dts: sample.timing.dts,
                sync: sample.sync, isDamaged: sample.timing.isDamaged, payload: bytes[sample.payload])
        }
    }

    /// At random access: its parameter sets come into force, and all in force are put in front.
    private mutating func activateParameterSets(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, _ bytes: [UInt8]
    ) {
        parameterSets.beginAccessUnit()
        for (unit, role) in zip(units, roles) {
            guard case .parameterSet(let kind) = role else { continue }
            _ = parameterSets.insert(bytes[unit.start..<unit.end], kind)
        }
        parameterSets.activate()
        arena.append(contentsOf: parameterSets.prefix)
    }

    /// Parameter sets stay in the payload where a decoder that began at the last sync sample would not hold them.
    private mutating func isKept(
        _ unit: NALUnit, _ role: NALUnitRole, _ bytes: [UInt8], isRandomAccess: Bool
    ) -> Bool {
        switch role {
        case .delimiter, .filler: return false
        case .parameterSet(let kind):
            guard !isRandomAccess else { return false }
            let isNew = parameterSets.insert(bytes[unit.start..<unit.end], kind)
            return isNew && parameterSets.configuration != nil
        case .prefix, .slice, .other: return true
        }
    }

    /// Nil when there is no picture.
    private func syncKind(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, _ bytes: [UInt8]
    ) -> VideoPacket.Sync? {
        var hasPicture = false
        var recovers = false
        for (unit, role) in zip(units, roles) {
            switch role {
            case .slice(_, .instantaneousRefresh): return .instantaneousRefresh
            case .slice(_, .cleanRandomAccess): return .cleanRandomAccess
            case .slice: hasPicture = true
            case .prefix where SEIMessage.recoveryPoint.isPresent(in: unit, of: bytes, codec: codec):
                recovers = true
            default: break
            }
        }
        guard hasPicture else { return nil }
        return recovers ? .recoveryPoint : VideoPacket.Sync.none
    }
}
