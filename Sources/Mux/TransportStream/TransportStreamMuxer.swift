package import Media
import Support

/// Writes segments as a transport stream (ISO/IEC 13818-1). The bytes depend only on the segment's media and on the
/// parameters: no state passes from a segment to the next.
///
/// A segment is a sequence of chunks. In each, the number of packets of every PID is a multiple of 16, so continuity
/// counters run on over any sequence of chunks. Clients, playlists and files can share the bytes.
package struct TransportStreamMuxer: Sendable {
    /// Time from the arrival of a video frame to its decoding, which PCR states.
    package static let lead = Ticks.milliseconds(700)
    /// The shortest chunk, except at the end of a segment. Shorter GOPs share a chunk, to limit the packets that fill
    /// chunks.
    package static let shortestChunk = Ticks.seconds(1)
    /// The longest time by which audio is sent before the video of the same decode time. With `lead`, the sum stays
    /// below the second that ETSI TR 101 290 §5.2.3 allows.
    private static let longestAudioLead = Ticks.milliseconds(220)
    /// Audio frames per PES packet, which carries one timestamp, until the audio changes its sample rate or channels.
    /// libav times the later frames of a packet by the rate that was in force when the client joined.
    private static let framesPerPacket = 4

    private let program: TransportProgram
    private let audioChanges: Int
    private let privateData: [PrivateDataStream]
    private let audioTracks: [TransportAudioTrack]
    /// The payloads of the packets of PAT and PMT.
    private let (programAssociation, programMap): ([UInt8], [UInt8])

    /// - Parameters:
    ///   - audioChanges: how often the audio's configuration changed since the channel began.
    ///   - privateData: the streams of DVB subtitles and teletext, in the order of their PIDs.
    package init(_ program: TransportProgram, audioChanges: Int, privateData: [PrivateDataStream] = []) {
        self.program = program
        self.audioChanges = audioChanges
        self.privateData = privateData
        audioTracks = []
        let tables = ProgramTableWriter(program, privateData: privateData)
        (programAssociation, programMap) = (tables.programAssociation, tables.programMap(audioChanges: audioChanges))
    }

    package init(_ state: TransportStreamState) {
        program = state.program
        audioChanges = state.audioChanges
        privateData = state.privateDataStreams
        audioTracks = state.audioTracks
        let tables = ProgramTableWriter(
            program, privateData: privateData, audioTracks: audioTracks, language: state.language)
        (programAssociation, programMap) = (tables.programAssociation, tables.programMap(audioChanges: audioChanges))
    }

    /// - Parameter buffer: an array whose memory is used for the bytes of the segment; empty afterwards.
    package func segment(_ media: TransportMedia, in buffer: inout [UInt8]) -> TransportSegment {
        var writer = writer(in: &buffer)
        let audio = media.furtherAudio.reduce(media.audio) { $0 + $1.frames }
        let size = media.video.reduce(0) { $0 + $1.payload.count } + audio.reduce(0) { $0 + $1.payload.count }
        let data = media.privateData.reduce(0) { $0 + $1.payload.count }
        writer.reserveCapacity(size + size / 16 + data + data / 4 + 32_768)
        let plan = plan(of: media)
        let chunks = plan.chunks.map { chunk in
            var units: [TransportUnit] = []
            units.reserveCapacity(chunk.span.frames.count + chunk.audio.count)
            forEachUnit(of: chunk, in: plan, media) { units.append($0) }
            return writer.append(units, from: chunk.span.start, to: chunk.span.end, isEntryPoint: chunk.isEntryPoint)
        }
        var segment = TransportSegment(bytes: writer.removeBytes(), chunks: chunks)
        segment.loweredDecodeTimes = plan.loweredDecodeTimes
        segment.oversizeUnits = media.oversizeUnits
        if let start = chunks.first?.start {
            segment.lateAudioFrames = audio.count { $0.time <= start - Self.lead }
        }
        return segment
    }

    /// The size of the segment and the decode times from its first chunk to the end of its last, without making the
    /// segment; nil if it contains no media.
    package func extent(of media: TransportMedia) -> (byteCount: Int, times: Range<Ticks>)? {
        let plan = plan(of: media)
        guard let first = plan.chunks.first?.span, let last = plan.chunks.last?.span else { return nil }
        let byteCount = plan.chunks.reduce(0) { sum, chunk in
            var size = TransportChunkSize(of: program, from: chunk.span.start)
            forEachUnit(of: chunk, in: plan, media) { size.append($0) }
            return sum + size.byteCount(to: chunk.span.end, map: programMap)
        }
        return (byteCount, first.start..<last.end)
    }

    /// The size of the early audio as a chunk of its own, and by how much the segment is smaller without the audio that
    /// `withoutEarlyAudio` removes; nil if there is no early audio.
    package func earlyAudioExtent(of media: TransportMedia) -> (byteCount: Int, removedByteCount: Int)? {
        guard let early = media.earlyAudio, let alone = extent(of: early) else { return nil }
        let rest = media.withoutEarlyAudio
        if let removed = removedByteCount(from: media, leaving: rest) { return (alone.byteCount, removed) }
        guard let whole = extent(of: media), let kept = extent(of: rest) else { return nil }
        return (alone.byteCount, whole.byteCount - kept.byteCount)
    }

    /// The bytes by which the segment is smaller without early audio; nil if that changes more than the packets of audio
    /// in its first chunk.
    private func removedByteCount(from media: TransportMedia, leaving rest: TransportMedia) -> Int? {
        let (video, _) = Self.decodable(media.video)
        guard program.video != nil, !video.isEmpty else { return nil }
        let spans = Self.spans(of: video, media)
        let (span, starts) = (spans[0], spans.map(\.presentation.lowerBound))
        guard starts.count == 1 || media.firstPresentation <= starts[1] else { return nil }
        let advance = advance(of: media, video, span)
        func first(_ frames: [TransportMedia.AudioFrame]) -> [TransportMedia.AudioFrame] {
            Self.chunks(frames, where: \.fits, at: { $0.time }, from: starts)[0]
        }
        func audioByteCount(of media: TransportMedia) -> Int {
            var size = TransportChunkSize(of: program, from: span.start)
            forEachUnit(ofAudio: first(media.audio), media, span, advance: advance) { size.append($0) }
            let further = media.furtherAudio.map { first($0.frames) }
            forEachUnit(ofFurtherAudio: further, media, span, advance: advance) { size.append($0) }
            return size.unitByteCount
        }
        return audioByteCount(of: media) - audioByteCount(of: rest)
    }

    private func writer(in buffer: inout [UInt8]) -> TransportChunkWriter {
        TransportChunkWriter(program, association: programAssociation, map: programMap, in: &buffer)
    }

    /// The media of each chunk of a segment.
    private struct Plan {
        struct Chunk {
            let span: ChunkSpan
            let isFirst: Bool
            let isEntryPoint: Bool
            let advance: Ticks
            let audio: [TransportMedia.AudioFrame]
            let metadata: [(time: Ticks, tags: [UInt8])]
            let privateData: [TransportMedia.PrivateDataPacket]
            /// For each of `audioTracks`.
            let furtherAudio: [[TransportMedia.AudioFrame]]
        }

        let video: [TransportMedia.VideoSample]
        let loweredDecodeTimes: Int
        let chunks: [Chunk]
    }

    private func plan(of media: TransportMedia) -> Plan {
        let (video, lowered) = Self.decodable(media.video)
        let spans = Self.spans(of: video, media)
        let starts = spans.map(\.presentation.lowerBound)
        let audio = Self.chunks(media.audio, where: \.fits, at: { $0.time }, from: starts)
        let metadata = Self.chunks(
            media.timedMetadata, where: { TransportMedia.fits($0.tags) }, at: { $0.time }, from: starts)
        let packets = Self.chunks(media.privateData, where: \.fits, at: { $0.time }, from: starts)
        let further = media.furtherAudio.map { Self.chunks($0.frames, where: \.fits, at: { $0.time }, from: starts) }
        let chunks = spans.enumerated().map { index, span in
            Plan.Chunk(
                span: span, isFirst: index == 0,
                isEntryPoint: span.frames.first.map { video[$0].isRandomAccessPoint } ?? true
                    || index == 0 && media.beginsGradualRefresh,
                advance: advance(of: media, video, span), audio: audio[index], metadata: metadata[index],
                privateData: packets[index], furtherAudio: further.map { $0[index] })
        }
        return Plan(video: video, loweredDecodeTimes: lowered, chunks: chunks)
    }
}

