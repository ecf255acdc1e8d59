import Demux
import Media
package import Splice
import Support

extension RelayStatus {
    /// The counts of the splice, with the state of the sources that are spliced.
    package struct Splice: Encodable, Equatable, Sendable {
        package internal(set) var counts = SpliceCounts()
        package internal(set) var currentPeriod: Period?
        /// The selected program of the main rendition; nil unless it is a transport stream.
        package internal(set) var program: ProgramStatus?
        /// The selected program of the companion audio rendition.
        package internal(set) var companionProgram: ProgramStatus?
        /// Sample entries of the video tracks of fragmented MP4, if none can be republished; else nil.
        package internal(set) var unsupportedVideo: [String]?
        /// Sample entries of audio tracks of fragmented MP4 that cannot be republished; nil if there are none.
        package internal(set) var unsupportedAudio: [String]?
        /// The audio tracks beside the leading one; nil if there are none.
        package internal(set) var audioTracks: [AudioTrack]?
        /// The video tracks beside the leading one; nil if there are none.
        package internal(set) var variants: [VariantTrack]?
        /// Variants of the upstream beyond the limit; nil unless several are republished.
        package internal(set) var variantsDropped: Int?
        package internal(set) var segmentsSkipped = 0
        package internal(set) var segmentsNotWritten = 0

        package var timestampGapSeconds: Double { Ticks(Int64(counts[.timestampGapTicks])).duration.seconds }

        private enum CodingKeys: String, CodingKey {
            case currentPeriod, program, companionProgram, unsupportedVideo, unsupportedAudio, audioTracks, variants,
                variantsDropped, segmentsSkipped, segmentsNotWritten, timestampGapSeconds
        }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(currentPeriod, forKey: .currentPeriod)
            try container.encodeIfPresent(program, forKey: .program)
            try container.encodeIfPresent(companionProgram, forKey: .companionProgram)
            try container.encodeIfPresent(unsupportedVideo, forKey: .unsupportedVideo)
            try container.encodeIfPresent(unsupportedAudio, forKey: .unsupportedAudio)
            try container.encodeIfPresent(audioTracks, forKey: .audioTracks)
            try container.encodeIfPresent(variants, forKey: .variants)
            try container.encodeIfPresent(variantsDropped, forKey: .variantsDropped)
            try container.encode(segmentsSkipped, forKey: .segmentsSkipped)
            try container.encode(segmentsNotWritten, forKey: .segmentsNotWritten)
            try container.encode(timestampGapSeconds, forKey: .timestampGapSeconds)
        }

        mutating func setProgram(_ selection: ProgramSelection, of rendition: InputRendition) {
            let status = ProgramStatus(selection)
            if rendition == .main { program = status } else { companionProgram = status }
        }
    }

    /// An audio track beside the leading one.
    package struct AudioTrack: Encodable, Equatable, Sendable {
        /// BCP 47.
        package let language: String
        package let kind: String
        /// Segments with the track's own audio, and those with the leading audio because the track had none.
        package let segments: Int
        package let segmentsWithLeadingAudio: Int
        package let silentFrames: Int
        package let droppedFrames: Int

        init(_ track: AudioTrackIdentity, _ counts: Counts<FurtherAudioCount>) {
            language = track.language.text
            kind = "\(track.kind)"
            segments = counts[.segments]
            segmentsWithLeadingAudio = counts[.leadingSegments]
            silentFrames = counts[.silentFrames]
            droppedFrames = counts[.droppedFrames]
        }
    }

    /// A video track beside the leading one.
    package struct VariantTrack: Encodable, Equatable, Sendable {
        /// RESOLUTION and BANDWIDTH of the variant for which the track was made; the height is 0 if there was none.
        package let height: Int
        package let bandwidth: Int
        /// Segments that the track has, those with the media of another variant, and gaps of it alone.
        package let segments: Int
        package let segmentsOfOthers: Int
        package let gaps: Int
        /// Segments that came late and could not be added: gaps, although `segments` counts them.
        package let segmentsNotWritten: Int
        package let droppedFrames: Int

        init(_ track: VideoTrackIdentity, _ counts: Counts<FurtherVideoCount>, unwrittenSegments: Int) {
            height = track.height
            bandwidth = track.bandwidth
            segments = counts[.segments]
            segmentsOfOthers = counts[.otherSegments]
            gaps = counts[.gaps]
            segmentsNotWritten = unwrittenSegments
            droppedFrames = counts[.droppedFrames]
        }
    }

    package struct Period: Encodable, Equatable, Sendable {
        /// nil in an audio-only period, as are `width`, `height` and `frameRate`.
        package let video: String?
        package let audio: String?
        package let width: Int?
        package let height: Int?
        package let frameRate: String?

        init(_ period: PeriodDescription) {
            video = period.video?.codec
            audio = period.audioCodec
            width = period.video?.width
            height = period.video?.height
            frameRate = period.video?.frameRate
        }
    }

    /// The programs of a transport stream, and the streams of the selected one.
    package struct ProgramStatus: Encodable, Equatable, Sendable {
        package struct Stream: Encodable, Equatable, Sendable {
            package let pid: UInt16
            /// Hexadecimal: "0x1b".
            package let streamType: String
            package let name: String?
            package let language: String?
            package let isFollowed: Bool
        }

        package let number: UInt16
        package let otherPrograms: [UInt16]
        package let streams: [Stream]
        /// Names of the program's video streams that cannot be republished; nil if there are none.
        package let unsupportedVideo: [String]?
        /// Names of the program's audio streams that cannot be republished; nil if there are none.
        package let unsupportedAudio: [String]?

        init(_ selection: ProgramSelection) {
            number = selection.programNumber
            otherPrograms = selection.otherPrograms
            unsupportedVideo = selection.unsupportedVideo.isEmpty ? nil : selection.unsupportedVideo
            unsupportedAudio = selection.unsupportedAudio.isEmpty ? nil : selection.unsupportedAudio
            streams = selection.listed.map { stream in
                Stream(
                    pid: stream.pid, streamType: "0x" + String(stream.streamType, radix: 16), name: stream.name,
                    language: stream.language, isFollowed: stream.isFollowed)
            }
        }
    }
}
