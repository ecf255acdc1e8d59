/// One video access unit in decoding order, as fMP4 wants it.
package struct VideoPacket: Equatable, Sendable {
    package enum Sync: Equatable, Sendable {
        /// An IDR picture (HEVC: IDR or BLA): decoding may begin here.
        case instantaneousRefresh
        /// An HEVC CRA picture: a run may begin here, without the pictures that lead it. Elsewhere those refer to what came
        /// before, and it is not marked sync.
        case cleanRandomAccess
        /// A recovery point SEI: decodable after some pictures; never marked sync.
        case recoveryPoint
        case none

        /// A run may begin here.
        var isRandomAccess: Bool { self == .instantaneousRefresh || self == .cleanRandomAccess }
    }

    /// PID of the elementary stream it came from (0 when the container has none).
    package let pid: UInt16
    package let configuration: VideoConfiguration
    /// As on the wire, 0 ..< 2³³; nil when no PES header gave one.
    package let pts: Ticks?
    package let dts: Ticks?
    package let sync: Sync
    /// Bytes of this access unit were lost or doubted on the way.
    package let isDamaged: Bool
    /// NAL units, each behind its length in four bytes: access unit delimiters and filler left out, and in front of
    /// random access exactly the parameter sets of `configuration`, in its order.
    package let payload: ArraySlice<UInt8>

    package init(
        pid: UInt16, configuration: VideoConfiguration, pts: Ticks?, dts: Ticks?, sync: Sync, isDamaged: Bool,
        payload: ArraySlice<UInt8>
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.dts = dts
        self.sync = sync
        self.isDamaged = isDamaged
        self.payload = payload
    }
}

/// One coded audio frame.
package struct AudioPacket: Equatable, Sendable {
    package let pid: UInt16
    package let configuration: AudioConfiguration
    /// As on the wire, 0 ..< 2³³: of the PES for the first frame that begins in it, counted in samples after that;
    /// nil while no PES has given one.
    package let pts: Ticks?
    package let isDamaged: Bool
    package let payload: ArraySlice<UInt8>

    package init(
        pid: UInt16, configuration: AudioConfiguration, pts: Ticks?, isDamaged: Bool, payload: ArraySlice<UInt8>
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.isDamaged = isDamaged
        self.payload = payload
    }

    /// What it lasts, rounded down to ticks.
    var duration: Ticks {
        switch configuration.codec {
        case .smpte302, .blurayPCM:
            AudioTimestampInterpolator.ticks(
                Int64(PCMPacket.sampleCount(of: payload, configuration.codec)), at: Int64(configuration.sampleRate))
        default: configuration.frameDuration
        }
    }
}

/// What one fed segment gave: the packets of each track in the order in which they began.
package struct DemuxedSegment: Equatable, Sendable {
    package var video: [VideoPacket] = []
    package var audio: [AudioPacket] = []
    /// The newest programme tables or the init section name a video track, whether or not it gave a picture here.
    package var declaresVideo = false
    /// The same of a track of sound.
    package var declaresAudio = false
    /// In the order in which it stood.
    package var metadata: [TimedMetadata] = []
    package var counts = DemuxCounts()
    /// What is followed at its end; nil when the container has no programmes.
    package var program: ProgramSelection?

    package init() {}

    /// No sound, and its programme lists none; without a programme nobody knows.
    var declaresNoAudio: Bool { audio.isEmpty && !declaresAudio && program != nil }

    /// Sound, and nobody says that a picture goes with it.
    var isAudioOnly: Bool { !declaresVideo && video.isEmpty && !audio.isEmpty }
}

/// What a demuxer met and could not use. Each is shown in /status.json, summed over the channel.
package struct DemuxCounts: Encodable, Equatable, Sendable {
    /// Bytes passed over to find packet sync again.
    package var bytesOutOfSync = 0
    /// Transport packets with transport_error_indicator, a bad adaptation field or a continuity gap before them.
    package var transportErrors = 0
    /// Transport packets sent twice, dropped once.
    package var duplicatePackets = 0
    package var scrambledPackets = 0
    /// PSI sections whose CRC_32 did not fit.
    package var badSections = 0
    /// Access units and audio frames that came before their parameter sets, or were cut off at both ends.
    package var undecodable = 0
    /// Access units and audio frames left open when the clock was announced to change.
    package var abandoned = 0
    /// Packets that are not followed: subtitles, data, other languages and programmes, and PIDs that no table lists; and
    /// fragments of such tracks.
    package var otherPackets = 0
    /// Samples of which the segment does not hold all bytes.
    package var incompleteSamples = 0
    /// Boxes that end behind their segment or whose fields do not fit.
    package var badBoxes = 0
    /// `emsg` boxes that are too large, or beyond what is read of one segment.
    package var excessMessages = 0

    package init() {}

    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case bytesOutOfSync, transportErrors, duplicatePackets, scrambledPackets, badSections
        case undecodable = "undecodableUnits"
        case abandoned = "abandonedUnits"
        case otherPackets, incompleteSamples, badBoxes
        case excessMessages = "excessEventMessages"
    }

    package static func += (left: inout DemuxCounts, right: DemuxCounts) {
        left.bytesOutOfSync += right.bytesOutOfSync
        left.transportErrors += right.transportErrors
        left.duplicatePackets += right.duplicatePackets
        left.scrambledPackets += right.scrambledPackets
        left.badSections += right.badSections
        left.undecodable += right.undecodable
        left.abandoned += right.abandoned
        left.otherPackets += right.otherPackets
        left.incompleteSamples += right.incompleteSamples
        left.badBoxes += right.badBoxes
        left.excessMessages += right.excessMessages
    }
}
