import Demux
package import Media
import Mux
import Transcode

/// An MP4 file that is read as a sequence of fragmented MP4 segments (ISO/IEC 14496-12 §8.6–§8.8).
///
/// The splice engine processes a slate like the segments of a channel. This type holds the sample tables and no samples:
/// each segment lists the file ranges that it needs.
package struct SlateMovie: Sendable {
    package enum AudioTrackUse: Equatable, Sendable {
        /// An audio track is copied.
        case copied
        /// The file has no audio track.
        case absent
        /// No audio track can be copied: the slate is published with silence. The tracks' sample entries.
        case unusable(sampleEntries: [String])
    }

    /// Init section of all segments.
    package let initialization: [UInt8]
    package let audioTrackUse: AudioTrackUse
    private let video: SlateTrack
    private let audio: SlateTrack?
    /// Indices of the video samples at which a segment may begin.
    private let syncSamples: [Int]

    /// Shortest accepted slate. A shorter backward jump of the clock may be a reordered frame.
    private static let minDuration = Ticks.seconds(1)

    /// - Parameters:
    ///   - moov: the whole box.
    ///   - fileSize: size of the file that contains `moov`, bytes.
    package init(moov: [UInt8], fileSize: UInt64) throws(MediaError) {
        let box = try BoxReader.boxes(in: moov[...]).require("moov")
        let boxes = try box.children()
        if boxes.first("mvex") != nil { throw .slate(.fragmented) }
        let movie = try Movie(box)
        let choice = try SlateTrackChoice(movie)
        let traks = boxes.filter { $0.type == "trak" }
        guard
            let video = try SlateTrack(
                traks[choice.video], movie.tracks[choice.video], of: movie, fileSize: fileSize)
        else { throw .slate(.noSyncSample) }
        let audio = try choice.audio.flatMap { (index) throws(MediaError) in
            try SlateTrack(traks[index], movie.tracks[index], of: movie, fileSize: fileSize)
        }
        syncSamples = try Self.syncSamples(of: video)
        (self.video, self.audio) = (video, audio)
        audioTrackUse =
            audio != nil ? .copied : choice.unusable.isEmpty ? .absent : .unusable(sampleEntries: choice.unusable)
        let chosen = [choice.video] + (audio == nil ? [] : [choice.audio].compactMap(\.self))
        initialization = try SlateInitWriter.write(
            moov, boxes, traks: chosen.map { (movie.tracks[$0].trackID, traks[$0]) })
    }

    /// Returns the indices of the sync samples.
    /// - Throws: if the track has none, lasts less than `minDuration`, or has too long frames.
    private static func syncSamples(of video: SlateTrack) throws(MediaError) -> [Int] {
        let syncSamples = video.samples.indices.filter { video.samples[$0].isSync }
        guard let first = syncSamples.first else { throw .slate(.noSyncSample) }
        let frameDurations = video.samples.indices.dropFirst(first).map {
            video.decodeTime($0 + 1) - video.decodeTime($0)
        }
        if let longest = frameDurations.max(), longest > VideoTimestampUnwrapper.longestFrame {
            throw .slate(.frameRateTooLow(longest: longest))
        }
        let duration = video.decodeTime(video.samples.count) - video.decodeTime(first)
        guard duration >= minDuration else { throw .slate(.tooShort(duration)) }
        return syncSamples
    }

    /// Divides one pass of the slate into segments of similar duration.
    ///
    /// The segments contain no video before the first sync sample, and no audio outside the video's time range.
    /// - Parameter maxDuration: longest segment, above 0. A segment is longer only if no sync sample divides it.
    package func segments(longest maxDuration: Ticks) throws(MediaError) -> [SlateSegment] {
        let boundaries = segmentBoundaries(maxDuration: max(maxDuration, Ticks(1)))
        var audioStart = firstAudioSample(overlapping: boundaries[0])
        var segments: [SlateSegment] = []
        for (start, end) in zip(boundaries, boundaries.dropFirst()) {
            let isLast = end == video.samples.count
            let limit = isLast ? video.presentationEnd : video.presentationTime(end)
            let audioEnd = max(audioStart, audio?.firstIndex(presentedFrom: limit) ?? 0)
            segments.append(try SlateSegment(video: start..<end, of: video, audio: audioStart..<audioEnd, of: audio))
            audioStart = audioEnd
        }
        return segments
    }

    /// Index of the first audio sample that ends after the presentation time of a video sample.
    private func firstAudioSample(overlapping videoIndex: Int) -> Int {
        guard let audio else { return 0 }
        let start = video.presentationTime(videoIndex)
        let next = audio.firstIndex(presentedFrom: start)
        let overlaps = next > 0 && audio.presentationTime(next) > start && audio.presentationTime(next - 1) < start
        return overlaps ? next - 1 : next
    }

    /// Indices of the video samples at which segments begin, followed by the end index.
    private func segmentBoundaries(maxDuration: Ticks) -> [Int] {
        let end = video.samples.count
        var boundaries = Array(syncSamples.prefix(1))
        let total = video.decodeTime(end) - video.decodeTime(boundaries[0])
        let count = (total.count + maxDuration.count - 1) / maxDuration.count
        let target = Ticks(total.count / max(count, 1))
        for (index, sync) in syncSamples.enumerated().dropFirst() {
            let start = video.decodeTime(boundaries[boundaries.count - 1])
            if video.decodeTime(end) - start <= maxDuration { break }
            let next = index + 1 < syncSamples.count ? syncSamples[index + 1] : end
            let (now, later) = (video.decodeTime(sync) - start, video.decodeTime(next) - start)
            if later > maxDuration || (later - target).count >= (target - now).count { boundaries.append(sync) }
        }
        return boundaries + [end]
    }

    /// Writes a segment as one movie fragment.
    /// - Parameter bytes: the concatenated file ranges of `segment`.
    /// - Throws: if `bytes` has another size than the ranges.
    package func mediaSegment(_ segment: SlateSegment, bytes: [UInt8]) throws(MediaError) -> [UInt8] {
        guard let bytes = SlateBytes(bytes, of: segment.ranges) else { throw .slate(.samplesPastEnd) }
        let fragment = FragmentWriter.write(
            sequenceNumber: UInt32(truncatingIfNeeded: segment.video.lowerBound + 1),
            video: try Self.track(segment.video, of: video, bytes),
            audio: try audio.flatMap { (audio) throws(MediaError) in
                try Self.track(segment.audio, of: audio, bytes)
            })
        var output = fragment.header
        output.reserveCapacity(fragment.byteCount)
        for payload in fragment.payloads { output += payload }
        return output
    }

    /// Returns the samples of a range with their payloads; nil for an empty range.
    private static func track(
        _ indices: Range<Int>, of track: SlateTrack, _ bytes: SlateBytes
    ) throws(MediaError) -> MuxTrack? {
        let samples = track.samples[indices.clamped(to: track.samples.indices)]
        guard let first = samples.first else { return nil }
        var muxSamples: [MuxSample] = []
        muxSamples.reserveCapacity(samples.count)
        for sample in samples {
            guard let payload = bytes.payload(of: sample) else { throw .slate(.samplesPastEnd) }
            muxSamples.append(
                MuxSample(
                    duration: sample.duration, compositionOffset: sample.compositionOffset, isSync: sample.isSync,
                    payload: payload))
        }
        return MuxTrack(trackID: track.trackID, decodeTime: first.decodeTime, samples: muxSamples)
    }
}

