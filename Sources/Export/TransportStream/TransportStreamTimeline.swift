package import LiveRing
import Media
package import Mux
import Playlist
package import Splice

/// The transport stream's parameters from segment to segment, over all sources and processes of a channel.
package struct TransportStreamTimeline: Sendable {
    /// Segments in another codec than the channel's.
    package struct Counts: Equatable, Sendable {
        package fileprivate(set) var foreignVideoSegments = 0
        package fileprivate(set) var foreignAudioSegments = 0
    }

    /// The state at the latest segment; nil before the first.
    package private(set) var state: TransportStreamState?
    package private(set) var counts = Counts()
    /// Where the transport stream of the latest segment ends; nil if it is not known.
    private var end: Ticks?
    /// The muxer of `state`; nil before it is needed.
    private var muxer: TransportStreamMuxer?
    /// The audio of the segment that was measured last, and its text in the resume point.
    private var audio: (text: String, configuration: AudioConfiguration?)?

    /// Continues after the newest entry of a ring.
    package init(resuming snapshot: RingSnapshot) {
        state = snapshot.newest?.transportStream.flatMap { TransportStreamState($0) }
        let newest = snapshot.index.listed.last { !$0.isGap }
        end = newest.flatMap { TransportStreamSource(snapshot).times(of: $0)?.upperBound }
    }

    /// Whether the channel's audio is AAC; nil before the first segment.
    package var isAAC: Bool? { state.map { $0.program.audio == .aac } }

    /// Records a segment.
    /// - Parameter snapshot: the ring before the segment is published.
    /// - Returns: what has to be stored with it.
    package mutating func append(
        _ segment: SplicedSegment, after snapshot: RingSnapshot
    ) -> (point: TransportStreamPoint, sidecars: [SidecarFile]) {
        let audio = segment.description.audioCodec == nil ? nil : segment.position.audio
        let video = segment.description.video.flatMap { VideoConfiguration.Codec(codecString: $0.codec) }
        let name = segment.initSection.name
        var next =
            state?.followed(by: audio, initialization: name)
            ?? TransportStreamState(video: video, audio: audio, initialization: name)
        next.insert(segment.privateDataStreams)
        next.insert(
            segment.position.audioTracks.map { ($0.identity, $0.configuration) }, leading: segment.audioTrack)
        let previous = state?.discontinuities ?? next.discontinuities
        if next != state { muxer = nil }
        state = next
        if video != next.program.video { counts.foreignVideoSegments += 1 }
        if let audio, !next.carries(audio) { counts.foreignAudioSegments += 1 }
        let still = next.program.video == nil || video == next.program.video ? nil : still(in: snapshot)
        let data = Self.privateData(of: segment)
        let point = TransportStreamPoint(
            parameters: next.text, discontinuitySequence: next.discontinuities,
            isDiscontinuous: next.discontinuities > previous, still: still?.file, privateData: data?.file)
        return (point, [still, data].compactMap(\.self))
    }

    /// The DVB subtitles and the teletext of a segment, which are stored beside it; nil if it has none.
    private static func privateData(of segment: SplicedSegment) -> SidecarFile? {
        guard !segment.privateData.isEmpty else { return nil }
        let bytes = PrivateDataFile.write(segment.privateData)
        return SidecarFile(.privateData, hash: ContentHash.hexName(of: bytes), bytes: bytes)
    }

    /// Measures the transport stream of a segment that `append` recorded. A segment that cannot be read has no extent.
    package mutating func measure(_ segment: inout NewSegment) {
        guard let state else { return }
        let muxer = muxer ?? TransportStreamMuxer(state)
        self.muxer = muxer
        let audio = audioConfiguration(of: segment)
        let content = try? segment.transportContent(state, audio: audio) { (sidecar) throws(TransportStreamError) in
            segment.sidecars.first { $0.file == sidecar }?.bytes ?? []
        } audioTracks: { index in
            segment.audioTracks[index].map { $0.header + $0.payload.joined() }
        } samples: { (audio, duration) throws(MediaError) in
            try TransportMedia(header: segment.header, payloads: segment.payload, audio: audio, lasting: duration)
        }
        guard let content, let (size, times) = muxer.extent(of: content.media) else { return }
        var extent = TransportStreamExtent(byteCount: size)
        if let end, let pause = ClientClock.pause(for: times.lowerBound - end) {
            extent.pause = pause.count
            extent.leadByteCount = TransportTimeShift.clockByteCount(lasting: pause)
            extent.shift = (times.lowerBound - end - pause).count
        }
        if let early = muxer.earlyAudioExtent(of: content.media), early.removedByteCount >= 0 {
            (extent.earlyAudioByteCount, extent.removedByteCount) = (early.byteCount, early.removedByteCount)
        }
        segment.transportStream?.extent = extent
        end = times.upperBound
    }

    /// The configuration of a segment's audio, which most have in common with the one before; nil if it has none.
    private mutating func audioConfiguration(of segment: NewSegment) -> AudioConfiguration? {
        guard segment.format.audioCodec != nil, let text = segment.resumePoint.audioConfiguration else { return nil }
        if let audio, audio.text == text { return audio.configuration }
        let configuration = AudioConfiguration(text: text)
        audio = (text, configuration)
        return configuration
    }

    /// The latest random access point in the channel's codec, which is stored beside the segment: what is evicted later
    /// changes no byte of its transport stream. nil if there is none, or it cannot be read.
    private func still(in snapshot: RingSnapshot) -> SidecarFile? {
        var number = snapshot.index.nextMediaSequence
        while number > 0, let entry = snapshot.index.entry(numbered: number - 1) {
            number -= 1
            if entry.isGap { continue }
            let isOwn = entry.videoCodec == state?.program.video
            guard let file = isOwn ? entry.segment : entry.transportStream?.still,
                let content = try? snapshot.bytes(of: file),
                let media = try? TransportMedia(fragment: content[...], audio: nil, lasting: .zero),
                let sample = media.video.last(where: \.isRandomAccessPoint)
            else { continue }
            let track = MuxTrack(
                trackID: TrackID.video, decodeTime: 0,
                samples: [MuxSample(duration: 1, compositionOffset: 0, isSync: true, payload: sample.payload)])
            let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil, startsSegment: false)
            let bytes = fragment.header + sample.payload
            return SidecarFile(.still, hash: ContentHash.hexName(of: bytes), bytes: bytes)
        }
        return nil
    }
}

