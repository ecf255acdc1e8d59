/// Writes the parts of a broadcast as fragmented MP4 (ISO/IEC 14496-12 §8.8): init sections, and segments.
struct FragmentMultiplex {
    typealias Part = TransportMultiplex.Part

    /// How frames are ordered that are not decoded in the order of presentation.
    enum Reordering: Int {
        /// By composition offsets that may be negative.
        case negativeOffsets
        /// By composition offsets that an edit list takes back.
        case editList
        /// By decode times that are early.
        case earlyDecodeTimes
    }

    /// What the standard leaves to a packager.
    struct Style {
        var reordering = Reordering.negativeOffsets
        /// Whether the timescale of video is that of its frame rate, not 90 kHz.
        var countsFrames = false
        /// Whether each group of pictures is a movie fragment of its own.
        var hasFragmentPerGroup = false
        /// Whether each track is in a movie fragment of its own.
        var hasFragmentPerTrack = false
        /// Whether samples have the durations and flags of their fragment.
        var usesDefaults = false
        var hasSegmentType = false
    }

    /// The tracks that a segment has.
    enum Content {
        case multiplex
        case rendition(AudioRendition)
    }

    let style: Style

    private struct Track {
        let number: Int
        let timescale: Int
        /// What the digits of its samples say; nil: video.
        let audioContent: Int?
        let language: String
    }

    private struct Sample {
        let bytes: [UInt8]
        let duration: Int
        let offset: Int
        let isSync: Bool
    }

    private struct Run {
        let track: Track
        let decodeTime: Int
        let samples: [Sample]
    }

    // MARK: - Tracks and times

    private func tracks(of part: Part, _ content: Content) -> [Track] {
        let format = part.format
        let second = TransportMultiplex.secondContent(part.content)
        func audio(_ number: Int, _ content: Int, _ language: String) -> Track {
            Track(number: number, timescale: format.sampleRate, audioContent: content, language: language)
        }
        switch content {
        case .rendition(.companion): return [audio(1, part.content, "eng")]
        case .rendition(.second): return [audio(1, second, "deu")]
        case .multiplex:
            let video = Track(number: 1, timescale: videoClock(format).timescale, audioContent: nil, language: "und")
            guard !part.isVideoOnly else { return [video] }
            return [video, audio(2, part.content, "eng")] + (part.hasSecondAudio ? [audio(3, second, "deu")] : [])
        }
    }

    /// The timescale of video, and the units of a frame.
    func videoClock(_ format: MediaFormat) -> (timescale: Int, frame: Int) {
        guard style.countsFrames else { return (90_000, format.frameDuration) }
        return format.frameDuration == 3003 ? (30_000, 1001) : (90_000_000 / format.frameDuration, 1000)
    }

    /// Units by which a frame may be decoded before it is presented.
    private func delay(_ format: MediaFormat) -> Int { format.reorders ? videoClock(format).frame : 0 }

    /// The time of a part's frame 0 in units of a timescale. Early decode times are not before 0.
    func origin(of part: Part, _ timescale: Int) -> Int {
        let clock = part.clock + (style.reordering == .earlyDecodeTimes ? 7200 : 0)
        return (clock * timescale + 45_000) / 90_000
    }

    // MARK: - Segments

    /// - Parameter number: of the segment.
    func segment(_ part: Part, _ content: Content, number: Int) -> [UInt8] {
        let tracks = tracks(of: part, content)
        var writer = BoxComposer()
        if style.hasSegmentType {
            writer.box("styp") { box in
                box.text("msdh")
                box.integer(0, 4)
                box.text("msdhmsix")
            }
        }
        for (index, frames) in fragments(of: part).enumerated() {
            let runs = tracks.map { run($0, part, frames) }.filter { !$0.samples.isEmpty }
            for runs in style.hasFragmentPerTrack ? runs.map({ [$0] }) : [runs] {
                append(runs, number: number * 16 + index + 1, to: &writer)
            }
        }
        return writer.bytes
    }

    private func fragments(of part: Part) -> [Range<Int>] {
        guard style.hasFragmentPerGroup else { return [part.frames] }
        return stride(from: part.frames.lowerBound, to: part.frames.upperBound, by: part.format.group).map {
            $0..<min($0 + part.format.group, part.frames.upperBound)
        }
    }