/// The tracks of a file that its slate uses, as indices into the movie's tracks.
private struct SlateTrackChoice: Equatable, Sendable {
    /// First video track with a supported codec.
    let video: Int
    /// First enabled audio track that can be copied, else the first that can be copied.
    let audio: Int?
    /// Sample entries of the audio tracks if none can be copied, else empty.
    let unusable: [String]

    /// - Throws: if the file has no supported video track, or the video is encrypted.
    init(_ movie: Movie) throws(MediaError) {
        let tracks = movie.tracks
        let videoIndices = tracks.indices.filter { tracks[$0].handler == "vide" }
        let audioIndices = tracks.indices.filter { tracks[$0].handler == "soun" }
        video = try Self.firstVideoTrack(videoIndices, of: tracks)
        let ordered = audioIndices.filter { tracks[$0].isEnabled } + audioIndices.filter { !tracks[$0].isEnabled }
        let copied = ordered.first { Self.isCopied(tracks[$0].sampleEntries[0]) }
        audio = copied
        unusable = copied == nil ? audioIndices.map { "\(tracks[$0].sampleEntries[0].type)" } : []
    }

    private static func firstVideoTrack(_ indices: [Int], of tracks: [MovieTrack]) throws(MediaError) -> Int {
        for index in indices {
            let entries = tracks[index].sampleEntries
            if entries[0].protectionScheme != nil { throw SampleEntry.unusableError(0, of: entries) }
            if try VideoSampleDescription(entries[0]) != nil { return index }
        }
        throw MediaError(
            .noSupportedTrack(sampleEntries: tracks.map { "\($0.sampleEntries[0].type)" }),
            section: "ISO/IEC 14496-12 §8.5.2")
    }

    /// Whether audio with this sample entry can be copied.
    ///
    /// The layer of MPEG audio is known only from its frames. Layers and codecs that players do not decode are transcoded
    /// later.
    private static func isCopied(_ entry: SampleEntry) -> Bool {
        do throws(MediaError) {
            switch try AudioSampleDescription(entry) {
            case .complete(let configuration), .needsSampleDurations(let configuration):
                return [.copy, .transcode(.codec)].contains(AudioCompatibility(configuration))
            case .needsFrameHeaders: return true
            case nil: return false
            }
        } catch {
            return false
        }
    }
}
