import Media
import Support

/// Converts the NAL units of access units to fragmented MP4 samples, whether the units come from a byte stream or from
/// samples. Units of MPEG-2 keep start codes and the zeros before them.
struct VideoSampleWriter: Sendable {
    struct Timing: Equatable, Sendable {
        let pts: Ticks?
        let dts: Ticks?
        let isDamaged: Bool
        /// Whether the container declares a sync sample.
        var isMarkedSync = false
    }

    private let pid: UInt16
    private let codec: VideoConfiguration.Codec
    private var parameterSets: ParameterSetStore
    private var samples: [(packet: VideoPacket, payload: Range<Int>)] = []
    private var arena: [UInt8] = []
    /// Bytes of parameter sets beside samples, which count like bytes of the arena.
    private var setsSize = 0
    /// Whether an access unit found no room. None is written then before `drain()`, because only hostile input gets here.
    private var isFull = false
    /// The largest size of the arena in bytes. Every sync sample repeats its parameter sets, and an upstream may make
    /// them large and frequent.
    private(set) var maxArenaSize: Int
    /// The arena size that any segment may use. Beyond it samples are an eighth longer than their input at most: lengths
    /// take a byte more than start codes, and three more than the shortest lengths.
    private static let arenaHeadroom = 1 << 20

    init(pid: UInt16, codec: VideoConfiguration.Codec, maxArenaSize: Int = 0) {
        self.maxArenaSize = maxArenaSize
        self.pid = pid
        self.codec = codec
        parameterSets = ParameterSetStore(codec: codec)
    }

    /// - Parameter bytes: the number of input bytes until the next `drain()`.
    mutating func reserve(bytes: Int) {
        arena.reserveCapacity(arena.count + bytes)
        maxArenaSize = arena.count + bytes + bytes / 8 + Self.arenaHeadroom
    }

    /// Replaces the parameter sets by sets from outside the stream.
    mutating func activate(
        _ sets: [(kind: NALUnitRole.ParameterSet, unit: ArraySlice<UInt8>)], dynamicRangeBoxes: [UInt8] = []
    ) {
        parameterSets.dynamicRangeBoxes = dynamicRangeBoxes
        parameterSets.beginAccessUnit()
        for set in sets { _ = parameterSets.insert(set.unit, set.kind) }
        parameterSets.activate()
    }

    /// Appends one access unit.
    /// - Returns: false if there is no picture, no parameter sets to decode it, or no room.
    mutating func write(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, of bytes: [UInt8], _ timing: Timing
    ) -> Bool {
        guard samples.count < DemuxLimits.videoFrames, !isFull else { return false }
        let picture = CodedPicture(units, roles, of: bytes, codec: codec)
        let randomAccess = picture?.randomAccess(
            isMarkedSync: timing.isMarkedSync, hasSingleReference: parameterSets.hasSingleReference)
        let start = arena.count
        let writesParameterSets = activateParameterSets(units, roles, bytes, at: randomAccess)
        isFull = start + setsSize + size(of: units, at: randomAccess) > maxArenaSize
        guard !isFull else { return false }
        if writesParameterSets, randomAccess?.hasParameterSetsApart == false {
            arena.append(contentsOf: parameterSets.prefix)
        }
        for (unit, role) in zip(units, roles)
        where isKept(unit, role, bytes, dropsSets: writesParameterSets || timing.isDamaged) {
            if codec == .mpeg2 {
                arena.append(contentsOf: VideoConfiguration.startCode)
            } else {
                NALUnitLength.append(unit.end - unit.start, to: &arena)
            }
            arena.append(contentsOf: bytes[unit.start..<unit.end])
        }
        if !writesParameterSets { parameterSets.activateFirst() }
        StepCounter.add(arena.count - start)
        guard let configuration = parameterSets.configuration, let picture else {
            arena.removeLast(arena.count - start)
            return false
        }
        let setsApart = randomAccess?.hasParameterSetsApart == true ? parameterSets.held : []
        setsSize += setsApart.count
        let packet = VideoPacket(
            pid: pid, configuration: configuration, pts: timing.pts, dts: timing.dts, randomAccess: randomAccess,
            isDamaged: timing.isDamaged, payload: [], parameterSets: setsApart, isReference: picture.isReference,
            captions: picture.captions)
        samples.append((packet, start..<arena.count))
        return true
    }

    private func size(of units: ArraySlice<NALUnit>, at randomAccess: RandomAccessPoint?) -> Int {
        let payload = units.reduce(0) { $0 + 4 + $1.end - $1.start }
        return payload + (randomAccess == nil ? 0 : parameterSets.prefix.count)
    }

    /// Returns the packets written since the last call, as slices of one array.
    mutating func drain() -> [VideoPacket] {
        let bytes = arena
        arena = []
        (setsSize, isFull) = (0, false)
        defer { samples.removeAll(keepingCapacity: true) }
        return samples.map { sample in
            var packet = sample.packet
            packet.payload = bytes[sample.payload]
            return packet
        }
    }

    /// At random access: applies the parameter sets of the access unit. Before an IDR, BLA or CRA picture, writes all
    /// applicable sets.
    /// - Returns: whether the sets of the access unit are then not part of its payload.
    private mutating func activateParameterSets(
        _ units: ArraySlice<NALUnit>, _ roles: ArraySlice<NALUnitRole>, _ bytes: [UInt8],
        at randomAccess: RandomAccessPoint?
    ) -> Bool {
        guard let randomAccess, !randomAccess.hasParameterSetsApart || roles.contains(.parameterSet(.sequence)) else {
            return false
        }
        parameterSets.beginAccessUnit()
        var new: [NALUnitRole.ParameterSet] = []
        for (unit, role) in zip(units, roles) {
            guard case .parameterSet(let kind) = role else { continue }
            if parameterSets.insert(bytes[unit.start..<unit.end], kind) { new.append(kind) }
        }
        if randomAccess.hasParameterSetsApart {
            parameterSets.activateAtRecoveryPoint(hasNewSequence: new.contains(.sequence))
        } else {
            parameterSets.activate()
        }
        return true
    }

    /// Whether a NAL unit stays in the payload. A parameter set stays if a decoder that began at the last sync sample
    /// would not hold it. Between damaged bytes, chance makes sets that would stay in all init sections.
    private mutating func isKept(_ unit: NALUnit, _ role: NALUnitRole, _ bytes: [UInt8], dropsSets: Bool) -> Bool {
        switch role {
        case .delimiter, .filler: return false
        case .parameterSet(let kind):
            guard !dropsSets else { return false }
            let isNew = parameterSets.insert(bytes[unit.start..<unit.end], kind)
            return isNew && parameterSets.configuration != nil
        case .prefix, .slice, .other: return true
        }
    }
}

extension RandomAccessPoint {
    /// Whether the parameter sets are not part of the payload: the frame is a sync sample only where a period begins.
    fileprivate var hasParameterSetsApart: Bool {
        switch self {
        case .instantaneousRefresh, .cleanRandomAccess: false
        case .recoveryPoint, .gradualRefresh: true
        }
    }
}