    private func run(_ track: Track, _ part: Part, _ frames: Range<Int>) -> Run {
        let format = part.format
        guard let content = track.audioContent else { return videoRun(track, part, frames) }
        let isFirst = frames.lowerBound == part.frames.lowerBound
        let isLast = frames.upperBound == part.frames.upperBound
        let first = isFirst ? part.audio.lowerBound : format.audioFrame(from: frames.lowerBound * format.frameDuration)
        let last = isLast ? part.audio.upperBound : format.audioFrame(from: frames.upperBound * format.frameDuration)
        let samples = (first..<max(first, last)).map { number in
            var frame: [UInt8] = []
            FrameTemplates.appendAudio(FrameIdentity(content: content, frame: number), format, to: &frame)
            return Sample(bytes: Array(frame.dropFirst(7)), duration: 1024, offset: 0, isSync: true)
        }
        return Run(track: track, decodeTime: origin(of: part, track.timescale) + first * 1024, samples: samples)
    }

    private func videoRun(_ track: Track, _ part: Part, _ frames: Range<Int>) -> Run {
        let format = part.format
        let (_, duration) = videoClock(format)
        let (delay, isPlain) = (delay(format), style.reordering == .negativeOffsets)
        let samples = frames.map { order in
            let (group, position) = order.quotientAndRemainder(dividingBy: format.group)
            let number = group * format.group + CodedVideo.frame(position, format).number
            let identity = FrameIdentity(content: part.content, frame: number)
            return Sample(
                bytes: FrameTemplates.sample(identity, at: position, format), duration: duration,
                offset: (number - order) * duration + (isPlain ? 0 : delay), isSync: position == 0)
        }
        let time = origin(of: part, track.timescale) + frames.lowerBound * duration
        let early = style.reordering == .earlyDecodeTimes ? delay : 0
        return Run(track: track, decodeTime: max(0, time - early), samples: samples)
    }

