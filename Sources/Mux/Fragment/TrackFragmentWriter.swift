import Media

/// Writes one `traf`: values that all samples share in `tfhd`, the others in `trun` (ISO/IEC 14496-12 §8.8.7, §8.8.8).
struct TrackFragmentWriter {
    private let track: MuxTrack
    /// Duration of every sample; nil if durations vary.
    private let commonDuration: UInt32?
    private let syncPattern: SyncPattern
    private let hasCompositionOffsets: Bool

    /// Distribution of the sync samples.
    private enum SyncPattern: Equatable {
        case all, none, onlyFirst, mixed
    }

    /// Flags of `tfhd`.
    private enum HeaderFlag {
        static let defaultSampleDuration: UInt32 = 0x00_0008
        static let defaultSampleFlags: UInt32 = 0x00_0020
        static let defaultBaseIsMoof: UInt32 = 0x02_0000
    }

    /// Flags of `trun`.
    private enum TrackRunFlag {
        static let dataOffset: UInt32 = 0x001
        static let firstSampleFlags: UInt32 = 0x004
        static let sampleDuration: UInt32 = 0x100
        static let sampleSize: UInt32 = 0x200
        static let sampleFlags: UInt32 = 0x400
        static let sampleCompositionTimeOffsets: UInt32 = 0x800
    }

    init(_ track: MuxTrack) {
        self.track = track
        let first = track.samples.first
        commonDuration = track.samples.allSatisfy { $0.duration == first?.duration } ? first?.duration : nil
        hasCompositionOffsets = track.samples.contains { $0.compositionOffset != 0 }
        syncPattern = Self.pattern(track.samples)
    }

    private static func pattern(_ samples: [MuxSample]) -> SyncPattern {
        guard let first = samples.first else { return .all }
        let rest = samples.dropFirst()
        guard let second = rest.first else { return first.isSync ? .all : .none }
        guard rest.allSatisfy({ $0.isSync == second.isSync }) else { return .mixed }
        switch (first.isSync, second.isSync) {
        case (true, true): return .all
        case (true, false): return .onlyFirst
        case (false, false): return .none
        case (false, true): return .mixed
        }
    }

    /// Writes the box.
    /// - Returns: the position of the data offset.
    func write(to moof: inout BoxWriter) -> Int {
        var dataOffset = 0
        moof.box("traf") { traf in
            writeHeader(&traf)
            traf.fullBox("tfdt", version: 1) { $0.u64(track.decodeTime) }
            dataOffset = writeTrackRun(&traf)
        }
        return dataOffset
    }

    private func writeHeader(_ traf: inout BoxWriter) {
        var flags = HeaderFlag.defaultBaseIsMoof | HeaderFlag.defaultSampleFlags
        if commonDuration != nil { flags |= HeaderFlag.defaultSampleDuration }
        traf.fullBox("tfhd", flags: flags) { tfhd in
            tfhd.u32(track.trackID)
            if let commonDuration { tfhd.u32(commonDuration) }
            tfhd.u32(syncPattern == .all ? FragmentWriter.syncFlags : FragmentWriter.nonSyncFlags)
        }
    }

    private func writeTrackRun(_ traf: inout BoxWriter) -> Int {
        var dataOffset = 0
        traf.fullBox("trun", version: 1, flags: trackRunFlags) { trun in
            trun.u32(UInt32(track.samples.count))
            dataOffset = trun.position
            trun.u32(0)
            if syncPattern == .onlyFirst { trun.u32(FragmentWriter.syncFlags) }
            for sample in track.samples { writeSample(sample, &trun) }
        }
        return dataOffset
    }

    private var trackRunFlags: UInt32 {
        var flags = TrackRunFlag.dataOffset | TrackRunFlag.sampleSize
        if commonDuration == nil, !track.samples.isEmpty { flags |= TrackRunFlag.sampleDuration }
        if syncPattern == .onlyFirst { flags |= TrackRunFlag.firstSampleFlags }
        if syncPattern == .mixed { flags |= TrackRunFlag.sampleFlags }
        if hasCompositionOffsets { flags |= TrackRunFlag.sampleCompositionTimeOffsets }
        return flags
    }

    private func writeSample(_ sample: MuxSample, _ trun: inout BoxWriter) {
        if commonDuration == nil { trun.u32(sample.duration) }
        trun.u32(UInt32(sample.payload.count))
        if syncPattern == .mixed { trun.u32(sample.isSync ? FragmentWriter.syncFlags : FragmentWriter.nonSyncFlags) }
        if hasCompositionOffsets { trun.u32(UInt32(bitPattern: sample.compositionOffset)) }
    }
}