extension TransportMedia {
    /// Number of audio frames, ID3 tags and packets of private data that cannot be sent.
    fileprivate var oversizeUnits: Int {
        timedMetadata.count { !Self.fits($0.tags) } + audio.count { !$0.fits } + privateData.count { !$0.fits }
            + furtherAudio.reduce(0) { $0 + $1.frames.count { !$0.fits } }
    }

    fileprivate static func fits(_ tags: [UInt8]) -> Bool { (10...PESPacketWriter.longestPayload).contains(tags.count) }
}

extension TransportMedia.PrivateDataPacket {
    fileprivate var fits: Bool {
        (1...PESPacketWriter.longestPayload - PESPacketWriter.teletextFieldSize).contains(payload.count)
    }
}

extension TransportMedia.AudioFrame {
    /// An ADTS header can state less than 8 KiB; no frame of another codec is larger.
    fileprivate var fits: Bool { (1...ADTSHeader.longestFrame).contains(payload.count) }
}

// MARK: - Chunks

extension TransportStreamMuxer {
    /// The content of one chunk.
    fileprivate struct ChunkSpan {
        /// Decode times of the video, or times of the audio if there is no video.
        let start: Ticks
        let end: Ticks
        /// Indices of the video samples.
        let frames: Range<Int>
        /// Presentation times of the audio and the metadata.
        let presentation: Range<Ticks>
    }

