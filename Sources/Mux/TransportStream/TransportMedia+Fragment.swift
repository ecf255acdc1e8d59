package import Media

extension TransportMedia {
    /// Finds the samples of a published segment by the index in its `moof`. The decode times are those of its video, or of
    /// its audio if there is none.
    ///
    /// It reads what `FragmentWriter` writes and nothing else: one movie fragment whose tracks have fixed timescales, one
    /// run each, and data offsets from the `moof`. Numbers that no channel publishes are errors: a disk may change a file.
    /// - Parameters:
    ///   - file: the bytes of the segment. Boxes other than the `moof` and event messages are read past.
    ///   - audio: the configuration of its audio; nil if it has none.
    ///   - duration: of the segment.
    package init(
        fragment file: ArraySlice<UInt8>, audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        var samples = SampleBytes.file(file)
        try self.init(boxes: BoxReader.boxes(in: file), &samples, audio: audio, lasting: duration)
    }

    /// As above, for a segment whose bytes are not in one place yet.
    /// - Parameters:
    ///   - header: the bytes before the samples.
    ///   - payloads: the bytes of each sample, in file order.
    package init(
        header: [UInt8], payloads: [ArraySlice<UInt8>], audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        var samples = SampleBytes.payloads(payloads[...])
        // The box of the samples is incomplete.
        try self.init(boxes: BoxReader.wholeBoxes(in: header[...]).boxes, &samples, audio: audio, lasting: duration)
    }

    private init(
        boxes: [Box], _ bytes: inout SampleBytes, audio: AudioConfiguration?, lasting duration: Ticks
    ) throws(MediaError) {
        let moof = try boxes.require("moof")
        var tracks: [UInt32: Track] = [:]
        for box in try moof.children() where box.type == "traf" {
            let track = try Track(box.children(), &bytes, from: moof.start)
            tracks[track.id] = track
        }
        let video = tracks[TrackID.video]?.videoSamples ?? []
        let frames = audio == nil ? [] : tracks[TrackID.audio]?.audioFrames ?? []
        guard let start = video.first?.decodeTime ?? frames.first?.time,
            let presented = video.first?.presentationTime ?? frames.first?.time
        else { throw Track.fault("sample_count") }
        self.init(decoding: start..<start + duration, presentationStart: presented)
        self.video = video
        beginsGradualRefresh = tracks[TrackID.video]?.beginsGradualRefresh ?? false
        self.audio = frames
        audioConfiguration = frames.isEmpty ? nil : audio
        timedMetadata = boxes.filter { $0.type == "emsg" }.compactMap(Self.timedMetadata)
    }

    /// The ID3 tags of an `emsg`; nil if it has another message.
    private static func timedMetadata(in emsg: Box) -> (time: Ticks, tags: [UInt8])? {
        guard let placed = PlacedMessage(emsg), placed.message.scheme == EventMessage.id3Scheme else { return nil }
        return (placed.time, placed.message.data)
    }
}

/// Where the bytes of samples are.
private enum SampleBytes {
    /// In a file, at the offsets that it states.
    case file(ArraySlice<UInt8>)
    /// Apart, in file order; those that were returned are removed.
    case payloads(ArraySlice<ArraySlice<UInt8>>)

    mutating func next(_ range: Range<Int>) throws(MediaError) -> ArraySlice<UInt8> {
        switch self {
        case .file(let file):
            guard range.upperBound <= file.endIndex else {
                throw MediaError(.truncated, offset: file.endIndex, section: BoxReader.section)
            }
            return file[range]
        case .payloads(var rest):
            guard let next = rest.popFirst(), next.count == range.count else { throw Track.fault("sample_size") }
            self = .payloads(rest)
            return next
        }
    }
}

/// One `traf`.
private struct Track {
    struct Sample {
        let duration: UInt32
        let compositionOffset: Int32
        let flags: UInt32
        let payload: ArraySlice<UInt8>
    }

    /// The latest decode time, in either timescale: sums of times do not overflow.
    private static let latest: Int64 = 1 << 60

