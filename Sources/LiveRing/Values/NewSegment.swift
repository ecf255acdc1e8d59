import Playlist
package import Support

/// A finished segment that is handed to the ring. The ring assigns its numbers and its file name.
package struct NewSegment: Sendable {
    /// The init section of the segment. Every segment brings its bytes, because only the ring knows whether the spool
    /// still has the file.
    package var initialization: InitializationFile
    /// The bytes before the payload: styp, moof and the header of mdat.
    package var header: [UInt8]
    /// The payload in file order. The slices are written without being copied.
    package var payload: [ArraySlice<UInt8>]
    /// The duration in 90 kHz ticks, 1 ... `DVRRing.maximumSegmentDuration`.
    package var duration: Int64
    /// Whether EXT-X-DISCONTINUITY precedes the segment (RFC 8216 §4.3.2.3).
    package var isDiscontinuous: Bool
    /// Whether the segment can be decoded without any other segment. A playlist has EXT-X-INDEPENDENT-SEGMENTS (§4.3.5.1)
    /// while this is true for every segment it lists.
    package var isIndependent: Bool
    /// The time of the first sample.
    package var programDateTime: ProgramDateTime
    package var resumePoint: ResumePoint
    package var format: SegmentFormat
    /// The INSTREAM-ID of each closed caption channel in the video (§4.3.4.1).
    package var captions: [String]
    /// The ad markers that precede the segment in every playlist.
    package var adMarkers: SegmentAdMarkers
    /// nil if the segment is not offered as a transport stream.
    package var transportStream: TransportStreamPoint?
    /// The files of `transportStream`. Every segment brings their bytes, like the bytes of its init section.
    package var sidecars: [SidecarFile]
    /// The audio of the tracks of `resumePoint`, in their order; nil for a track without audio.
    package var audioTracks: [NewTrack?] = []
    /// The video tracks of `resumePoint`, in their order; tracks beyond the end have the media of the leading one.
    package var videoTracks: [VariantMedia<NewTrack>] = []
    /// The size of the leading audio in the payload, which belongs to every video track; 0 without further video
    /// tracks.
    package var leadingAudioBytes = 0

    package init(
        initialization: InitializationFile, header: [UInt8], payload: [ArraySlice<UInt8>], duration: Int64,
        isDiscontinuous: Bool, isIndependent: Bool = true, programDateTime: ProgramDateTime, resumePoint: ResumePoint,
        format: SegmentFormat, captions: [String] = [], adMarkers: SegmentAdMarkers = SegmentAdMarkers(),
        transportStream: TransportStreamPoint? = nil, sidecars: [SidecarFile] = []
    ) {
        self.initialization = initialization
        self.header = header
        self.payload = payload
        self.duration = duration
        self.isDiscontinuous = isDiscontinuous
        self.isIndependent = isIndependent
        self.programDateTime = programDateTime
        self.resumePoint = resumePoint
        self.format = format
        self.captions = captions
        self.adMarkers = adMarkers
        self.transportStream = transportStream
        self.sidecars = sidecars
    }

    /// The media of the tracks beside the leading one, audio first; nil for a track without media of its own.
    var tracks: [NewTrack?] { audioTracks + videoTracks.map(\.own) }

    /// The size of the segment file in bytes.
    package var byteCount: Int { payload.reduce(header.count) { $0 + $1.count } }

    /// The size of all files written for the segment, unless another segment already has them.
    var storedByteCount: UInt64 {
        let media = tracks.reduce(byteCount) { $0 + ($1?.byteCount ?? 0) }
        return UInt64(sidecars.reduce(media + initialization.bytes.count) { $0 + $1.bytes.count })
    }
}

/// An init section (EXT-X-MAP, RFC 8216 §4.3.2.5) and its file name, which is derived from its content.
package struct InitializationFile: Equatable, Sendable {
    /// `init-<letters, digits>.mp4`. One name always means the same bytes.
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// The subtitles of one segment that are handed to the ring.
package struct NewSubtitles: Sendable {
    /// The index in the renditions with which the ring was opened.
    package var rendition: Int
    /// The media sequence number of the published segment to which they belong.
    package var mediaSequence: UInt64
    /// A complete WebVTT file.
    package var bytes: [UInt8]

    package init(rendition: Int, mediaSequence: UInt64, bytes: [UInt8]) {
        self.rendition = rendition
        self.mediaSequence = mediaSequence
        self.bytes = bytes
    }
}

/// A segment, an init section or a subtitle file in the spool. The bytes of a name never change.
package struct SpoolFile: Hashable, Sendable {
    package let name: String
    package let byteCount: Int
}