    /// Cuts the segment at random access points.
    private static func spans(of video: [TransportMedia.VideoSample], _ media: TransportMedia) -> [ChunkSpan] {
        guard !video.isEmpty else { return audioSpans(of: media) }
        var cuts = [0]
        for (index, sample) in video.enumerated().dropFirst() where sample.isRandomAccessPoint {
            if sample.decodeTime - video[cuts[cuts.count - 1]].decodeTime >= shortestChunk { cuts.append(index) }
        }
        return cuts.enumerated().map { number, cut in
            let next = number + 1 < cuts.count ? cuts[number + 1] : nil
            let last = video[(next ?? video.count) - 1].decodeTime
            return ChunkSpan(
                start: video[cut].decodeTime,
                end: next.map { video[$0].decodeTime } ?? max(media.decoding.upperBound, last + Ticks(1)),
                frames: cut..<(next ?? video.count),
                presentation: presentation(from: number == 0 ? nil : video[cut], to: next.map { video[$0] }))
        }
    }

    private static func presentation(
        from first: TransportMedia.VideoSample?, to next: TransportMedia.VideoSample?
    ) -> Range<Ticks> {
        let start = first.map(audioStart) ?? Ticks(.min)
        return start..<max(start, next.map(audioStart) ?? Ticks(.max))
    }

    /// The time of the first audio that is sent with a random access point: the point's presentation time, unless the
    /// point waits long for frames that are decoded after it.
    private static func audioStart(with sample: TransportMedia.VideoSample) -> Ticks {
        min(sample.presentationTime, sample.decodeTime + longestAudioLead)
    }

    /// Cuts a segment without video every second.
    private static func audioSpans(of media: TransportMedia) -> [ChunkSpan] {
        let (start, end) = (
            media.decoding.lowerBound, max(media.decoding.upperBound, media.decoding.lowerBound + Ticks(1))
        )
        let delay = media.presentationStart - start
        let count = max(1, (end - start).count / shortestChunk.count)
        return (0..<count).map { index in
            let times = (index...index + 1).map { start + Ticks((end - start).count * $0 / count) }
            return ChunkSpan(
                start: times[0], end: times[1], frames: 0..<0,
                presentation: (index == 0 ? Ticks(.min) : times[0] + delay)..<(index == count - 1
                    ? Ticks(.max) : times[1] + delay))
        }
    }

