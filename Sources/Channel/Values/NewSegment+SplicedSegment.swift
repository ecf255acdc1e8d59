import LiveRing
import Playlist
import Splice

// Conversions from the splice's values to the ring's, and back after a restart.

extension NewSegment {
    /// - Parameter source: where `segment` ends in its source; nil if the segment stands in for missing media.
    init(_ segment: SplicedSegment, from source: UpstreamPosition?, markers: SegmentAdMarkers) {
        let description = segment.description
        self.init(
            initialization: InitializationFile(name: segment.initSection.name, bytes: segment.initSection.bytes),
            header: segment.fragment.header, payload: segment.fragment.payloads, duration: segment.duration.count,
            isDiscontinuous: segment.isDiscontinuous, isIndependent: segment.isIndependent,
            programDateTime: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            mark: ResumePoint(segment.position, source: source),
            format: SegmentFormat(
                videoCodec: description.video?.codec, audioCodec: description.audioCodec,
                resolution: description.video.map { Variant.Resolution(width: $0.width, height: $0.height) },
                frameRate: description.video?.frameRate, videoRange: description.video?.videoRange.rawValue),
            marks: markers)
    }
}

extension ResumePoint {
    init(_ position: TimelinePosition, source: UpstreamPosition? = nil) {
        self.init(
            videoDecodeTime: UInt64(position.videoDecodeTime ?? 0),
            audioDecodeTime: UInt64(position.audioDecodeTime ?? 0),
            fragmentSequenceNumber: UInt64(position.fragmentSequence),
            presentationEnd: position.presentationEnd.count,
            compositionOffset: TimelinePosition.compositionDelay.count, sound: position.audio?.text,
            source: source)
    }
}

extension TimelinePosition {
    init(_ resumePoint: ResumePoint) {
        self.init(
            videoDecodeTime: Int64(resumePoint.videoDecodeTime),
            audioDecodeTime: resumePoint.audioDecodeTime == 0 ? nil : Int64(resumePoint.audioDecodeTime),
            presentationEnd: Ticks(resumePoint.presentationEnd),
            fragmentSequence: UInt32(truncatingIfNeeded: resumePoint.fragmentSequenceNumber),
            sound: resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) })
    }
}
