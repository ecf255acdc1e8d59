import Media

/// One `trun`: how long, how large and how late each of its samples is (ISO/IEC 14496-12 §8.8.8).
struct TrackRun: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let duration: UInt32
        let size: UInt32
        let flags: UInt32
        /// Signed in version 0 too, where writers use it so whatever the standard says.
        let compositionOffset: Int32
    }

    /// From the traf's base; nil: behind the run before.
    let dataOffset: Int32?
    let entries: [Entry]

    /// - Parameter limit: more samples than this cannot be in the segment.
    init(_ trun: Box, _ defaults: SampleDefaults, limit: Int) throws(MediaError) {
        var fields = BoxFields(trun.body)
        let flags = try fields.versionAndFlags().flags
        let count = try fields.u32()
        // Samples without a byte of their own anywhere would be a count to run through and nothing else.
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