    let id: UInt32
    /// In the track's timescale, as every time here.
    let decodeTime: Int64
    private(set) var samples: [Sample] = []
    /// Whether the first sample is in a sample group `roll` (ISO/IEC 14496-12 §10.1).
    let beginsGradualRefresh: Bool

    /// - Parameter base: the index of the `moof` in the file.
    init(_ boxes: [Box], _ bytes: inout SampleBytes, from base: Int) throws(MediaError) {
        var header = BoxFields(try boxes.require("tfhd").body)
        let headerFlags = try header.versionAndFlags().flags
        id = try header.u32()
        let duration = headerFlags & TrackHeaderFlag.defaultSampleDuration == 0 ? 0 : try header.u32()
        let flags = try header.u32()
        var times = BoxFields(try boxes.require("tfdt").body)
        try times.skip(4)
        guard let decodeTime = Int64(exactly: try times.u64()), decodeTime <= Self.latest else {
            throw Self.fault("baseMediaDecodeTime")
        }
        self.decodeTime = decodeTime
        beginsGradualRefresh = boxes.contains { $0.type == "sbgp" && Self.beginsRoll($0) }
        try readSamples(boxes.require("trun"), duration, flags, &bytes, from: base)
        guard samples.reduce(Int64(0), { $0 + Int64($1.duration) }) <= longest else {
            throw Self.fault("sample_duration")
        }
    }

    private mutating func readSamples(
        _ trun: Box, _ duration: UInt32, _ flags: UInt32, _ bytes: inout SampleBytes, from base: Int
    ) throws(MediaError) {
        var fields = BoxFields(trun.body)
        let present = try fields.versionAndFlags().flags
        let has = { (flag: UInt32) in present & flag != 0 }
        let count = Int(try fields.u32())
        guard has(TrackRunFlag.dataOffset), has(TrackRunFlag.sampleSize), count <= trun.body.count / 4 else {
            throw Self.fault("tr_flags")
        }
        var position = base + Int(try fields.u32())
        var firstFlags = has(TrackRunFlag.firstSampleFlags) ? try fields.u32() : nil
        samples.reserveCapacity(count)
        for _ in 0..<count {
            let duration = has(TrackRunFlag.sampleDuration) ? try fields.u32() : duration
            let end = position + Int(try fields.u32())
            let ownFlags = has(TrackRunFlag.sampleFlags) ? try fields.u32() : firstFlags ?? flags
            let offset = has(TrackRunFlag.sampleCompositionTimeOffsets) ? try fields.u32() : 0
            samples.append(
                Sample(
                    duration: duration, compositionOffset: Int32(bitPattern: offset), flags: ownFlags,
                    payload: try bytes.next(position..<end)))
            (position, firstFlags) = (end, nil)
        }
    }

    /// The longest segment: EXT-X-TARGETDURATION is at most ten hours.
    private var longest: Int64 { 36_001 * (id == TrackID.audio ? TrackTimescale.audio : TrackTimescale.video) }

    static func fault(_ field: String) -> MediaError {
        MediaError(.badParameterSet(field: field), section: "ISO/IEC 14496-12 §8.8")
    }

    private static func beginsRoll(_ group: Box) -> Bool {
        // version and flags, grouping_type, entry_count, the first sample_count and its group
        group.body.dropFirst(4).starts(with: "roll".utf8) && group.body.dropFirst(16).prefix(4).contains { $0 > 0 }
    }

    var videoSamples: [TransportMedia.VideoSample] {
        var time = decodeTime
        return samples.map { sample in
            defer { time += Int64(sample.duration) }
            return TransportMedia.VideoSample(
                decodeTime: Ticks(time), presentationTime: Ticks(time + Int64(sample.compositionOffset)),
                isRandomAccessPoint: FragmentWriter.isRandomAccessPoint(sample.flags), payload: sample.payload)
        }
    }

    var audioFrames: [TransportMedia.AudioFrame] {
        var time = decodeTime
        return samples.map { sample in
            defer { time += Int64(sample.duration) }
            return TransportMedia.AudioFrame(
                time: Ticks(time.rescaled(Ticks.perSecond, over: TrackTimescale.audio)), payload: sample.payload)
        }
    }
}