    private func append(_ runs: [Run], number: Int, to writer: inout BoxComposer) {
        let start = writer.bytes.count
        var offsets: [Int] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.integer(number, 4) }
            for run in runs { moof.box("traf") { offsets.append(append(run, to: &$0)) } }
        }
        var data = writer.bytes.count - start + 8
        for (run, offset) in zip(runs, offsets) {
            writer.replace(data, at: offset)
            data += run.samples.reduce(0) { $0 + $1.bytes.count }
        }
        writer.box("mdat") { mdat in
            for sample in runs.lazy.flatMap(\.samples) { mdat.append(sample.bytes) }
        }
    }

    private static let (syncFlags, otherFlags) = (0x200_0000, 0x101_0000)

    /// - Returns: where the data offset is.
    private func append(_ run: Run, to traf: inout BoxComposer) -> Int {
        let isVideo = run.track.audioContent == nil
        let defaults = [run.samples[0].duration, isVideo ? Self.otherFlags : Self.syncFlags]
        traf.fullBox("tfhd", flags: style.usesDefaults ? 0x2_0028 : 0x2_0000) { box in
            box.integer(run.track.number, 4)
            if style.usesDefaults { box.integers(defaults, 4) }
        }
        let isLong = run.decodeTime >= 1 << 32
        traf.fullBox("tfdt", version: isLong ? 1 : 0) { $0.integer(run.decodeTime, isLong ? 8 : 4) }
        var offset = 0
        let flags = (style.usesDefaults ? 0x205 : 0x701) | (isVideo ? 0x800 : 0)
        traf.fullBox("trun", version: 1, flags: flags) { box in
            box.integer(run.samples.count, 4)
            offset = box.bytes.count
            box.integer(0, 4)
            if style.usesDefaults { box.integer(run.samples[0].isSync ? Self.syncFlags : Self.otherFlags, 4) }
            for sample in run.samples {
                if !style.usesDefaults { box.integer(sample.duration, 4) }
                box.integer(sample.bytes.count, 4)
                if !style.usesDefaults { box.integer(sample.isSync ? Self.syncFlags : Self.otherFlags, 4) }
                if isVideo { box.integer(sample.offset, 4) }
            }
        }
        return offset
    }

    // MARK: - Init sections

    func initialization(_ part: Part, _ content: Content) -> [UInt8] {
        let tracks = tracks(of: part, content)
        var writer = BoxComposer()
        writer.box("ftyp") { box in
            box.text("iso5")
            box.integer(512, 4)
            box.text("iso5cmfc")
        }
        writer.box("moov") { moov in
            moov.fullBox("mvhd") { box in
                box.integers([0, 0, 1000, 0, 0x1_0000, 0x100_0000, 0, 0], 4)
                Self.appendMatrix(to: &box)
                box.zeros(24)
                box.integer(tracks.count + 1, 4)
            }
            for track in tracks { append(track, part.format, to: &moov) }
            moov.box("mvex") { mvex in
                for track in tracks { mvex.fullBox("trex") { $0.integers([track.number, 1, 0, 0, 0], 4) } }
            }
        }
        return writer.bytes
    }

    private static func appendMatrix(to box: inout BoxComposer) {
        box.integers([0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000], 4)
    }

    private func append(_ track: Track, _ format: MediaFormat, to moov: inout BoxComposer) {
        let isVideo = track.audioContent == nil
        moov.box("trak") { trak in
            trak.fullBox("tkhd", flags: 7) { box in
                box.integers([0, 0, track.number, 0, 0, 0, 0, 0, isVideo ? 0 : 0x100_0000], 4)
                Self.appendMatrix(to: &box)
                box.integers(isVideo ? [format.width << 20, format.height << 20] : [0, 0], 4)
            }
            if isVideo, format.reorders, style.reordering == .editList {
                trak.box("edts") { edts in
                    edts.fullBox("elst") { $0.integers([1, 0, delay(format), 0x1_0000], 4) }
                }
            }
            trak.box("mdia") { mdia in
                mdia.fullBox("mdhd") { box in
                    box.integers([0, 0, track.timescale, 0], 4)
                    box.integer(track.language.utf8.reduce(0) { $0 << 5 | (Int($1) - 0x60) }, 2)
                    box.integer(0, 2)
                }
                mdia.fullBox("hdlr") { box in
                    box.integer(0, 4)
                    box.text(isVideo ? "vide" : "soun")
                    box.zeros(13)
                }
                mdia.box("minf") { append(track, format, toInformation: &$0) }
            }
        }
    }

    private func append(_ track: Track, _ format: MediaFormat, toInformation minf: inout BoxComposer) {
        let isVideo = track.audioContent == nil
        if isVideo {
            minf.fullBox("vmhd", flags: 1) { $0.zeros(8) }
        } else {
            minf.fullBox("smhd") { $0.zeros(4) }
        }
        minf.box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.integer(1, 4)
                dref.fullBox("url ", flags: 1) { _ in }
            }
        }
        minf.box("stbl") { stbl in
            stbl.fullBox("stsd") { stsd in
                stsd.integer(1, 4)
                let append = isVideo ? Self.appendVideoEntry : Self.appendAudioEntry
                append(format, &stsd)
            }
            for (table, count) in [("stts", 1), ("stsc", 1), ("stsz", 2), ("stco", 1)] {
                stbl.fullBox(table) { $0.zeros(4 * count) }
            }
        }
    }

    private static func appendVideoEntry(_ format: MediaFormat, to stsd: inout BoxComposer) {
        stsd.box("avc1") { entry in
            entry.integers([0, 1], 4)
            entry.zeros(16)
            entry.integers([format.width * 16, format.height * 16], 2)
            entry.integers([0x48_0000, 0x48_0000, 0], 4)
            entry.integer(1, 2)
            entry.zeros(32)
            entry.integers([24, 0xFFFF], 2)
            entry.box("avcC") { box in
                box.append([1, 77, 0, 30, 0xFF])
                for (index, set) in [CodedVideo.sequenceParameterSet(format), CodedVideo.pictureParameterSet()]
                    .enumerated()
                {
                    box.integer(index == 0 ? 0xE1 : 1, 1)
                    box.integer(set.count, 2)
                    box.append(set)
                }
            }
        }
    }

    private static func appendAudioEntry(_ format: MediaFormat, to stsd: inout BoxComposer) {
        stsd.box("mp4a") { entry in
            entry.integers([0, 1, 0, 0, format.channels << 16 | 16, 0, format.sampleRate << 16], 4)
            entry.fullBox("esds") { box in
                let configuration = format.audioConfiguration
                box.append([3, UInt8(23 + configuration.count), 0, 0, 0])
                box.append([4, UInt8(15 + configuration.count), 0x40, 0x15, 0, 0, 0])
                box.integers([64_000, 64_000], 4)
                box.append([5, UInt8(configuration.count)] + configuration + [6, 1, 2])
            }
        }
    }
}
