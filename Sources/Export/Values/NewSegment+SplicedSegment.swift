package import LiveRing
import Media
import Mux
import Playlist
package import Splice
import Support

// Conversions from the splice's values to the ring's, and back after a restart.

extension NewSegment {
    /// - Parameter source: where `segment` ends in its source; nil if the segment stands in for missing media.
    package init(
        _ segment: SplicedSegment, from source: UpstreamPosition?, markers: SegmentAdMarkers,
        transportStream: TransportStreamPoint?, sidecars: [SidecarFile] = []
    ) {
        self.init(
            initialization: InitializationFile(name: segment.initSection.name, bytes: segment.initSection.bytes),
            header: segment.fragment.header, payload: segment.fragment.payloads, duration: segment.duration.count,
            isDiscontinuous: segment.isDiscontinuous, isIndependent: segment.isIndependent,
            programDateTime: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            resumePoint: ResumePoint(segment.position, source: source),
            format: SegmentFormat(segment.description),
            captions: segment.captions.instreamIDs, adMarkers: markers, transportStream: transportStream,
            sidecars: sidecars)
        audioTracks = segment.position.audioTracks.map { position in
            segment.furtherAudio.first { $0.identity == position.identity }.map { NewTrack($0) }
        }
        videoTracks = segment.furtherVideo.map { $0.map { NewTrack($0) } }
        if !videoTracks.isEmpty { leadingAudioBytes = segment.leadingAudioBytes }
    }
}

extension SegmentFormat {
    init(_ description: PeriodDescription) {
        self.init(description.video, audioCodec: description.audioCodec)
    }

    fileprivate init(_ video: PeriodDescription.VideoFormat?, audioCodec: String? = nil) {
        self.init(
            videoCodec: video?.codec, audioCodec: audioCodec,
            resolution: video.map { Variant.Resolution(width: $0.width, height: $0.height) },
            frameRate: video?.frameRate, videoRange: video?.videoRange.rawValue)
        supplementalCodec = video?.supplementalCodec
    }
}

extension NewTrack {
    fileprivate init(_ track: SplicedAudioTrack) {
        self.init(
            initialization: InitializationFile(name: track.initSection.name, bytes: track.initSection.bytes),
            header: track.fragment.header, payload: track.fragment.payloads)
    }

    package init(_ track: SplicedVideoTrack) {
        self.init(
            initialization: InitializationFile(name: track.initSection.name, bytes: track.initSection.bytes),
            format: SegmentFormat(track.format), header: track.fragment.header, payload: track.fragment.payloads)
    }
}

extension ResumePoint {
    package init(_ position: TimelinePosition, source: UpstreamPosition? = nil) {
        self.init(
            videoDecodeTime: UInt64(position.videoDecodeTime ?? 0),
            audioDecodeTime: UInt64(position.audioDecodeTime ?? 0),
            fragmentSequenceNumber: UInt64(position.fragmentSequence),
            presentationEnd: position.presentationEnd.count,
            compositionOffset: TimelinePosition.compositionDelay.count, audioConfiguration: position.audio?.text,
            audioTracks: position.audioTracks.map {
                AudioTrackPoint(
                    identity: $0.identity.text, configuration: $0.configuration.text,
                    decodeTime: UInt64(max(0, $0.decodeTime)))
            },
            upstream: source)
        videoTracks = position.videoTracks.map(\.text)
    }
}

extension TimelinePosition {
    package init(_ resumePoint: ResumePoint) {
        var position = TimelinePosition(
            videoDecodeTime: Int64(resumePoint.videoDecodeTime),
            audioDecodeTime: resumePoint.audioDecodeTime == 0 ? nil : Int64(resumePoint.audioDecodeTime),
            presentationEnd: Ticks(resumePoint.presentationEnd),
            fragmentSequence: UInt32(truncatingIfNeeded: resumePoint.fragmentSequenceNumber),
            audio: resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) })
        position.audioTracks = resumePoint.audioTracks.compactMap { track in
            guard let identity = AudioTrackIdentity(text: track.identity),
                let configuration = AudioConfiguration(text: track.configuration)
            else { return nil }
            return AudioTrackPosition(
                identity: identity, configuration: configuration, decodeTime: Int64(track.decodeTime))
        }
        position.videoTracks = resumePoint.videoTracks.compactMap { VideoTrackIdentity(text: $0) }
        self = position.reconciled
    }
}