    /// Distributes the items that can be sent to the chunks, in order. `starts` contains the presentation time of each
    /// chunk.
    private static func chunks<Item>(
        _ items: [Item], where fits: (Item) -> Bool, at time: (Item) -> Ticks, from starts: [Ticks]
    ) -> [[Item]] {
        // Most segments are one chunk, and all of their items can be sent.
        if starts.count == 1, items.allSatisfy(fits) { return [items] }
        var chunks = [[Item]](repeating: [], count: starts.count)
        for item in items where fits(item) {
            let time = time(item)
            var (low, high) = (0, starts.count)
            while high - low > 1 {
                StepCounter.add(1)
                let middle = (low + high) / 2
                if starts[middle] <= time { low = middle } else { high = middle }
            }
            if low < high { chunks[low].append(item) }
        }
        return chunks
    }

    /// Lowers decode times that are after their presentation times. The results rise strictly and are never after the
    /// presentation times.
    private static func decodable(
        _ samples: [TransportMedia.VideoSample]
    ) -> (samples: [TransportMedia.VideoSample], lowered: Int) {
        var samples = samples
        var lowered = 0
        var latest = Ticks(.max)
        for index in samples.indices.reversed() {
            let sample = samples[index]
            let time = min(sample.decodeTime, sample.presentationTime, latest - Ticks(1))
            if time < sample.decodeTime {
                lowered += 1
                samples[index] = TransportMedia.VideoSample(
                    decodeTime: time, presentationTime: sample.presentationTime,
                    isRandomAccessPoint: sample.isRandomAccessPoint, payload: sample.payload)
            }
            latest = time
        }
        return (samples, lowered)
    }
}

// MARK: - Units

extension TransportStreamMuxer {
    /// Calls `body` with the PES packets and sections of a chunk, unordered.
    private func forEachUnit(
        of chunk: Plan.Chunk, in plan: Plan, _ media: TransportMedia, _ body: (TransportUnit) -> Void
    ) {
        let (span, advance) = (chunk.span, chunk.advance)
        if chunk.isFirst { Self.units(media.spliceSections, span).forEach(body) }
        for sample in plan.video[span.frames] { body(unit(sample)) }
        forEachUnit(ofAudio: chunk.audio, media, span, advance: advance, body)
        for item in chunk.metadata {
            let packet = PESPacketWriter(.private1, presentationTime: item.time, .bytes(item.tags[...]))
            body(
                TransportUnit(
                    pid: TransportPID.timedMetadata, time: span.clamp(item.time - advance), kind: .other,
                    packet: packet))
        }
        units(chunk.privateData, span, advance: advance).forEach(body)
        forEachUnit(ofFurtherAudio: chunk.furtherAudio, media, span, advance: advance, body)
    }

    /// - Parameter frames: those of the leading audio in the chunk.
    private func forEachUnit(
        ofAudio frames: [TransportMedia.AudioFrame], _ media: TransportMedia, _ span: ChunkSpan, advance: Ticks,
        _ body: (TransportUnit) -> Void
    ) {
        guard let configuration = media.audioConfiguration else { return }
        forEachUnit(
            of: frames, configuration, program.audio, TransportPID.audio, span, changes: audioChanges,
            advance: advance, body)
    }

    /// The sections at the beginning of the chunk, each in packets of its own. Heartbeats (splice_null, SCTE 35 §9.7.1)
    /// fill the packets up to a multiple of 16, because readers of cues expect a section in one piece.
    private static func units(_ sections: [[UInt8]], _ span: ChunkSpan) -> [TransportUnit] {
        let units = sections.map { TransportUnit(section: $0, at: span.start) }
        let packets = units.reduce(0) { $0 + $1.byteCount / TransportPacketWriter.payloadSize }
        let missing = -packets & (TransportPacketWriter.counterPeriod - 1)
        let step = (span.end - span.start).count / Int64(TransportPacketWriter.counterPeriod)
        return units
            + (0..<missing).map { index in
                TransportUnit(section: SpliceSectionWriter.null, at: span.start + Ticks(step * Int64(index + 1)))
            }
    }

