import Media

/// The effect of an edit list on a track that plays from a start time to its end (ISO/IEC 14496-12 §8.6.6), which is
/// the only use in a live stream.
package struct EditList: Equatable, Sendable {
    /// The total duration of the leading empty edits, in the movie's timescale.
    package let emptyDuration: UInt64
    /// The media time at which presentation begins, in the track's timescale.
    package let mediaTime: Int64

    static let none = EditList(emptyDuration: 0, mediaTime: 0)

    private init(emptyDuration: UInt64, mediaTime: Int64) {
        self.emptyDuration = emptyDuration
        self.mediaTime = mediaTime
    }

    /// - Parameter elst: nil if the track has no edit list.
    init(_ elst: Box?) throws(MediaError) {
        self = .none
        guard let elst else { return }
        var fields = BoxFields(elst.body)
        let isLong = try fields.versionAndFlags().version == 1
        let count = try fields.u32()
        var empty: UInt64 = 0
        for _ in 0..<count {
            let duration = isLong ? try fields.u64() : UInt64(try fields.u32())
            let time = isLong ? Int64(bitPattern: try fields.u64()) : Int64(Int32(bitPattern: try fields.u32()))
            try fields.skip(4)  // media_rate
            guard time < 0 else {
                self.init(emptyDuration: empty, mediaTime: time)
                return
            }
            empty &+= duration
        }
        self.init(emptyDuration: empty, mediaTime: 0)
    }
}