extension TransportStreamState {
    package init?(_ point: TransportStreamPoint) {
        self.init(text: point.parameters, discontinuities: point.discontinuitySequence)
    }
}

extension SegmentFormat {
    /// The format of a segment's transport stream: without the codecs that it does not have.
    /// - Parameters:
    ///   - format: the format of the segment.
    ///   - parameters: the parameters of its `TransportStreamPoint`.
    package init(transportStreamOf format: SegmentFormat, parameters: String) {
        self = format
        guard let program = TransportStreamState(text: parameters, discontinuities: 0)?.program else { return }
        if program.video != videoCodec.flatMap({ VideoConfiguration.Codec(codecString: $0) }) { videoCodec = nil }
        // Silence of a channel that began without audio is AAC LC.
        let isCarried = audioCodec.map { program.audio.names.contains(String($0.prefix(7))) }
        if isCarried != true { audioCodec = program.audio == .aac ? "mp4a.40.2" : nil }
    }
}

extension TransportAudioCodec {
    /// The beginnings of the CODECS entries of this codec, seven characters at most (RFC 6381 §3.3).
    fileprivate var names: [String] {
        switch self {
        case .aac: ["mp4a.40"]
        case .mpeg: ["mp4a.6B", "mp4a.69"]
        case .ac3: ["ac-3"]
        case .eac3: ["ec-3"]
        }
    }
}
