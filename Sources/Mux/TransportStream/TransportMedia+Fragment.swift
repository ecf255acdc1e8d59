package import Media

extension TransportMedia {
    /// Finds the samples of a published segment by the index in its `moof`. The decode times are those of the video, or
    /// of the audio in a segment without video.
    ///
    /// Like `FragmentTrack`, this reads only what `FragmentWriter` writes: one movie fragment.
    /// - Parameters:
    ///   - file: the bytes of the segment. Boxes other than the `moof` and event messages are read past.
    ///   - audio: the configuration of the segment's audio; nil if the segment contains no audio.
    ///   - duration: duration of the segment.
    package init(
        fragment file: ArraySlice<UInt8>, audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        var samples = SampleBytes.file(file)
        try self.init(boxes: BoxReader.boxes(in: file), &samples, audio: audio, lasting: duration)
    }

    /// As above, for a segment whose bytes are not contiguous yet.
    /// - Parameters:
    ///   - header: the bytes before the samples.
    ///   - payloads: the bytes of each sample, in file order.
    package init(
        header: [UInt8], payloads: [ArraySlice<UInt8>], audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        var samples = SampleBytes.payloads(payloads[...])
        // The `mdat` box is incomplete.
        try self.init(boxes: BoxReader.wholeBoxes(in: header[...]).boxes, &samples, audio: audio, lasting: duration)
    }

    private init(
        boxes: [Box], _ bytes: inout SampleBytes, audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        let tracks = try FragmentTrack.tracks(of: boxes.require("moof"))
        // In file order.
        let video = try tracks[TrackID.video]?.videoSamples(&bytes) ?? []
        let frames = audio == nil ? [] : try tracks[TrackID.audio]?.audioFrames(&bytes) ?? []
        guard let start = video.first?.decodeTime ?? frames.first?.time,
            let presented = video.first?.presentationTime ?? frames.first?.time
        else { throw FragmentTrack.fault("sample_count") }
        self.init(decoding: start..<start + duration, presentationStart: presented)
        self.video = video
        beginsGradualRefresh = tracks[TrackID.video]?.beginsGradualRefresh ?? false
        self.audio = frames
        audioConfiguration = frames.isEmpty ? nil : audio
        timedMetadata = boxes.filter { $0.type == "emsg" }.compactMap(Self.timedMetadata)
    }

    /// The ID3 tags in an `emsg`; nil if the box contains another message.
    private static func timedMetadata(in emsg: Box) -> (time: Ticks, tags: [UInt8])? {
        guard let placed = PlacedMessage(emsg), placed.message.scheme == EventMessage.id3Scheme else { return nil }
        return (placed.time, placed.message.data)
    }
}

/// Where the bytes of samples are.
private enum SampleBytes {
    /// In a file, at the offsets that the file states.
    case file(ArraySlice<UInt8>)
    /// In separate slices, in file order. A slice is removed when its bytes are returned.
    case payloads(ArraySlice<ArraySlice<UInt8>>)

    mutating func next(_ range: Range<Int>) throws(MediaError) -> ArraySlice<UInt8> {
        switch self {
        case .file(let file):
            guard range.upperBound <= file.endIndex else {
                throw MediaError(.truncated, offset: file.endIndex, section: BoxReader.section)
            }
            return file[range]
        case .payloads(var rest):
            guard let next = rest.popFirst(), next.count == range.count else {
                throw FragmentTrack.fault("sample_size")
            }
            self = .payloads(rest)
            return next
        }
    }
}

extension FragmentTrack {
    fileprivate func videoSamples(_ bytes: inout SampleBytes) throws(MediaError) -> [TransportMedia.VideoSample] {
        var time = decodeTime
        return try samples.map { (sample) throws(MediaError) in
            defer { time += Int64(sample.duration) }
            return TransportMedia.VideoSample(
                decodeTime: Ticks(time), presentationTime: Ticks(time + Int64(sample.compositionOffset)),
                isRandomAccessPoint: sample.isRandomAccessPoint, payload: try bytes.next(sample.bytes))
        }
    }

    fileprivate func audioFrames(_ bytes: inout SampleBytes) throws(MediaError) -> [TransportMedia.AudioFrame] {
        var time = decodeTime
        return try samples.map { (sample) throws(MediaError) in
            defer { time += Int64(sample.duration) }
            return TransportMedia.AudioFrame(
                time: Ticks(time.rescaled(Ticks.perSecond, over: TrackTimescale.audio)),
                payload: try bytes.next(sample.bytes))
        }
    }
}
