import Media

/// One `traf` with its samples, as a player would read them (ISO/IEC 14496-12 §8.8.6).
package struct TrackFragment: Equatable, Sendable {
    let header: TrackFragmentHeader
    package let samples: [Sample]
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
        var isComplete: Bool { payload.count == size }
    }
}
