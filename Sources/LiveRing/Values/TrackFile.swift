/// The files of a segment in an audio or video track beside the leading one.
package struct TrackFile: Equatable, Sendable {
    package var initialization: SpoolFile
    package var segment: SpoolFile
    /// The attributes of a video track in the master playlist; nil of an audio track.
    package var format: SegmentFormat?
    /// Whether a file is lost. The segment is then listed under EXT-X-GAP in the playlist of this track alone.
    package var isGap = false
}

/// The media of a new segment in an audio or video track beside the leading one.
package struct NewTrack: Sendable {
    package var initialization: InitializationFile
    /// The attributes of a video track in the master playlist; nil of an audio track.
    package var format: SegmentFormat?
    /// The bytes before the payload, and the payload in file order.
    package var header: [UInt8]
    package var payload: [ArraySlice<UInt8>]

    package init(
        initialization: InitializationFile, format: SegmentFormat? = nil, header: [UInt8],
        payload: [ArraySlice<UInt8>]
    ) {
        self.initialization = initialization
        self.format = format
        self.header = header
        self.payload = payload
    }

    package var byteCount: Int { payload.reduce(header.count) { $0 + $1.count } }
}

/// The state in which an audio track beside the leading one continues. The texts are those of the splice engine,
/// without white space.
package struct AudioTrackPoint: Equatable, Sendable {
    package var identity: String
    package var configuration: String
    /// `tfdt` of the next fragment, in the timescale of the audio track.
    package var decodeTime: UInt64

    package init(identity: String, configuration: String, decodeTime: UInt64) {
        self.identity = identity
        self.configuration = configuration
        self.decodeTime = decodeTime
    }
}
