import Media
import Support

/// Flags of `tfhd` (ISO/IEC 14496-12 §8.8.7).
enum TrackHeaderFlag {
    static let defaultSampleDuration: UInt32 = 0x00_0008
    static let defaultSampleFlags: UInt32 = 0x00_0020
    static let defaultBaseIsMoof: UInt32 = 0x02_0000
}

/// Flags of `trun` (ISO/IEC 14496-12 §8.8.8).
enum TrackRunFlag {
    static let dataOffset: UInt32 = 0x001
    static let firstSampleFlags: UInt32 = 0x004
    static let sampleDuration: UInt32 = 0x100
    static let sampleSize: UInt32 = 0x200
    static let sampleFlags: UInt32 = 0x400
    static let sampleCompositionTimeOffsets: UInt32 = 0x800
}

/// Writes one `traf`: values common to all samples in `tfhd`, the others in `trun` (ISO/IEC 14496-12 §8.8.7, §8.8.8).
struct TrackFragmentWriter {
    private let track: MuxTrack
    /// Duration of every sample; nil if durations vary.
    private let commonDuration: UInt32?
    private let flagPattern: FlagPattern
    private let hasCompositionOffsets: Bool

    /// How the sample flags differ among the samples.
    private enum FlagPattern: Equatable {
        case same(UInt32)
        /// The first sample has these flags, and no other is a random access point.
        case first(UInt32)
        case mixed
    }

    init(_ track: MuxTrack) {
        self.track = track
        let first = track.samples.first
        commonDuration = track.samples.allSatisfy { $0.duration == first?.duration } ? first?.duration : nil
        hasCompositionOffsets = track.samples.contains { $0.compositionOffset != 0 }
        flagPattern = Self.pattern(track.samples)
    }

    private static func pattern(_ samples: [MuxSample]) -> FlagPattern {
        guard let first = samples.first else { return .same(FragmentWriter.syncFlags) }
        let rest = samples.dropFirst()
        if rest.allSatisfy({ $0.flags == first.flags }) { return .same(first.flags) }
        return rest.allSatisfy { $0.flags == FragmentWriter.nonSyncFlags } ? .first(first.flags) : .mixed
    }

    private var defaultFlags: UInt32 {
        if case .same(let flags) = flagPattern { flags } else { FragmentWriter.nonSyncFlags }
    }

    /// Writes the box.
    /// - Returns: the position of the data offset.
    func write(to moof: inout BoxWriter) -> Int {
        var dataOffset = 0
        moof.box("traf") { traf in
            writeHeader(&traf)
            traf.fullBox("tfdt", version: 1) { $0.u64(track.decodeTime) }
            dataOffset = writeTrackRun(&traf)
            SampleGroupWriter(track.samples).write(to: &traf)
        }
        return dataOffset
    }

    private func writeHeader(_ traf: inout BoxWriter) {
        var flags = TrackHeaderFlag.defaultBaseIsMoof | TrackHeaderFlag.defaultSampleFlags
        if commonDuration != nil { flags |= TrackHeaderFlag.defaultSampleDuration }
        traf.fullBox("tfhd", flags: flags) { tfhd in
            tfhd.u32(track.trackID)
            if let commonDuration { tfhd.u32(commonDuration) }
            tfhd.u32(defaultFlags)
        }
    }

    private func writeTrackRun(_ traf: inout BoxWriter) -> Int {
        var dataOffset = 0
        traf.fullBox("trun", version: 1, flags: trackRunFlags) { trun in
            trun.u32(UInt32(track.samples.count))
            dataOffset = trun.position
            trun.u32(0)
            if case .first(let flags) = flagPattern { trun.u32(flags) }
            for sample in track.samples { writeSample(sample, &trun) }
        }
        return dataOffset
    }

    private var trackRunFlags: UInt32 {
        var flags = TrackRunFlag.dataOffset | TrackRunFlag.sampleSize
        if commonDuration == nil, !track.samples.isEmpty { flags |= TrackRunFlag.sampleDuration }
        if case .first = flagPattern { flags |= TrackRunFlag.firstSampleFlags }
        if flagPattern == .mixed { flags |= TrackRunFlag.sampleFlags }
        if hasCompositionOffsets { flags |= TrackRunFlag.sampleCompositionTimeOffsets }
        return flags
    }

    private func writeSample(_ sample: MuxSample, _ trun: inout BoxWriter) {
        if commonDuration == nil { trun.u32(sample.duration) }
        trun.u32(UInt32(sample.payload.count))
        if flagPattern == .mixed { trun.u32(sample.flags) }
        if hasCompositionOffsets { trun.u32(UInt32(bitPattern: sample.compositionOffset)) }
    }
}

extension MuxSample {
    fileprivate var flags: UInt32 {
        switch randomAccess {
        case .instantaneousRefresh: FragmentWriter.syncFlags
        case .cleanRandomAccess, .recoveryPoint: FragmentWriter.openSyncFlags
        case .gradualRefresh, nil: FragmentWriter.nonSyncFlags
        }
    }
}

/// Writes the sample groups of random access points that are not sync samples (ISO/IEC 14496-12 §8.9, §10.1, §10.4).
private struct SampleGroupWriter {
    /// A run of samples in one group; group 0 is none.
    private struct Run {
        var count: UInt32
        let group: UInt32
    }

    private let samples: [MuxSample]
    /// Indices of group descriptions in a fragment begin here (§8.9.4).
    private static let firstLocalGroup: UInt32 = 0x1_0001

    init(_ samples: [MuxSample]) { self.samples = samples }

    func write(to traf: inout BoxWriter) {
        guard samples.contains(where: { $0.randomAccess != nil && !$0.isSync }) else { return }
        let isOpen = samples.map { $0.randomAccess?.streamAccessPointType == 3 }
        if isOpen.contains(true) {
            // VisualRandomAccessEntry: the number of leading samples is not known.
            writeGroup("rap ", entries: [[0]], of: isOpen.map { $0 ? 0 : nil }, to: &traf)
        }
        let distances = samples.map(\.rollDistance)
        let entries = Array(Set(distances.compactMap(\.self))).sorted()
        guard !entries.isEmpty else { return }
        let numbers = Dictionary(uniqueKeysWithValues: zip(entries, entries.indices))
        StepCounter.add(samples.count + entries.count)
        let bytes = entries.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        writeGroup("roll", entries: bytes, of: distances.map { $0.flatMap { numbers[$0] } }, to: &traf)
    }

    /// - Parameter members: for each sample the index of its entry; nil if the sample belongs to no entry.
    private func writeGroup(
        _ type: BoxType, entries: [[UInt8]], of members: [Int?], to traf: inout BoxWriter
    ) {
        traf.fullBox("sgpd", version: 1) { box in
            box.type(type)
            box.u32(UInt32(entries[0].count))
            box.u32(UInt32(entries.count))
            for entry in entries { box.append(entry) }
        }
        var runs: [Run] = []
        for member in members {
            let group = member.map { Self.firstLocalGroup + UInt32($0) } ?? 0
            if let last = runs.last, last.group == group {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Run(count: 1, group: group))
            }
        }
        traf.fullBox("sbgp") { box in
            box.type(type)
            box.u32(UInt32(runs.count))
            for run in runs {
                box.u32(run.count)
                box.u32(run.group)
            }
        }
    }
}

extension MuxSample {
    /// roll_distance: the number of samples after this one at which output is correct.
    fileprivate var rollDistance: Int16? {
        guard case .gradualRefresh(let frames)? = randomAccess else { return nil }
        return Int16(clamping: frames)
    }
}