    /// How long before its presentation time, less `lead`, media other than video is sent.
    private func advance(
        of media: TransportMedia, _ video: [TransportMedia.VideoSample], _ span: ChunkSpan
    ) -> Ticks {
        let delay =
            span.frames.first.map { video[$0].presentationTime - video[$0].decodeTime }
            ?? media.presentationStart - media.decoding.lowerBound
        return min(delay, Self.longestAudioLead)
    }

    private func units(
        _ packets: [TransportMedia.PrivateDataPacket], _ span: ChunkSpan, advance: Ticks
    ) -> [TransportUnit] {
        packets.filter { privateData.indices.contains($0.stream) }.map { item in
            let packet = PESPacketWriter(
                .private1, presentationTime: item.time,
                fieldSize: privateData[item.stream].isTeletext ? PESPacketWriter.teletextFieldSize : 0,
                .bytes(item.payload[...]))
            return TransportUnit(
                pid: TransportPID.privateData + UInt16(item.stream), time: span.clamp(item.time - advance),
                kind: .other, packet: packet)
        }
    }

    /// - Parameter frames: for each of `audioTracks`, the frames in the chunk.
    private func forEachUnit(
        ofFurtherAudio frames: [[TransportMedia.AudioFrame]], _ media: TransportMedia, _ span: ChunkSpan,
        advance: Ticks, _ body: (TransportUnit) -> Void
    ) {
        for (index, track) in zip(frames, zip(media.furtherAudio, audioTracks)).enumerated() {
            forEachUnit(
                of: track.0, track.1.0.configuration, track.1.1.codec, TransportPID.furtherAudio + UInt16(index), span,
                changes: track.1.1.changes, advance: advance, body)
        }
    }

    private func unit(_ sample: TransportMedia.VideoSample) -> TransportUnit {
        let codec = program.video ?? .h264
        return TransportUnit(
            pid: TransportPID.video, time: sample.decodeTime,
            kind: .video(isRandomAccessPoint: sample.isRandomAccessPoint),
            packet: PESPacketWriter(
                .video, presentationTime: sample.presentationTime, decodeTime: sample.decodeTime,
                codec == .mpeg2 ? .bytes(sample.payload) : .accessUnit(sample.payload, codec)))
    }

    /// - Parameters:
    ///   - changes: how often the audio's configuration changed since the channel began.
    ///   - advance: how long before its presentation time, less `lead`, audio is sent.
    private func forEachUnit(
        of frames: [TransportMedia.AudioFrame], _ configuration: AudioConfiguration, _ codec: TransportAudioCodec,
        _ pid: UInt16, _ span: ChunkSpan, changes: Int, advance: Ticks, _ body: (TransportUnit) -> Void
    ) {
        let header = codec == .aac ? ADTSHeader(configuration) : nil
        let limit = changes > 0 ? 1 : Self.framesPerPacket
        for group in Self.groups(of: frames, configuration, limit: limit) {
            let start = frames[group.lowerBound].time
            let packet = PESPacketWriter(codec.streamID, presentationTime: start, .audio(frames[group], header))
            body(TransportUnit(pid: pid, time: span.clamp(start - advance), kind: .audio, packet: packet))
        }
    }

    /// The frames of each PES packet. Players derive the times of the later frames, so a gap begins another packet.
    private static func groups(
        of frames: [TransportMedia.AudioFrame], _ configuration: AudioConfiguration, limit: Int
    ) -> [Range<Int>] {
        let (samples, rate) = (Int64(configuration.samplesPerFrame), configuration.sampleRate)
        var groups: [Range<Int>] = []
        groups.reserveCapacity(frames.count / limit + 2)
        for index in frames.indices {
            guard let last = groups.last, last.count < limit else {
                groups.append(index..<index + 1)
                continue
            }
            let expected = frames[last.lowerBound].time + Ticks(samples: Int64(last.count) * samples, sampleRate: rate)
            if abs((frames[index].time - expected).count) <= 2 {
                groups[groups.count - 1] = last.lowerBound..<index + 1
            } else {
                groups.append(index..<index + 1)
            }
        }
        return groups
    }
}

extension TransportStreamMuxer.ChunkSpan {
    /// The nearest time of the chunk.
    fileprivate func clamp(_ time: Ticks) -> Ticks { min(max(time, start), end - Ticks(1)) }
}
