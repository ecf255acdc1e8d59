import Media

/// Converts the NAL units of access units to fragmented MP4 samples, whether the units come from a byte stream or from
/// samples.
struct VideoSampleWriter: Sendable {
    /// The timestamps and damage of an access unit.
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
    /// The largest size of the arena in bytes. Every sync sample repeats its parameter sets, and an upstream may make
    /// them large and frequent.
    private(set) var maxArenaSize: Int
    /// The arena size that any segment may use. NAL units with one-byte lengths become less than four times as long.
    private static let arenaHeadroom = 1 << 20

    /// - Parameters:
    ///   - pid: the PID of the packets; 0 if the container has none.
    ///   - maxArenaSize: the largest size of the arena until `reserve(bytes:)` sets it.
    init(pid: UInt16, codec: VideoConfiguration.Codec, maxArenaSize: Int = 0) {
        self.maxArenaSize = maxArenaSize
        self.pid = pid
        self.codec = codec
        parameterSets = ParameterSetStore(codec: codec)
    }

    /// - Parameter bytes: the number of input bytes until the next `drain()`.
    mutating func reserve(bytes: Int) {
        arena.reserveCapacity(arena.count + bytes)
        maxArenaSize = arena.count + 4 * bytes + Self.arenaHeadroom
    }

    /// Replaces the parameter sets by sets from outside the stream.
    mutating func activate(_ sets: [(kind: NALUnitRole.ParameterSet, unit: ArraySlice<UInt8>)]) {
        parameterSets.beginAccessUnit()
        for set in sets { _ = parameterSets.insert(set.unit, set.kind) }
        parameterSets.activate()
    }

    /// Appends one access unit.
    /// - Parameters:
    ///   - units: the NAL units of the access unit, in order, none empty.
    ///   - roles: the roles of the units.
    /// - Returns: false if there is no picture, no parameter sets to decode it, or no room.
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

    /// Returns the packets written since the last call, as slices of one array.
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

    /// At random access: applies the parameter sets of the access unit, and writes all applicable sets before the
    /// picture.
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

    /// Whether a NAL unit stays in the payload. A parameter set stays if a decoder that began at the last sync sample
    /// would not hold it.
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

    /// Returns the kind of random access; nil if there is no picture.
    private func syncKind(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, _ bytes: [UInt8]
    ) -> VideoPacket.Sync? {
        var hasPicture = false
        var hasRecoveryPoint = false
        for (unit, role) in zip(units, roles) {
            switch role {
            case .slice(_, .instantaneousRefresh): return .instantaneousRefresh
            case .slice(_, .cleanRandomAccess): return .cleanRandomAccess
            case .slice: hasPicture = true
            case .prefix where SEIMessage.recoveryPoint.isPresent(in: unit, of: bytes, codec: codec):
                hasRecoveryPoint = true
            default: break
            }
        }
        guard hasPicture else { return nil }
        return hasRecoveryPoint ? .recoveryPoint : VideoPacket.Sync.none
    }
}
