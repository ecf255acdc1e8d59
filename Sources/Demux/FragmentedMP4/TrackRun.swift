import Media

/// One `trun`: the duration, size and composition offset of each sample (ISO/IEC 14496-12 §8.8.8).
struct TrackRun: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let duration: UInt32
        let size: UInt32
        let flags: UInt32
        /// Signed in version 0 too: writers use negative offsets there, whatever the standard says.
        let compositionOffset: Int32
    }

    /// The offset from the traf's base; nil for the end of the preceding track run.
    let dataOffset: Int32?
    let entries: [Entry]

    /// - Parameter limit: the largest number of samples that the segment can contain.
    init(_ trun: Box, _ defaults: SampleDefaults, limit: Int) throws(MediaError) {
        var fields = BoxFields(trun.body)
        let flags = try fields.versionAndFlags().flags
        let count = try fields.u32()
        // A larger count would only cost time, because the segment has no bytes for the samples.
        guard count <= limit else { throw fields.truncated }
        dataOffset = flags & 0x001 != 0 ? Int32(bitPattern: try fields.u32()) : nil
        var first = flags & 0x004 != 0 ? try fields.u32() : nil
        var entries: [Entry] = []
        for _ in 0..<count {
            entries.append(
                Entry(
                    duration: flags & 0x100 != 0 ? try fields.u32() : defaults.duration,
                    size: flags & 0x200 != 0 ? try fields.u32() : defaults.size,
                    flags: flags & 0x400 != 0 ? try fields.u32() : first ?? defaults.flags,
                    compositionOffset: flags & 0x800 != 0 ? Int32(bitPattern: try fields.u32()) : 0))
            first = nil
        }
        self.entries = entries
    }
}
