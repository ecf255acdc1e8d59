import Media

/// One `traf` with its samples, as a player would read them (ISO/IEC 14496-12 §8.8.6).
package struct TrackFragment: Equatable, Sendable {
    let header: TrackFragmentHeader
    package let samples: [Sample]
    /// Whether the first sample begins a gradual refresh: it is in a sample group `roll` (ISO/IEC 14496-12 §10.1).
    package let beginsGradualRefresh: Bool

    /// - Parameter boxes: the boxes in the `traf`.
    init(header: TrackFragmentHeader, samples: [Sample], boxes: [Box] = []) {
        self.header = header
        self.samples = samples
        beginsGradualRefresh = boxes.contains { $0.type == "sbgp" && Self.beginsRoll($0) }
    }

    /// Whether a `sbgp` says so (§8.9.2). A malformed one says nothing.
    private static func beginsRoll(_ group: Box) -> Bool {
        var fields = BoxFields(group.body)
        do throws(MediaError) {
            let version = try fields.versionAndFlags().version
            guard try fields.u32() == 0x726F_6C6C else { return false }
            // grouping_type_parameter in version 1; entry_count and the first sample_count
            try fields.skip(version == 1 ? 12 : 8)
            return try fields.u32() > 0
        } catch {
            return false
        }
    }

    package var trackID: UInt32 { header.trackID }
    /// `tfdt`; nil if it is missing.
    package var decodeTime: UInt64? { header.decodeTime }

    package struct Sample: Equatable, Sendable {
        package let duration: UInt32
        package let compositionOffset: Int32
        let flags: UInt32
        /// The sample data, with indices of the segment. It is shorter than `size` if the segment ends first, and then
        /// may be empty.
        package let payload: ArraySlice<UInt8>
        let size: UInt32

        /// Whether sample_is_non_sync_sample is not set.
        package var isSync: Bool { flags & 0x1_0000 == 0 }
        /// Whether decoding can begin here: a sync sample, or one that says that it depends on no other
        /// (`sample_depends_on` 2, ISO/IEC 14496-12 §8.6.4.3), as a CRA picture and a recovery point do.
        package var isRandomAccessPoint: Bool { isSync || flags >> 24 & 3 == 2 }
        var isComplete: Bool { payload.count == size }
    }
}
