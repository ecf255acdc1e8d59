package import Playlist

/// One finished segment as its publisher hands it in. The ring gives it its numbers and its name.
package struct NewSegment: Sendable {
    /// The init section it is to be read with. The bytes come with every segment: only the ring knows whether it
    /// still holds that file.
    package var initialization: InitializationFile
    /// Everything up to the payload: styp, moof and the header of mdat.
    package var header: [UInt8]
    /// The payload, in the order in which it is written; written where it lies, never copied.
    package var payload: [ArraySlice<UInt8>]
    /// 90 kHz ticks of what was written, more than 0 and at most `DVRRing.maximumSegmentDuration`.
    package var duration: Int64
    /// EXT-X-DISCONTINUITY belongs before it (RFC 8216 §4.3.2.3).
    package var isDiscontinuous: Bool
    /// It can be decoded without any other segment. A playlist promises so (EXT-X-INDEPENDENT-SEGMENTS, §4.3.5.1) as
    /// long as it holds of all that it lists.
    package var isIndependent: Bool
    /// Of its first sample.
    package var programDateTime: ProgramDateTime
    package var resumePoint: ResumePoint
    package var format: SegmentFormat
    /// What stands before it in every playlist.
    package var adMarkers: SegmentAdMarkers

    package init(
        initialization: InitializationFile, header: [UInt8], payload: [ArraySlice<UInt8>], duration: Int64,
        isDiscontinuous: Bool, isIndependent: Bool = true, programDateTime: ProgramDateTime, mark: ResumePoint,
        format: SegmentFormat, marks: SegmentAdMarkers = SegmentAdMarkers()
    ) {
        self.initialization = initialization
        self.header = header
        self.payload = payload
        self.duration = duration
        self.isDiscontinuous = isDiscontinuous
        self.isIndependent = isIndependent
        self.programDateTime = programDateTime
        self.resumePoint = mark
        self.format = format
        self.adMarkers = marks
    }

    /// Of the file it becomes.
    package var byteCount: Int { payload.reduce(header.count) { $0 + $1.count } }
}

/// What a segment's lines tell beside the media: of advertising breaks, and of ranges of time.
package struct SegmentAdMarkers: Equatable, Sendable {
    /// Passed on verbatim, in order.
    package var cueTags: [CueTag]
    /// EXT-X-DATERANGE tags that came with it, each whole: one that tells more of a range repeats what was told.
    package var dateRanges: [DateRange]

    package init(cues: [CueTag] = [], dateRanges: [DateRange] = []) {
        self.cueTags = cues
        self.dateRanges = dateRanges
    }
}

/// An init section (EXT-X-MAP, RFC 8216 §4.3.2.5) and the file name its content gave it.
package struct InitializationFile: Equatable, Sendable {
    /// `init-<letters, digits>.mp4`; the same name always means the same bytes.
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
