import LiveRing
import Media
import Mux
import Playlist
import Splice

// Segments and clocks of one module in the words of another.

extension NewSegment {
    /// - Parameter source: nil of what stands in for all of them.
    init(_ segment: SplicedSegment, from source: UpstreamPosition?, marks: SegmentAdMarkers) {
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
            marks: marks)
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
    init(_ mark: ResumePoint) {
        self.init(
            videoDecodeTime: Int64(mark.videoDecodeTime),
            audioDecodeTime: mark.audioDecodeTime == 0 ? nil : Int64(mark.audioDecodeTime),
            presentationEnd: Ticks(mark.presentationEnd),
            fragmentSequence: UInt32(truncatingIfNeeded: mark.fragmentSequenceNumber),
            audio: mark.audioConfiguration.flatMap { AudioConfiguration(text: $0) })
    }
}
